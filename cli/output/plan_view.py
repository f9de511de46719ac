"""Draws the plan of a question on a terminal while it runs, or prints a line per step without a terminal.

First comes the state of the plan, updated from the events of a streamed answer.
"""

import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.segment import Segment
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from cli.output.console import plain, print_status
from cli.output.results import SUPPORT_STYLES, describe_cost, describe_verdict, format_support

EventData = Mapping[str, Any]
"""The data of an event, as `POST …/ask` sends it."""

_NEAREST = 3


@dataclass(kw_only=True)
class StepView:
    """The current state of one step; `result` is the data of its latest `step` event.

    `nearest` are the titles of the best hits of its last search, and `began` is when its model began to read them, on
    the clock `time.monotonic`.
    """

    id: str
    question: str
    parents: tuple[str, ...] = ()
    state: str = "waiting"
    found: int = 0
    nearest: tuple[str, ...] = ()
    began: float = field(default_factory=time.monotonic)
    verdict: str = ""
    result: EventData | None = None

    @property
    def sources(self) -> list[str]:
        """The titles of the documents that the answer quotes."""
        quotes = self.result["quotes"] if self.result else ()
        return list(dict.fromkeys(map(_title, quotes)))


@dataclass
class PlanState:
    """The steps by id, in the order of the plan, and the text of the answer streamed so far.

    `verifying` is the data of the event that begins a verification, `verdicts` are the verdicts on its documents so
    far.
    """

    steps: dict[str, StepView] = field(default_factory=dict)
    written: str = ""
    verifying: EventData | None = None
    verdicts: list[EventData] = field(default_factory=list)

    def listen(self, kind: str, data: EventData) -> None:
        id = data.get("step", "")
        match kind:
            case "plan":
                for planned in data["steps"]:
                    self._planned(planned["id"], planned["question"], planned["parents"])
            case "search" if id:
                step = self.steps.get(id) or self._planned(id, data["query"], ())
                step.found += len(data["hits"])
                step.nearest = tuple(dict.fromkeys(map(_title, data["hits"])))[:_NEAREST]
                step.began = time.monotonic()
                step.state = "answering" if step.result is None else "reviewing"
            case "review" if id in self.steps:
                reviewed = self.steps[id]
                reviewed.verdict = data["verdict"]
                reviewed.state = "reviewing" if reviewed.result is None else "done"
            case "step" if id:
                self._answered(id, data)
            case "token":
                self.written += data["text"]
            case "verifying":
                self.verifying, self.written = data, data["answer"]
            case "verification":
                self.verdicts.append(data)
            case _:
                return
        self._search()

    def _planned(self, id: str, question: str, parents: Sequence[str]) -> StepView:
        self.steps.pop(id, None)  # a step that is planned again moves behind the steps that it waits for
        self.steps[id] = StepView(id=id, question=question, parents=tuple(parents))
        return self.steps[id]

    def _answered(self, id: str, result: EventData) -> None:
        step = self.steps.get(id) or self._planned(id, result["question"], result["parents"])
        step.question = result["question"]
        step.parents = tuple(result["parents"]) or step.parents
        step.verdict = result["verdict"] or step.verdict
        step.result = result
        step.state = "done"

    def _search(self) -> None:
        """Marks waiting steps whose parents are done as searching."""
        for step in self.steps.values():
            open_parents = [id for id in step.parents if id in self.steps and self.steps[id].state != "done"]
            if step.state == "waiting" and not open_parents:
                step.state = "searching"


def _title(found: EventData) -> str:
    return str(found["document"]["title"] or found["document"]["key"])


_PER_SECOND = 10
_DEEPEST = 6
_LONGEST = 200
_LONG = 1.0
"""Seconds after which it is shown how long a model has been reading."""
_STYLES = {"waiting": "dim", "searching": "cyan", "answering": "yellow", "reviewing": "magenta", "done": "green"}


@contextmanager
def draw_plan() -> Iterator[Callable[[str, EventData], None]]:
    """Yields a function that takes the events of an answer, by name and data, and shows them on stderr. After the block
    the plan stays on the screen, the streamed answer does not.
    """
    if not sys.stderr.isatty():
        yield _PlanLines().listen
        return
    state = PlanState()
    drawing = PlanView(state)

    def listen(kind: str, data: EventData) -> None:
        with drawing.lock:
            state.listen(kind, data)

    with Live(drawing, console=Console(stderr=True), refresh_per_second=_PER_SECOND):
        try:
            yield listen
        finally:
            drawing.over = True


