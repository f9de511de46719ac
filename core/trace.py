"""The trace of a question or job: its events, notes and timings, the usage of language models, and the budget.

The events have one class each: open `events.py` to add a kind of event.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

from core.errors import BudgetExhausted
from core.telemetry.spans import measure_stage


@dataclass(frozen=True, kw_only=True)
class Budget:
    """Limits on model calls, tokens (prompt and completion together) and wall seconds; None is no limit."""

    calls: int | None = None
    tokens: int | None = None
    seconds: float | None = None


@dataclass(kw_only=True)
class ActionUsage:
    """What one action spent at one model.

    `seconds` are the sum over calls, also of concurrent calls. `cached` calls were answered from the cache; they are in
    no other number. `failed` calls are included in `calls`. `estimated` says that tokens were counted from characters.
    """

    action: str
    model: str
    calls: int = 0
    cached: int = 0
    failed: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    estimated: bool = False


@dataclass
class Usage:
    """The rows of all actions, in the order of their first call."""

    actions: dict[tuple[str, str], ActionUsage] = field(default_factory=dict)

    def row(self, action: str, model: str) -> ActionUsage:
        """Returns the row of an action and model, to which a call is added."""
        return self.actions.setdefault((action, model), ActionUsage(action=action, model=model))

    @property
    def calls(self) -> int:
        return sum(row.calls for row in self.actions.values())

    @property
    def cached(self) -> int:
        return sum(row.cached for row in self.actions.values())

    @property
    def prompt_tokens(self) -> int:
        return sum(row.prompt_tokens for row in self.actions.values())

    @property
    def completion_tokens(self) -> int:
        return sum(row.completion_tokens for row in self.actions.values())

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens

    @property
    def seconds(self) -> float:
        return sum(row.seconds for row in self.actions.values())


_about: ContextVar[str] = ContextVar("the corpus that notes are about", default="")


@contextmanager
def notes_about(corpus: str) -> Iterator[None]:
    """Makes notes begin with the name of the corpus, in this task and in tasks that it starts meanwhile."""
    before = _about.set(corpus)
    try:
        yield
    finally:
        _about.reset(before)


class Event(Protocol):
    """Something that happened; `core.events` has the kinds. `step` is the id of the step that it belongs to, or ''."""

    kind: ClassVar[str]

    @property
    def step(self) -> str: ...


@dataclass(frozen=True, kw_only=True)
class NoteEvent:
    """Something that the reader of the answer should know."""

    kind: ClassVar[str] = "note"
    text: str
    step: str = ""


Listener = Callable[[Event], None]


@dataclass
class _Admissions:
    """The calls that were admitted, by all traces that share a budget."""

    calls: int = 0


@dataclass
class Trace:
    """The record of one question (or job). Listeners are called with each event as it happens.

    `exhausted` tells whether a call was refused or ended because the budget was used up.
    """

    budget: Budget = field(default_factory=Budget)
    notes: list[str] = field(default_factory=list)
    timing: dict[str, float] = field(default_factory=dict)
    """Seconds by stage; the times of a stage that runs twice are added."""
    usage: Usage = field(default_factory=Usage)
    events: list[Event] = field(default_factory=list)
    listeners: list[Listener] = field(default_factory=list)
    started: float = field(default_factory=time.monotonic)
    exhausted: bool = False
    _admissions: _Admissions = field(default_factory=_Admissions)

    def branch(self) -> "Trace":
        """Returns the trace of a part of the work. It shares the budget and the usage; all else is its own."""
        return Trace(budget=self.budget, usage=self.usage, started=self.started, _admissions=self._admissions)

    def emit(self, event: Event) -> None:
        """Records an event and calls the listeners."""
        self.events.append(event)
        for listener in self.listeners:
            listener(event)

    def note(self, text: str) -> None:
        """Records a note for the reader of the answer; a note that exists is not repeated. `notes_about` names the
        corpus in it.
        """
        if corpus := _about.get():
            text = f"corpus {corpus!r}: {text}"
        if text not in self.notes:
            self.notes.append(text)
            self.emit(NoteEvent(text=text))

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Adds the duration of the block to `stage`."""
        began = time.perf_counter()
        try:
            with measure_stage(stage):
                yield
        finally:
            self.timing[stage] = self.timing.get(stage, 0.0) + time.perf_counter() - began

    @property
    def seconds_left(self) -> float | None:
        """The seconds of the budget that are left; None is no limit, 0 is none."""
        if self.budget.seconds is None:
            return None
        return max(0.0, self.budget.seconds - (time.monotonic() - self.started))

    @property
    def calls_left(self) -> int | None:
        """The calls of the budget that are left; None is no limit."""
        return None if self.budget.calls is None else max(0, self.budget.calls - self._admissions.calls)

    @property
    def tokens_left(self) -> int | None:
        """The tokens of the budget that are left; None is no limit."""
        return None if self.budget.tokens is None else max(0, self.budget.tokens - self.usage.tokens)

    def admit(self, role: str) -> None:
        """Counts a call that is about to be made; raises `BudgetExhausted` if the budget does not allow it.

        Calls are counted when they begin, so their limit is never exceeded. Tokens are counted when a call has ended,
        so calls in flight may exceed theirs.
        """
        limits = self.budget
        if self.calls_left == 0:
            raise self._refuse(f"{limits.calls} calls were allowed and are used up (the next would be {role!r})")
        self.check(role)
        self._admissions.calls += 1

    def withdraw(self) -> None:
        """Uncounts a call that was admitted and never sent."""
        self._admissions.calls -= 1

    def check(self, role: str) -> None:
        """Raises `BudgetExhausted` if no tokens or seconds are left, also for a call that was admitted and had
        to wait.
        """
        limits = self.budget
        if self.tokens_left == 0:
            raise self._refuse(
                f"{limits.tokens} tokens were allowed and {self.usage.tokens} are used (the next would be {role!r})"
            )
        if self.seconds_left == 0.0:
            raise self._refuse(f"{limits.seconds:g} seconds were allowed and are over (the next would be {role!r})")

    def _refuse(self, message: str) -> BudgetExhausted:
        self.exhausted = True
        return BudgetExhausted(message)
