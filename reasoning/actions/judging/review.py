"""Check an answer against finer evidence: kept, corrected, or a question for what is missing (PAR RAG, section 3)."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

from pydantic import BaseModel, Field, field_validator, model_validator

from core.ports.reasoning import Quote
from core.ports.retrieval import Hit
from core.prompting.fences import fenced, neutral
from core.prompting.prompts import load_prompt
from reasoning.actions.answers.answer import cited_hits, plain_answer
from reasoning.citations.citing import cited_numbers
from reasoning.citations.quoting import best_quote
from reasoning.engine.session import Call, Session
from reasoning.plans.chains import UNKNOWN

__all__ = ["Fact", "Review", "Verdict", "review"]

Fact = tuple[str, str, str, str]
"""Subject, predicate, object, and the id of the chunk that says so."""


class Verdict(StrEnum):
    PASS = "PASS"  # noqa: S105  # a verdict, no password
    REVISED = "REVISED"
    UNCONFIDENT = "UNCONFIDENT"


@dataclass(frozen=True, kw_only=True)
class Review:
    """`text` is the corrected answer of REVISED, standing on `quotes` of `cited`, or the question of UNCONFIDENT."""

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
    def _in_any_case(cls, status: object) -> object:
        return status.strip().upper() if isinstance(status, str) else status

    @model_validator(mode="before")
    @classmethod
    def _what_it_does_not_need(cls, said: object) -> object:
        """The published contract leaves out what a verdict does not need."""
        return {"answer": "", "citations": [], "question": "", **said} if isinstance(said, dict) else said

    @model_validator(mode="after")
    def _what_it_needs(self) -> Self:
        if self.status is Verdict.REVISED and not self.answer.strip():
            raise ValueError("a REVISED review needs the corrected answer")
        if self.status is Verdict.REVISED and not self.numbers:
            raise ValueError("a REVISED review needs at least one citation")
        if self.status is Verdict.UNCONFIDENT and not self.question.strip():
            raise ValueError("an UNCONFIDENT review needs a new question")
        return self

    @property
    def numbers(self) -> list[int]:
        """Of the citations, wherever they were written."""
        return [*self.citations, *cited_numbers(self.answer)]


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
    """`facts` are shown with the numbers of their passages; `chunks` are ids of those that the answer stands on."""
    call = Call(
        prompt=load_prompt("reasoning.actions.judging", "review"),
        question=question,
        variables={
            "question": neutral(question),
            "answer": fenced("answer", answer or UNKNOWN),
            "facts": _facts_block(facts, passages),
        },
        passages=passages,
        chunks=frozenset(chunks),
        step=step,
    )
    said, shown = await session.structured(call, _Reviewed)
    if said.status is Verdict.PASS:
        return Review(verdict=said.status)
    if said.status is Verdict.UNCONFIDENT:
        return Review(verdict=said.status, text=said.question.strip())
    text = plain_answer(said.answer)
    cited = cited_hits(session, said.numbers, shown, step)
    quotes = tuple(best_quote(hit, text, question) for hit in cited)
    return Review(verdict=said.status, text=text, cited=cited, quotes=quotes)


def _facts_block(facts: Sequence[Fact], passages: Sequence[Hit]) -> str:
    """What is said by passages that are shown; the rest has no number to be cited by."""
    numbers = {hit.chunk.id: number for number, hit in enumerate(passages, start=1)}
    lines = [
        f"[{numbers[chunk]}] {' '.join(f'{subject} — {predicate} — {object}'.split())}"
        for subject, predicate, object, chunk in facts
        if chunk in numbers
    ]
    return fenced("facts", "\n".join(lines)) if lines else ""
