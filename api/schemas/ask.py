"""The body of `/ask` and its response: questions, budgets, cited answers. `events` has the events of a stream."""

from typing import Any, Literal, Self

from pydantic import ConfigDict, Field, JsonValue, PrivateAttr, model_validator

from api.schemas.base import (
    NOT_BLANK,
    NULL,
    FilterIn,
    Flag,
    In,
    Number,
    Out,
    SpanOut,
    Text,
    UsageOut,
    Whole,
    needs_name,
)
from api.schemas.search import (
    MIN_GENERATION,
    PAGE_LABEL,
    PART_OF,
    CorpusNames,
    HitDocumentOut,
    HitOut,
    MinGenerationIn,
    Reasoner,
    Searcher,
    parse_strategy,
)
from api.schemas.verification import VerificationCostOut, VerificationOut
from app.services.links import LINK, Links
from app.services.questions import AskRequest
from app.services.verification import estimate_verification
from core.errors import InvalidInput
from core.passage_context import TableCell, describe_hit, find_page_label
from core.ports.chat import Message, Speaker
from core.ports.reasoning import Answer, Citation, Quote, Step, Support, Unsupported
from core.ports.retrieval import MAX_K
from core.settings import BudgetSettings
from core.strategies import StrategySpec
from core.trace import Budget, Trace
from core.verification import find_verification

__all__ = ["SUPPORT", "AnswerOut", "AskCorporaIn", "AskIn", "BudgetIn", "DocumentNameOut", "MessageIn", "QuoteOut"]

SUPPORT = (
    "What the answer stands on: `stated` by passages, `quoted` from them without a model that read them, `inferred` "
    "from them with an assumption, the model's `memory`, or `none` without an answer."
)


class BudgetIn(In):
    """Limits for this question. Each may be at most the server's own limit, which holds if none is given."""

    calls: Whole | None = Field(default=None, ge=1, description="Calls of models.")
    tokens: Whole | None = Field(default=None, ge=1, description="Prompt and completion together.")
    seconds: Number | None = Field(default=None, gt=0, allow_inf_nan=False)

    def within(self, settings: BudgetSettings, field: str = "budget") -> Budget:
        """Returns the server's limits, lowered to those of this body, whose name is `field`.

        Raises `InvalidInput` naming a limit that is higher than the server's.
        """
        limits = settings.model_dump()
        for name, value in self.model_dump(exclude_none=True).items():
            highest = limits[name]
            if highest is not None and value > highest:
                raise InvalidInput(
                    f"{field}.{name} is {value:g}, and this server allows {highest:g} for one question "
                    f"(HOPWEAVE_BUDGET__{name.upper()}); ask for less, or leave it out"
                )
            limits[name] = value
        return Budget(**limits)


class MessageIn(In):
    role: Literal["user", "assistant"]
    content: Text


_VERIFIED: dict[str, JsonValue] = {
    "anyOf": [
        {"required": ["verify"], "properties": {"verify": {"const": True}}},
        {"properties": {"verify_budget": {"properties": dict.fromkeys(BudgetIn.model_fields, NULL)}}},
    ]
}
_NAMED: list[JsonValue] = [needs_name("searcher_options", "searcher"), needs_name("options", "reasoner")]


