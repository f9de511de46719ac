"""`Session`: one question being answered, with its searches, model calls and steps, all recorded on one trace.

`OpenStep` is a step while it is being taken; `Session.step` opens one, and records it as a `Step` of the answer.
`gather` runs coroutines at the same time; the first error cancels the others and is raised as itself.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from pydantic import BaseModel

from core.errors import BudgetExhausted, ContextTooLong
from core.events import CallEvent, PlanEvent, PlannedStep, SearchEvent, StepEvent
from core.ports.chat import ChatModels, ChatRequest, ReplyForm
from core.ports.reasoning import Question, Quote, Step, Support, Unsupported
from core.ports.retrieval import Hit, Query, Searcher, SearchResult
from core.prompting.structured import complete_structured
from core.trace import Trace
from reasoning.engine.calls import AnswerStream, ModelCall, build_request, drop_last_passages, name_step_in_errors

Result = TypeVar("Result")


async def gather(parts: Iterable[Coroutine[Any, Any, Result]]) -> list[Result]:
    """Returns the results of the coroutines, in order.

    If one fails, the others are cancelled and its error is raised, not an exception group. `BudgetExhausted` is raised
    only after the calls that are under way, and paid for, have ended.
    """
    all_parts = list(parts)
    results: dict[int, Result] = {}
    refused: list[BudgetExhausted] = []

    async def run(place: int, part: Coroutine[Any, Any, Result]) -> None:
        try:
            results[place] = await part
        except BudgetExhausted as error:
            refused.append(error)

    try:
        async with asyncio.TaskGroup() as group:
            for place, part in enumerate(all_parts):
                group.create_task(run(place, part))
    except BaseExceptionGroup as errors:
        first = _first(errors)
        raise first from first.__cause__
    finally:
        for part in all_parts:  # closes coroutines that were cancelled before they started
            part.close()
    if refused:
        raise refused[0]
    return [results[place] for place in range(len(all_parts))]


def _first(error: BaseException) -> BaseException:
    return _first(error.exceptions[0]) if isinstance(error, BaseExceptionGroup) else error


@dataclass(kw_only=True)
class OpenStep:
    """The current state of a step; a reasoner sets its fields, the fields of `core.ports.reasoning.Step`.

    `hits` None stands for all passages that were retrieved under `opened_as`, the id with which the step was opened.
    Calls are counted under that id, too, so that a reasoner may learn only from a call which step it takes.
    """

    opened_as: str
    id: str
    question: str
    parents: tuple[str, ...] = ()
    depth: int = 0
    hits: tuple[Hit, ...] | None = None
    answer: str = ""
    verdict: str = ""
    support: Support = Support.NONE
    unstated: str = ""
    quotes: tuple[Quote, ...] = ()
    began: float = field(default_factory=time.perf_counter)


T = TypeVar("T", bound=BaseModel)
R = TypeVar("R")

_NO_MEMORY = frozenset({str(Support.MEMORY)})
"""The support that is not offered to a model that may not answer from what it knows."""


class Session:
    """Executes one question for a reasoner and its actions: searches, model calls and steps, on one trace.

    `steps` are the recorded steps by id, in the order of their first record; `planned` are the announced steps.
    `reasoner` is the name of the reasoner in the answer. `permits_memory`: the model may answer from what it knows.
    """

    def __init__(
        self, reasoner: str, question: Question, models: ChatModels, searcher: tuple[str, Searcher], trace: Trace
    ) -> None:
        self.reasoner = reasoner
        self.question = question
        self.trace = trace
        self.steps: dict[str, Step] = {}
        self.planned: dict[str, PlannedStep] = {}
        self.permits_memory = question.unsupported is Unsupported.MEMORY
        self._models = models
        self._searcher = searcher
        self._found: dict[str, dict[str, Hit]] = {}
        self._shown: set[str] = set()

    @property
    def has_small_model(self) -> bool:
        """Whether the model that writes answers is small: it is asked for less, and its answers are believed less."""
        return self._models.is_small("conclude")

    @property
    def has_history(self) -> bool:
        """Whether the question has a conversation before it. Its earlier answers may hold private text, so that even a
        call without passages has seen some.
        """
        return bool(self.question.history)

    def permit_memory(self) -> None:
        """Lets the model answer from what it knows, unless the request wants only what passages state."""
        self.permits_memory = self.question.unsupported is not Unsupported.ABSTAIN

    async def search(
        self,
        text: str,
        k: int,
        *,
        step: str = "",
        searcher: tuple[str, Searcher] | None = None,
        entities: tuple[str, ...] | None = None,
        private: bool | None = None,
        documents: frozenset[str] | None = None,
    ) -> tuple[Hit, ...]:
        """Returns the hits for a text, best first, of the session's searcher unless another is given.

        `documents` are some of the documents that the question may be answered from (None: all of them).
        `private` tells whether the text may hold words of passages, or of the conversation; `Query` says what follows.
        If it is not given, a text is private once a model was shown a passage of the corpus, or the conversation.
        """
        chosen = searcher or self._searcher
        result = await self._search(text, k, step, chosen, entities, private, facts=False, documents=documents)
        return result.hits

    async def search_fully(
        self,
        text: str,
        k: int,
        *,
        step: str = "",
        searcher: tuple[str, Searcher] | None = None,
        entities: tuple[str, ...] | None = None,
        private: bool | None = None,
        documents: frozenset[str] | None = None,
    ) -> SearchResult:
        """Returns the whole result of a search as in `search`, with the facts of the graph.

        The result has no facts if the corpus has none, or if the searcher does not use its graph.
        """
        chosen = searcher or self._searcher
        return await self._search(text, k, step, chosen, entities, private, facts=True, documents=documents)

    async def _search(
        self,
        text: str,
        k: int,
        step: str,
        searcher: tuple[str, Searcher],
        entities: tuple[str, ...] | None,
        private: bool | None,
        *,
        facts: bool,
        documents: frozenset[str] | None = None,
    ) -> SearchResult:
        name, chosen = searcher
        query = Query(
            corpus=self.question.corpus,
            text=text,
            k=k,
            documents=self.question.documents if documents is None else documents,
            parts=self.question.parts,
            facts=facts,
            entities=entities,
            web=self.question.web,
            masked=self.question.masked,
            private=self._has_shown_private if private is None else private,
        )
        result = await chosen.search(query, self.trace)
        if self.question.companions is not None:
            result = replace(result, hits=await self.question.companions.add(result.hits, query.documents))
        self._found.setdefault(step, {}).update((hit.chunk.id, hit) for hit in result.hits)
        self.trace.emit(SearchEvent(query=text, searcher=name, hits=result.hits, step=step))
        return result

    def found(self, step: str) -> tuple[Hit, ...]:
        """Returns all passages that were retrieved for a step, each once, in the order in which they came."""
        return tuple(self._found.get(step, {}).values())

    def plan(self, steps: Sequence[PlannedStep]) -> None:
        """Announces steps; a step that was announced before is replaced."""
        self.planned.update((step.id, step) for step in steps)
        self.trace.emit(PlanEvent(steps=tuple(steps)))

    @asynccontextmanager
    async def step(
        self, id: str, question: str, *, parents: tuple[str, ...] = (), depth: int = 0
    ) -> AsyncIterator[OpenStep]:
        """Opens a step, and records it with its seconds, tokens and passages when the block ends.

        Set the answer and the rest on the step inside the block. If the block raises, nothing is recorded.
        """
        step = OpenStep(opened_as=id, id=id, question=question, parents=parents, depth=depth)
        yield step
        self.record(step)

    def record(self, step: OpenStep) -> Step:
        """Records the current state of a step. It replaces an earlier record of the same id."""
        return self._keep(
            Step(
                id=step.id,
                question=step.question,
                hits=self.found(step.opened_as) if step.hits is None else step.hits,
                answer=step.answer,
                parents=step.parents,
                depth=step.depth,
                verdict=step.verdict,
                support=step.support,
                unstated=step.unstated,
                quotes=step.quotes,
                seconds=time.perf_counter() - step.began,
                tokens=self._tokens(step.opened_as),
            )
        )

    def amend(self, id: str, *, answer: str) -> Step:
        """Records a step again, with another answer."""
        return self._keep(replace(self.steps[id], answer=answer))

    def restore(self, step: Step) -> Step:
        """Records an earlier state of a step again, with the tokens that were spent on the step since."""
        return self._keep(replace(step, tokens=self._tokens(step.id)))

    async def complete_structured(
        self, call: ModelCall, shape: type[T], tokens: AnswerStream | None = None
    ) -> tuple[T, tuple[Hit, ...]]:
        """Returns the model's answer as a value, and the passages that the model was shown.

        `tokens` gets the pieces of the text as they come, if the prompt asks for JSON. Raises `MalformedReply` if the
        answer cannot be read twice, and `ContextTooLong` if a single passage is too much.
        """

        async def send(request: ChatRequest, shown: int) -> T:
            if tokens is not None and call.passages:
                tokens.sources = shown
            again = tokens is not None and tokens.has_begun  # of a prompt that left no room for its answer
            pieces = None if again or request.reply is not ReplyForm.JSON else tokens
            without = frozenset[str]() if self.permits_memory else _NO_MEMORY
            model = self._models.of(request.role)
            return await complete_structured(model, request, shape, self.trace, pieces, without)

        return await self._send(call, send)

    async def _send(
        self, call: ModelCall, send: Callable[[ChatRequest, int], Awaitable[R]]
    ) -> tuple[R, tuple[Hit, ...]]:
        """Sends a call with all its passages, and again with fewer while the model cannot read them all."""
        shown = tuple(call.passages) if "passages" in call.prompt.variables else ()
        while True:
            request = self._request(call, shown)
            try:
                with name_step_in_errors(request):
                    reply = await send(request, len(shown))
            except ContextTooLong as error:
                shown = drop_last_passages(shown, error)
            else:
                self._note_dropped(call, shown)
                return reply, shown

    def _request(self, call: ModelCall, shown: Sequence[Hit]) -> ChatRequest:
        """The request for a call. It names all chunks that were shown in this session, except chunks of the web: after
        a passage was shown, questions and answers may be made of its words.
        """
        self._shown |= call.chunks | {hit.chunk.id for hit in shown}
        return build_request(call, self.question, shown, self._shown_chunks)

    @property
    def _shown_chunks(self) -> frozenset[str]:
        """The ids of the chunks of the corpus that a model was shown in this session."""
        web = {id for hits in self._found.values() for id, hit in hits.items() if hit.url is not None}
        return frozenset(self._shown - web)

    @property
    def _has_shown_private(self) -> bool:
        return self.has_history or bool(self._shown_chunks)

    def _note_dropped(self, call: ModelCall, shown: Sequence[Hit]) -> None:
        dropped = len(call.passages) - len(shown)
        if dropped and "passages" in call.prompt.variables:
            where = f" of step {call.step}" if call.step else ""
            self.trace.note(
                f"{call.prompt.name}{where}: the model cannot read all passages at once; "
                f"the last {dropped} of {len(call.passages)} were left out"
            )

    def _keep(self, step: Step) -> Step:
        self.steps[step.id] = step
        self.trace.emit(StepEvent(result=step))
        return step

    def _tokens(self, step: str) -> int:
        """The tokens of a step's calls so far. Answers from the cache cost no tokens."""
        calls = (e for e in self.trace.events if isinstance(e, CallEvent) and e.step == step and not e.cached)
        return sum(call.prompt_tokens + call.completion_tokens for call in calls)
