"""The body of `/ask`, and its response made from an answer of `core` with its citations, steps and verification.

`events` has the events of a stream.
"""

from typing import Any, Literal, Self

from pydantic import ConfigDict, Field, JsonValue, PrivateAttr, model_validator

from api.schemas.base import (
    NOT_BLANK,
    NULL,
    FilterIn,
    Flag,
    In,
    Number,
    Text,
    Whole,
    needs_name,
)
from api.schemas.search import (
    MIN_GENERATION,
    CorpusNames,
    MinGenerationIn,
    Reasoner,
    Searcher,
    convert_hit,
    convert_usage,
    parse_strategy,
)
from api.schemas.validity import AsOf, convert_validity
from api.schemas.values import fill
from app.services.links import Links
from app.services.questions import AskRequest
from app.services.verification import estimate_verification
from core.errors import InvalidInput
from core.passage_context import describe_hit, find_page_label
from core.ports.chat import Message, Speaker
from core.ports.reasoning import Answer, Citation, Quote, Step, Unsupported
from core.ports.retrieval import MAX_K
from core.settings import BudgetSettings
from core.strategies import StrategySpec
from core.trace import Budget, Trace
from core.verification import Verdict, Verification, find_verification
from hopweave.wire import answers as wire
from hopweave.wire.base import Span


class BudgetIn(In):
    """Limits for this question. Each may be at most the server's own limit, which holds if none is given."""

    calls: Whole | None = Field(default=None, ge=1, description="Calls of models.")
    tokens: Whole | None = Field(default=None, ge=1, description="Prompt and completion together.")
    seconds: Number | None = Field(default=None, gt=0, allow_inf_nan=False)

    def within(self, settings: BudgetSettings, field: str = "budget") -> Budget:
        """Returns the server's limits, lowered to the limits in `field` of this body.

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
    as_of: AsOf = None
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
            as_of=self.as_of,
            instructions=self.instructions,
            history=tuple(Message(speaker=Speaker(turn.role), content=turn.content) for turn in self.history),
            web=self.web,
            unsupported=self.unsupported,
            min_generation=self.min_generation,
        )


class AskCorporaIn(AskIn):
    """A question to several corpora. `filter` holds for each of them."""

    corpora: CorpusNames


def convert_answer(answer: Answer, trace: Trace, links: Links) -> wire.Answer:
    """Returns the response of an answer, with the usage, notes, timing and verification of its trace."""
    cost = estimate_verification(answer, trace.usage)
    verification = find_verification(trace.events)
    return fill(
        wire.Answer,
        answer,
        answer=answer.text,
        citations=tuple(_convert_citation(citation, links) for citation in answer.citations),
        steps=tuple(_convert_step(step, links) for step in answer.steps),
        usage=convert_usage(trace.usage),
        notes=tuple(trace.notes),
        timing=dict(trace.timing),
        verification_cost=None if cost is None else fill(wire.VerificationCost, cost),
        verification=None if verification is None else convert_verification(verification),
    )


def _convert_citation(citation: Citation, links: Links) -> wire.Citation:
    cell = citation.cell
    return fill(
        wire.Citation,
        citation,
        chunk_id=None if citation.url else citation.chunk_id,
        link=links.to(citation.corpus, citation.document.id, citation.chunk_id),
        page_label=find_page_label(citation.document.metadata, citation.page),
        validity=convert_validity(citation.validity),
        cell=None if cell is None else fill(wire.Cell, cell, page=citation.page),
    )


def _convert_step(step: Step, links: Links) -> wire.Step:
    return fill(
        wire.Step,
        step,
        quotes=tuple(convert_quote(quote, links) for quote in step.quotes),
        hits=tuple(convert_hit(hit, links) for hit in step.hits),
    )


def convert_quote(quote: Quote, links: Links) -> wire.Quote:
    hit = quote.hit
    return wire.Quote(
        corpus=hit.corpus,
        chunk_id=None if hit.url else hit.chunk.id,
        url=hit.url,
        link=links.to(hit.corpus, hit.document.id, hit.chunk.id),
        document=fill(wire.DocumentName, hit.document),
        part_of=describe_hit(hit, quote.span),
        quote=quote.text,
        source_span=fill(Span, quote.span),
    )


def convert_verification(verification: Verification) -> wire.Verification:
    return wire.Verification(
        documents=tuple(convert_verdict(verdict) for verdict in verification.documents),
        together=tuple(tuple(located.document.id for located in group) for group in verification.together),
        usage=convert_usage(verification.usage),
        notes=tuple(verification.notes),
    )


def convert_verdict(verdict: Verdict) -> wire.Verdict:
    return fill(
        wire.Verdict,
        verdict,
        document=fill(wire.VerifiedDocument, verdict.located.document),
        corpus=verdict.located.corpus,
        replaced_by=tuple(
            fill(wire.Replacement, located.document, corpus=located.corpus) for located in verdict.replaced_by
        ),
    )
