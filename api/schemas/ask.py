"""The body of `/ask` and its response: questions, budgets, cited answers. `events` has the events of a stream."""

from typing import Any, Literal, Self

from pydantic import Field, PrivateAttr, model_validator

from api.schemas.base import In, Out, SpanOut, Text
from api.schemas.search import HitDocumentOut, HitOut, hit_out
from api.schemas.strategies import parse_strategy
from api.schemas.usage import UsageOut, usage_out
from app.services.questions import AskRequest
from core.budget import Budget
from core.errors import InvalidInput
from core.ports.chat import Message, Speaker
from core.ports.reasoning import Answer, Citation, Quote, Step
from core.ports.retrieval import MAX_K
from core.settings import BudgetSettings
from core.strategies import StrategySpec
from core.trace import Trace

__all__ = ["AnswerOut", "AskIn", "BudgetIn", "DocumentNameOut", "MessageIn", "QuoteOut", "answer_out", "quote_out"]


class BudgetIn(In):
    """Limits of this question; each may be at most the server's own, which holds where none is given."""

    calls: int | None = Field(default=None, ge=1, description="Calls of models.")
    tokens: int | None = Field(default=None, ge=1, description="Prompt and completion together.")
    seconds: float | None = Field(default=None, gt=0, allow_inf_nan=False)

    def within(self, settings: BudgetSettings) -> Budget:
        """Returns the server's limits, lowered to those of this body.

        Raises `InvalidInput` naming a limit that is higher than the server's.
        """
        limits = settings.model_dump()
        for name, value in self.model_dump(exclude_none=True).items():
            highest = limits[name]
            if highest is not None and value > highest:
                raise InvalidInput(
                    f"budget.{name} is {value:g}, and this server allows {highest:g} for one question "
                    f"(HOPWEAVE_BUDGET__{name.upper()}); ask for less, or leave it out"
                )
            limits[name] = value
        return Budget(**limits)


class MessageIn(In):
    role: Literal["user", "assistant"]
    content: Text


class AskIn(In):
    """`reasoner` and `searcher` are `NAME[:key=value,…]`; unset, the server's defaults."""

    question: Text
    reasoner: str | None = None
    options: dict[str, Any] = Field(default_factory=dict, description="Of the reasoner.")
    searcher: str | None = None
    searcher_options: dict[str, Any] = Field(default_factory=dict)
    instructions: Text = Field(default="", description="How the answer is to be written.")
    k: int | None = Field(
        default=None, ge=1, le=MAX_K, description="Passages that a retrieval brings; unset, the reasoner's own number."
    )
    filter: dict[str, Any] | None = None
    budget: BudgetIn = BudgetIn()
    history: list[MessageIn] = Field(default_factory=list, description="The conversation before the question.")
    web: bool = Field(default=False, description="Permits that queries go to a web search.")
    stream: bool = Field(default=False, description="Answer with server-sent events, the answer last.")
    _reasoner: StrategySpec | None = PrivateAttr(default=None)
    _searcher: StrategySpec | None = PrivateAttr(default=None)

    @model_validator(mode="after")
    def _parse_strategies(self) -> Self:
        self._reasoner = parse_strategy(self.reasoner, self.options, "reasoner")
        self._searcher = parse_strategy(self.searcher, self.searcher_options, "searcher")
        return self

    def to_request(self) -> AskRequest:
        """Returns the request that the service takes; raises `InvalidInput` as `AskRequest` does."""
        return AskRequest(
            question=self.question,
            reasoner=self._reasoner,
            searcher=self._searcher,
            k=self.k,
            filter=self.filter,
            instructions=self.instructions,
            history=tuple(Message(speaker=Speaker(turn.role), content=turn.content) for turn in self.history),
            web=self.web,
        )


class DocumentNameOut(Out):
    key: str
    title: str


class CitationOut(Out):
    """`quote` is verbatim in the chunk, at `source_span`; the answer uses it at `answer_span`."""

    marker: int
    chunk_id: str | None = Field(description="Null for a passage of the web.")
    url: str | None = Field(description="Of a passage of the web, which is in no corpus.")
    document: HitDocumentOut
    page: int | None
    quote: str
    answer_span: SpanOut
    source_span: SpanOut


class QuoteOut(Out):
    """What a step's answer stands on, verbatim in the chunk (or, with `url`, in what the web search told)."""

    chunk_id: str | None
    url: str | None
    document: DocumentNameOut
    quote: str
    source_span: SpanOut


class StepOut(Out):
    """One hop: a question, all that was retrieved for it, and its answer. `parents` are the steps that it built on."""

    id: str
    question: str
    parents: list[str]
    depth: int
    answer: str
    verdict: str = Field(description="A word of the reasoner's own; empty where nothing was checked.")
    quotes: list[QuoteOut]
    hits: list[HitOut]
    seconds: float
    tokens: int


class AnswerOut(Out):
    """`abstained` says that there is no answer to be had from what was found. `timing` is in seconds by stage."""

    answer: str
    citations: list[CitationOut]
    steps: list[StepOut]
    usage: UsageOut
    reasoner: str
    abstained: bool
    notes: list[str]
    timing: dict[str, float]


def answer_out(answer: Answer, trace: Trace) -> AnswerOut:
    return AnswerOut(
        answer=answer.text,
        citations=[_citation(citation) for citation in answer.citations],
        steps=[_step(step) for step in answer.steps],
        usage=usage_out(trace.usage),
        reasoner=answer.reasoner,
        abstained=answer.abstained,
        notes=trace.notes,
        timing=trace.timing,
    )


def quote_out(quote: Quote) -> QuoteOut:
    return QuoteOut(
        chunk_id=None if quote.hit.url else quote.hit.chunk.id,
        url=quote.hit.url,
        document=DocumentNameOut.model_validate(quote.hit.document),
        quote=quote.text,
        source_span=SpanOut.model_validate(quote.span),
    )


def _citation(citation: Citation) -> CitationOut:
    return CitationOut(
        marker=citation.marker,
        chunk_id=None if citation.url else citation.chunk_id,
        url=citation.url,
        document=HitDocumentOut.model_validate(citation.document),
        page=citation.page,
        quote=citation.quote,
        answer_span=SpanOut.model_validate(citation.answer_span),
        source_span=SpanOut.model_validate(citation.source_span),
    )


def _step(step: Step) -> StepOut:
    return StepOut(
        id=step.id,
        question=step.question,
        parents=list(step.parents),
        depth=step.depth,
        answer=step.answer,
        verdict=step.verdict,
        quotes=[quote_out(quote) for quote in step.quotes],
        hits=[hit_out(hit) for hit in step.hits],
        seconds=step.seconds,
        tokens=step.tokens,
    )