class AskIn(In):
    """`reasoner` and `searcher` are `NAME[:key=value,…]`; if unset, the server's defaults."""

    model_config = ConfigDict(json_schema_extra={"allOf": [*_NAMED, _VERIFIED]})

    question: Text = Field(json_schema_extra=NOT_BLANK)
    reasoner: Reasoner | None = None
    options: dict[str, Any] = Field(default_factory=dict, description="Options of the reasoner.")
    searcher: Searcher | None = None
    searcher_options: dict[str, Any] = Field(default_factory=dict)
    instructions: Text = Field(default="", description="How the answer is to be written.")
    k: Whole | None = Field(
        default=None, ge=1, le=MAX_K, description="Passages per retrieval; if unset, the reasoner's own number."
    )
    filter: FilterIn | None = None
    budget: BudgetIn = BudgetIn()
    history: list[MessageIn] = Field(
        default_factory=list,
        description="The conversation before the question, from which a model makes the question self-contained.",
    )
    web: Flag = Field(default=False, description="Permits queries to a web search.")
    unsupported: Unsupported | None = Field(
        default=None,
        description="What is done with an answer that no passage states: `infer` gives it if it is inferred from "
        "passages, `abstain` gives none, `memory` also gives answers from the model's memory. If unset, the server's "
        "default.",
    )
    min_generation: MinGenerationIn = MIN_GENERATION
    verify: Flag = Field(
        default=False,
        description="Masks each document of the answer in turn and asks again, to say which of them the answer hangs "
        "on. It costs about an answer for each document.",
    )
    verify_budget: BudgetIn = Field(
        default=BudgetIn(), description="Limits for the verification, beside those for the answer."
    )
    stream: Flag = Field(default=False, description="Respond with server-sent events; the answer is the last.")
    _reasoner: StrategySpec | None = PrivateAttr(default=None)
    _searcher: StrategySpec | None = PrivateAttr(default=None)

    @model_validator(mode="after")
    def _check_verification(self) -> Self:
        if not self.verify and self.verify_budget.model_dump(exclude_none=True):
            raise ValueError("`verify_budget` limits a verification: set `verify` to true, or leave it out")
        return self

    @model_validator(mode="after")
    def _parse_strategies(self) -> Self:
        self._reasoner = parse_strategy(self.reasoner, self.options, "reasoner")
        self._searcher = parse_strategy(self.searcher, self.searcher_options, "searcher")
        return self

    def limit_verification(self, settings: BudgetSettings) -> Budget | None:
        """Returns the limits of the verification, as `BudgetIn.within` does; None if there is to be none."""
        return self.verify_budget.within(settings, "verify_budget") if self.verify else None

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
            unsupported=self.unsupported,
            min_generation=self.min_generation,
        )


class AskCorporaIn(AskIn):
    """A question to several corpora. `filter` holds for each of them."""

    corpora: CorpusNames


class DocumentNameOut(Out):
    key: str
    title: str


CELL = "The cell of a table that the quote is about: the one it stands in, or the one whose value the answer states."


class CellOut(Out):
    """A cell of a table: the label of its row, the name of its column, and its value, which is in the chunk at `span`.

    A group of rows, and a name that spans several columns, stand before the label or name, with ` › ` between them.
    """

    row: str
    column: str
    value: str
    page: int | None
    span: SpanOut

    @classmethod
    def from_cell(cls, cell: TableCell, page: int | None) -> Self:
        span = SpanOut.model_validate(cell.span)
        return cls(row=cell.row, column=cell.column, value=cell.value, page=page, span=span)


class CitationOut(Out):
    """`quote` is verbatim in the chunk, at `source_span`; the answer uses it at `answer_span`."""

    marker: int
    corpus: str = Field(description="The name of the corpus; empty for a passage of the web.")
    chunk_id: str | None = Field(description="Null for a passage of the web.")
    url: str | None = Field(description="The address of a passage of the web, which is in no corpus.")
    link: str | None = Field(description=LINK)
    document: HitDocumentOut
    page: int | None
    page_label: str = Field(default="", description=PAGE_LABEL)
    part_of: str = Field(default="", description=PART_OF)
    quote: str
    answer_span: SpanOut
    source_span: SpanOut
    cell: CellOut | None = Field(default=None, description=CELL)

    @classmethod
    def from_citation(cls, citation: Citation, links: Links) -> Self:
        return cls(
            marker=citation.marker,
            corpus=citation.corpus,
            chunk_id=None if citation.url else citation.chunk_id,
            url=citation.url,
            link=links.to(citation.corpus, citation.document.id, citation.chunk_id),
            document=HitDocumentOut.model_validate(citation.document),
            page=citation.page,
            page_label=find_page_label(citation.document.metadata, citation.page),
            part_of=citation.part_of,
            quote=citation.quote,
            answer_span=SpanOut.model_validate(citation.answer_span),
            source_span=SpanOut.model_validate(citation.source_span),
            cell=None if citation.cell is None else CellOut.from_cell(citation.cell, citation.page),
        )


