"""The action `review`: checks an answer against finer evidence, and keeps it, corrects it, or asks for what is missing.

The source is PAR RAG (arXiv 2504.16787), section 3.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from pydantic import BaseModel, Field, field_validator, model_validator

from core.ports.reasoning import Quote
from core.ports.retrieval import Hit
from core.prompting.fences import fenced, neutral
from core.prompting.prompts import load_prompt
from reasoning.actions.answers.answer import select_cited, strip_markers
from reasoning.citations.markers import parse_markers
from reasoning.citations.quotes import select_quote
from reasoning.engine.calls import ModelCall
from reasoning.engine.session import Session
from reasoning.plans.known_answers import UNKNOWN

__all__ = ["Fact", "Review", "Verdict", "review"]

Fact = tuple[str, str, str, str]
"""Subject, predicate, object, and the id of the chunk that states them."""


class Verdict(StrEnum):  # without a docstring: it would be part of the schema that models are sent
    PASS = "PASS"  # noqa: S105  # not a password
    REVISED = "REVISED"
    UNCONFIDENT = "UNCONFIDENT"


@dataclass(frozen=True, kw_only=True)
class Review:
    """`text` is the corrected answer of REVISED, which `quotes` of `cited` support, or the question of UNCONFIDENT."""

    verdict: Verdict
    text: str = ""
    cited: tuple[Hit, ...] = ()
    quotes: tuple[Quote, ...] = ()


class _Reviewed(BaseModel):
    status: Verdict
    answer: str = Field(max_length=8000)
    citations: list[int]
    question: str

    @field_validator("status", mode="before")
    @classmethod
    def _fold_case(cls, status: object) -> object:
        return status.strip().upper() if isinstance(status, str) else status

    @model_validator(mode="before")
    @classmethod
    def _fill_in(cls, reply: object) -> object:
        """Adds empty fields: in the published contract a verdict has only those that it needs."""
        return {"answer": "", "citations": [], "question": "", **reply} if isinstance(reply, dict) else reply

    @model_validator(mode="after")
    def _check_parts(self) -> Self:
        if self.status is Verdict.REVISED and not self.answer.strip():
            raise ValueError("a REVISED review needs the corrected answer")
        if self.status is Verdict.REVISED and not self.numbers:
            raise ValueError("a REVISED review needs at least one citation")
        if self.status is Verdict.UNCONFIDENT and not self.question.strip():
            raise ValueError("an UNCONFIDENT review needs a new question")
        return self

    @property
    def numbers(self) -> list[int]:
        """The numbers of the citations, in `citations` or by markers in the answer."""
        return [*self.citations, *parse_markers(self.answer)]


async def review(
    session: Session,
    question: str,
    answer: str,
    passages: Sequence[Hit],
    *,
    facts: Sequence[Fact] = (),
    step: str = "",
    chunks: Collection[str] = (),
) -> Review:
    """Reviews an answer. `facts` are shown with the numbers of their passages.

    `chunks` are ids of the chunks whose words the answer may hold. Raises `ModelFailed` if the reply cannot be read.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.judging", "review"),
        question=question,
        variables={
            "question": neutral(question),
            "answer": fenced("answer", answer or UNKNOWN),
            "facts": _format_facts(facts, passages),
        },
        passages=passages,
        chunks=frozenset(chunks),
        step=step,
    )
    reply, shown = await session.complete_structured(call, _Reviewed)
    if reply.status is Verdict.PASS:
        return Review(verdict=reply.status)
    if reply.status is Verdict.UNCONFIDENT:
        return Review(verdict=reply.status, text=reply.question.strip())
    text = strip_markers(reply.answer)
    cited = select_cited(session, reply.numbers, shown, step)
    quotes = tuple(select_quote(hit, text, question) for hit in cited)
    return Review(verdict=reply.status, text=text, cited=cited, quotes=quotes)


def _format_facts(facts: Sequence[Fact], passages: Sequence[Hit]) -> str:
    """Returns the facts of passages that are shown; others have no number to be cited by."""
    numbers = {hit.chunk.id: number for number, hit in enumerate(passages, start=1)}
    lines = [
        f"[{numbers[chunk]}] {' '.join(f'{subject} — {predicate} — {object}'.split())}"
        for subject, predicate, object, chunk in facts
        if chunk in numbers
    ]
    return fenced("facts", "\n".join(lines)) if lines else ""