class _PlanLines:
    """Prints each finished step of a plan as one line, and nothing without a plan: the only step is then the answer.

    A verification has a line for its cost, and one for each verdict.
    """

    def __init__(self) -> None:
        self._planned = False

    def listen(self, kind: str, data: EventData) -> None:
        if kind == "plan":
            self._planned = True
        if kind == "verifying":
            print_status(describe_cost(data["cost"]))
        if kind == "verification":
            print_status(describe_verdict(data))
        if kind == "step" and self._planned:
            step = StepView(id=data["step"], question=data["question"], verdict=data["verdict"], result=data)
            facts = _format_details(step, data)
            answer = _shorten(data["answer"]) or "(no answer)"
            print_status(f"{step.id}. {_shorten(step.question)} -> {answer} ({facts})")


class PlanView:
    """Renders the steps as a tree, and the streamed answer below it. If the screen is too small, the top is cut off.

    A thread of `Live` renders; whoever changes the state meanwhile holds the lock.
    """

    def __init__(self, state: PlanState) -> None:
        self._state = state
        self.lock = threading.Lock()
        self.over = False

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        with self.lock:
            tree, written, verdicts = (
                _tree(self._state, over=self.over),
                self._state.written,
                _format_verification(self._state),
            )
        if self.over:
            yield tree
            if self._state.steps:
                yield Segment.line()
            return
        lines = console.render_lines(tree, options, pad=False)
        for text in (written, verdicts):
            lines += console.render_lines(Text(plain(text)), options, pad=False) if text else []
        for line in lines[-max(1, console.height - 1) :]:
            yield from line
            yield Segment.line()


def _format_verification(state: PlanState) -> str:
    """Returns the cost of the verification that runs, and its verdicts so far; '' if there is none."""
    if state.verifying is None:
        return ""
    lines = [describe_cost(state.verifying["cost"]), *map(describe_verdict, state.verdicts)]
    return "\n".join(("", *(plain(line)[:_LONGEST] for line in lines)))


def _tree(state: PlanState, *, over: bool) -> Tree:
    """Returns the tree: a step is below the deepest of its parents and names the others. Indentation has a limit.

    The answer of the only step of a question that is over is left out, as the answer itself follows.
    """
    root = Tree("", hide_root=True)
    placed: dict[str, tuple[Tree, int]] = {}
    waiting = list(state.steps.values())
    while waiting:
        ready = [
            step for step in waiting if all(id in placed or id not in state.steps for id in step.parents)
        ] or waiting[:1]
        for step in ready:
            parents = sorted((id for id in step.parents if id in placed), key=lambda parent: placed[parent][1])
            above = placed[parents.pop()] if parents else (root, 0)
            branch, depth = above
            node = branch.add(_label(step, parents, answers=not over or len(state.steps) > 1))
            placed[step.id] = (node, depth + 1) if depth < _DEEPEST else above
        waiting = [step for step in waiting if step.id not in placed]
    return root


def _label(step: StepView, also_after: list[str], *, answers: bool) -> Table:
    """Returns the step: its id, and beside it the question with the state, or with the answer and what it has cost."""
    text = Text(_shorten(step.question))
    if also_after:
        text.append(f"  (also after {_shorten(', '.join(also_after))})", style="dim")
    if step.result is None:
        passages = f", {step.found} found" if step.found else ""
        waited = time.monotonic() - step.began if step.found else 0.0
        seconds = f", {waited:.0f} s" if waited >= _LONG else ""
        text.append(f"  {step.state}{passages}{seconds}", style=_STYLES[step.state])
        if step.nearest:  # what was found is there at once, however slowly the model reads it
            text.append(f"\nnearest: {_shorten('; '.join(step.nearest))}", style="dim")
    else:
        if answers:
            text.append(f"\n-> {_shorten(step.result['answer']) or '(no answer)'}", style="bold")
        state = "" if step.state == "done" else f"{step.state}; "
        style = SUPPORT_STYLES[step.result["support"]] if step.state == "done" else _STYLES[step.state]
        text.append(f"\n{state}{_format_details(step, step.result)}", style=style)
    label = Table.grid(padding=(0, 1, 0, 0))
    label.add_row(Text(plain(step.id), style="bold cyan", no_wrap=True), text)
    return label


def _format_details(step: StepView, result: EventData) -> str:
    """Returns verdict, support, sources, time and cost as one line."""
    sources = f"from {', '.join(map(_shorten, step.sources))}" if step.sources else ""
    cost = f"{result['seconds']:.1f} s, {result['tokens']:,} tokens"
    support = _shorten(format_support(result))
    return "; ".join(part for part in (_shorten(step.verdict), support, sources, cost) if part)


def _shorten(text: str) -> str:
    """Returns the text as one line of at most `_LONGEST` characters."""
    flat = plain(" ".join(text.split()))
    return flat if len(flat) <= _LONGEST else flat[: _LONGEST - 1] + "…"