class QuoteOut(Out):
    """Words that support a step's answer, verbatim in the chunk, or, with `url`, in the result of the web search."""

    corpus: str
    chunk_id: str | None
    url: str | None
    link: str | None = Field(description=LINK)
    document: DocumentNameOut
    part_of: str = Field(default="", description=PART_OF)
    quote: str
    source_span: SpanOut

    @classmethod
    def from_quote(cls, quote: Quote, links: Links) -> Self:
        return cls(
            corpus=quote.hit.corpus,
            chunk_id=None if quote.hit.url else quote.hit.chunk.id,
            url=quote.hit.url,
            link=links.to(quote.hit.corpus, quote.hit.document.id, quote.hit.chunk.id),
            document=DocumentNameOut.model_validate(quote.hit.document),
            part_of=describe_hit(quote.hit, quote.span),
            quote=quote.text,
            source_span=SpanOut.model_validate(quote.span),
        )


class StepOut(Out):
    """One hop: a question, all passages retrieved for it, and its answer, which used the answers of `parents`.

    `support` is `none` if there is no answer.
    """

    id: str
    question: str
    parents: list[str]
    depth: int
    answer: str
    verdict: str = Field(description="A word that the reasoner defines; empty if nothing was checked.")
    support: Support = Field(description=SUPPORT)
    unstated: str = Field(description="What no passage states of the answer, in a few words.")
    quotes: list[QuoteOut]
    hits: list[HitOut]
    seconds: float
    tokens: int

    @classmethod
    def from_step(cls, step: Step, links: Links) -> Self:
        return cls(
            id=step.id,
            question=step.question,
            parents=list(step.parents),
            depth=step.depth,
            answer=step.answer,
            verdict=step.verdict,
            support=step.support,
            unstated=step.unstated,
            quotes=[QuoteOut.from_quote(quote, links) for quote in step.quotes],
            hits=[HitOut.from_hit(hit, links) for hit in step.hits],
            seconds=step.seconds,
            tokens=step.tokens,
        )


class AnswerOut(Out):
    """`abstained` is true if no answer is given; `answer` then says so, and `citations` are the nearest passages, if
    the reasoner names any. `timing` is in seconds by stage.
    """

    answer: str
    citations: list[CitationOut]
    steps: list[StepOut]
    usage: UsageOut
    reasoner: str
    abstained: bool
    support: Support = Field(description=SUPPORT)
    note: str = Field(
        description="Why the answer is not stated, that passages contradict it, or that it only quotes, for the "
        "reader of the answer."
    )
    notes: list[str]
    timing: dict[str, float]
    verification_cost: VerificationCostOut | None = Field(
        description="What verifying this answer would cost, estimated; null if it cites no document of a corpus."
    )
    verification: VerificationOut | None = Field(description="Null if it was not asked for (`verify`).")

    @classmethod
    def from_answer(cls, answer: Answer, trace: Trace, links: Links) -> Self:
        """Returns the response of an answer, with the usage, notes, timing and verification of its trace."""
        cost = estimate_verification(answer, trace.usage)
        verification = find_verification(trace.events)
        return cls(
            answer=answer.text,
            citations=[CitationOut.from_citation(citation, links) for citation in answer.citations],
            steps=[StepOut.from_step(step, links) for step in answer.steps],
            usage=UsageOut.from_usage(trace.usage),
            reasoner=answer.reasoner,
            abstained=answer.abstained,
            support=answer.support,
            note=answer.note,
            notes=trace.notes,
            timing=trace.timing,
            verification_cost=None if cost is None else VerificationCostOut.model_validate(cost),
            verification=None if verification is None else VerificationOut.from_verification(verification),
        )
