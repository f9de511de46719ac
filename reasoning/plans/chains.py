"""Answered steps as what later calls are told of them."""

from collections.abc import Sequence
from dataclasses import replace

from core.ports.reasoning import Step
from reasoning.actions.answers.answer import KnownAnswer

__all__ = ["UNKNOWN", "chunks_of", "known_of", "pairs"]

UNKNOWN = "(not found)"
"""Stands where a step has no answer, so that no later call takes the silence for one."""


def known_of(step: Step) -> KnownAnswer:
    """A step's question and answer, with its quotes."""
    return KnownAnswer(question=step.question, answer=step.answer or UNKNOWN, quotes=step.quotes)


def pairs(known: Sequence[KnownAnswer]) -> list[KnownAnswer]:
    """The questions and answers alone; pass `chunks_of` them along, since the answers are still those chunks' words."""
    return [replace(one, quotes=()) for one in known]


def chunks_of(known: Sequence[KnownAnswer]) -> frozenset[str]:
    """Ids of the chunks of the corpus that the answers stand on."""
    return frozenset(quote.hit.chunk.id for one in known for quote in one.quotes if quote.hit.url is None)
