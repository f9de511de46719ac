"""One question in work: its searches, its calls of models and its steps, all on one trace."""

from collections.abc import Sequence
from typing import TypeVar

from pydantic import BaseModel

from core.errors import ContextTooLong
from core.events import CallEvent, PlanEvent, PlannedStep, SearchEvent, StepEvent
from core.ports.chat import ChatModels, ChatRequest, Completion, Message
from core.ports.reasoning import Question, Step
from core.ports.retrieval import Hit, Query, Searcher, SearchResult
from core.prompting.fences import fenced, format_passages
from core.prompting.structured import make_cut_error, strip_thinking, structured
from core.trace import Trace
from reasoning.engine.calls import Call, fewer, named
from reasoning.engine.streaming import TokenStream

__all__ = ["Call", "Session"]

T = TypeVar("T", bound=BaseModel)


class Session:
    """What strategies and actions work with. `steps` are those that were answered, by id, in the order of answering."""

    def __init__(self, question: Question, models: ChatModels, searcher: tuple[str, Searcher], trace: Trace) -> None:
        self.question = question
        self.trace = trace
        self.steps: dict[str, Step] = {}
        self.planned: dict[str, PlannedStep] = {}
        self._models = models
        self._searcher = searcher
        self._found: dict[str, dict[str, Hit]] = {}
        self._shown: set[str] = set()

    @property
    def planned_in_private(self) -> bool:
        """Whether even a call without passages has seen private text: the conversation may hold earlier answers."""
        return bool(self.question.history)

    async def search(
        self,
        text: str,
        k: int,
        *,
        step: str = "",
        searcher: tuple[str, Searcher] | None = None,
        entities: tuple[str, ...] | None = None,
        private: bool = True,
    ) -> tuple[Hit, ...]:
        """The hits for a text, best first, with the request's searcher unless another is given."""
        return (await self.search_fully(text, k, step=step, searcher=searcher, entities=entities, private=private)).hits

    async def search_fully(
        self,
        text: str,
        k: int,
        *,
        step: str = "",
        searcher: tuple[str, Searcher] | None = None,
        entities: tuple[str, ...] | None = None,
        private: bool = True,
    ) -> SearchResult:
        """As `search`, with all that the searcher told."""
        name, chosen = searcher or self._searcher
        query = Query(
            corpus=self.question.corpus,
            text=text,
            k=k,
            documents=self.question.documents,
            entities=entities,
            web=self.question.web,
            private=private,
        )
        result = await chosen.search(query, self.trace)
        self._found.setdefault(step, {}).update((hit.chunk.id, hit) for hit in result.hits)
        self.trace.emit(SearchEvent(query=text, searcher=name, hits=result.hits, step=step))
        return result

    def found(self, step: str) -> tuple[Hit, ...]:
        """All that a step has retrieved, in the order in which it came."""
        return tuple(self._found.get(step, {}).values())

    def plan(self, steps: Sequence[PlannedStep]) -> None:
        """Tell of the steps that are going to be taken."""
        self.planned.update((one.id, one) for one in steps)
        self.trace.emit(PlanEvent(steps=tuple(steps)))

    def answered(self, step: Step) -> None:
        """Record a step's answer, with all that was retrieved for it; a later one takes the place of an earlier."""
        self.steps[step.id] = step
        self.trace.emit(StepEvent(result=step))

    def tokens_of(self, step: str) -> int:
        """What the calls of a step have cost so far."""
        calls = (e for e in self.trace.events if isinstance(e, CallEvent) and e.step == step and not e.cached)
        return sum(call.prompt_tokens + call.completion_tokens for call in calls)

    async def structured(self, call: Call, shape: type[T]) -> tuple[T, tuple[Hit, ...]]:
        """The model's answer as a value, and the passages that it was shown."""
        shown = tuple(call.passages)
        while True:
            try:
                request = self._request(call, shown)
                with named(request):
                    said = await structured(self._models.of(request.role), request, shape, self.trace)
            except ContextTooLong as error:
                shown = fewer(shown, error)
            else:
                self._note_left_out(call, shown)
                return said, shown

    async def text(self, call: Call, tokens: TokenStream | None = None) -> tuple[str, tuple[Hit, ...]]:
        """The model's answer as text, without what it thought aloud, and the passages that it was shown.

        Raises `ModelFailed` where it is cut off before its answer.
        """
        shown = tuple(call.passages)
        while True:
            if tokens is not None and call.passages:
                tokens.sources = len(shown)
            try:
                request = self._request(call, shown)
                with named(request):
                    completion = await self._models.of(request.role).complete(request, self.trace, tokens)
            except ContextTooLong as error:
                shown = fewer(shown, error)
            else:
                self._note_left_out(call, shown)
                return self._said(completion, request, call.until), shown

    def _said(self, completion: Completion, request: ChatRequest, until: str) -> str:
        text = strip_thinking(completion.text)
        if completion.cut:
            if not text or until.casefold() not in text.casefold():
                raise make_cut_error(completion, request)
            self.trace.note(
                f"{request.role}: the model's text was cut off after {completion.completion_tokens} tokens; "
                "HOPWEAVE_LLM__MAX_OUTPUT_TOKENS allows more"
            )
        return text

    def _note_left_out(self, call: Call, shown: Sequence[Hit]) -> None:
        dropped = len(call.passages) - len(shown)
        if dropped:
            where = f" of step {call.step}" if call.step else ""
            self.trace.note(
                f"{call.prompt.name}{where}: the model cannot read all passages at once; "
                f"the last {dropped} of {len(call.passages)} were left out"
            )

    def _request(self, call: Call, shown: Sequence[Hit]) -> ChatRequest:
        variables = dict(call.variables)
        wanted = call.prompt.variables
        if "passages" in wanted:
            variables["passages"] = format_passages([(hit.document.title, hit.chunk.text) for hit in shown])
        if "instructions" in wanted:
            variables["instructions"] = _instructions(self.question.instructions)
        system, *rest = call.prompt.messages(variables)
        history: tuple[Message, ...] = self.question.history if call.conversation else ()
        return ChatRequest(
            role=call.role or call.prompt.name,
            messages=(system, *history, *rest),
            prompt_hash=call.prompt.hash,
            corpus_id=self.question.corpus.id,
            chunk_ids=self._chunks(call, shown),
            question=call.question,
            labels={
                "step": call.step,
                "asked": self.question.text,
                "passages": " ".join(hit.document.key for hit in shown),
            },
            temperature=call.temperature,
            sample=call.sample,
            stop=call.stop,
        )

    def _chunks(self, call: Call, shown: Sequence[Hit]) -> frozenset[str]:
        """Of the corpus, whose words the messages hold, or may hold: after a passage was shown, questions and answers
        may be made of it, so all that were shown so far count.
        """
        self._shown |= call.chunks | {hit.chunk.id for hit in shown}
        web = {id for found in self._found.values() for id, hit in found.items() if hit.url is not None}
        return frozenset(self._shown - web)


def _instructions(text: str) -> str:
    return f"How the answer is to be written:\n{fenced('instructions', text)}" if text.strip() else ""
