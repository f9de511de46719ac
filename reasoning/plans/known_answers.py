"""`KnownAnswer`: the answer of an earlier step, as later calls read it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.ports.reasoning import Quote, Step, Support
from reasoning.citations.quotes import passage_text

UNKNOWN = "(not found)"
"""Stands for a missing answer of a step, so that no later call takes an empty text for an answer."""


@dataclass(frozen=True, kw_only=True)
class KnownAnswer:
    """An earlier question with its answer, what the answer stands on, and the quotes that support it."""

    question: str
    answer: str
    quotes: tuple[Quote, ...] = ()
    support: Support = Support.STATED
    unstated: str = ""


def known_answer(step: Step) -> KnownAnswer:
    """Returns a step's question, answer and quotes; the answer is `UNKNOWN` if the step has none."""
    return KnownAnswer(
        question=step.question,
        answer=step.answer or UNKNOWN,
        quotes=step.quotes,
        support=step.support,
        unstated=step.unstated,
    )


def split_values(answer: str) -> list[str]:
    """Returns the values of an answer, mostly one."""
    return [value.strip() for value in answer.split(";") if value.strip()]


def without_quotes(known: Sequence[KnownAnswer]) -> list[KnownAnswer]:
    """Returns the questions and answers alone. A call must still name `chunk_ids_of` the originals, because the
    answers are words of those chunks.
    """
    return [replace(answer, quotes=()) for answer in known]


def list_marks(known: Sequence[KnownAnswer], asked: str) -> list[str]:
    """Returns how the marks of answers that are not stated begin, as `(inferred`.

    They must not get into the question that is made of `asked` and the answers. What `asked` holds itself is no mark.
    """
    marks = (f"({step.support}" for step in known if step.support in (Support.INFERRED, Support.MEMORY))
    return [mark for mark in dict.fromkeys(marks) if mark not in asked]


def list_evidence(known: Sequence[KnownAnswer]) -> list[str]:
    """Returns the texts that hold earlier answers: what was asked and answered, and the passages that are quoted."""
    passages = {quote.hit.chunk.id: passage_text(quote.hit) for step in known for quote in step.quotes}
    return [*(f"{step.question}\n{step.answer}" for step in known if step.answer != UNKNOWN), *passages.values()]


def chunk_ids_of(known: Sequence[KnownAnswer]) -> frozenset[str]:
    """Returns the ids of the chunks of the corpus that the answers quote; passages of the web are left out."""
    return frozenset(quote.hit.chunk.id for answer in known for quote in answer.quotes if quote.hit.url is None)
