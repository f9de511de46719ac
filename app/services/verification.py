"""Verifies an answer for `questions`: masks documents in the corpora that they are of, and asks the question again."""

import asyncio
from collections.abc import Collection
from dataclasses import replace

from app.container import Container
from core.events import SearchEvent
from core.ports.reasoning import Answer, Question, Reasoner
from core.ports.retrieval import QueryPart
from core.trace import Budget, Event, Trace, Usage
from core.verification import (
    Verdict,
    VerdictEvent,
    Verification,
    VerificationCost,
    VerifiedEvent,
    VerifyingEvent,
)
from reasoning.verification import Compare, GivenAnswer, estimate_cost, read_answer, verify_answer

_AT_ONCE = 8
"""The most runs of one verification at the same time. Each also searches in this process."""


def estimate_verification(answer: Answer, usage: Usage) -> VerificationCost | None:
    """Returns what a verification of the answer would cost; None if there is nothing to mask. `usage` is its own."""
    return estimate_cost(read_answer(answer, usage))


async def verify_given(
    container: Container,
    question: Question,
    given: GivenAnswer,
    reasoner: Reasoner,
    trace: Trace,
    *,
    compare: Compare | None,
    budget: Budget,
) -> Verification:
    """Returns what each document is to an answer that `reasoner` gave to `question`.

    `compare` is None if the reasoner asks no model. The calls are limited by `budget`, and counted apart from the calls
    of `trace`, the trace of the question: it has the expected cost, each verdict as it is known, and the verification.
    """

    def tell(verdict: Verdict) -> None:
        trace.emit(VerdictEvent(verdict=verdict))

    if (cost := estimate_cost(given)) is not None:
        trace.emit(VerifyingEvent(answer=given.text, support=given.support, cost=cost))
    own = Trace(budget=budget)
    masks = Masks(container, question)

    retrieved: set[tuple[str, str]] = set()

    def collect(event: Event) -> None:
        if isinstance(event, SearchEvent):
            retrieved.update((hit.corpus, hit.document.id) for hit in event.hits if hit.url is None)

    async def ask_without(masked: frozenset[tuple[str, str]], run: Trace) -> Answer:
        run.listeners.append(collect)
        return await reasoner.answer(await masks.mask(masked), run)

    with trace.timed("verify"), container.count_tokens(own):
        at_once = min(container.settings.llm.concurrency, _AT_ONCE)
        verification = await verify_answer(
            question.text, given, ask_without, compare, own, at_once=at_once, on_verdict=tell
        )
    verification = replace(verification, retrieved=frozenset(retrieved))
    trace.emit(VerifiedEvent(verification=verification))
    return verification


class Masks:
    """Makes the question without some documents. What a corpus has is read once, when a document of it is masked."""

    def __init__(self, container: Container, question: Question) -> None:
        self._container = container
        self._question = question
        self._admitted: dict[str, frozenset[str]] = {}
        self._reading = asyncio.Lock()

    async def mask(self, masked: Collection[tuple[str, str]]) -> Question:
        """Returns the question over all documents but those, given by corpus and id; each in its own corpus only."""
        question = self._question
        parts = []
        for part in question.parts or (QueryPart(corpus=question.corpus, documents=question.documents),):
            ids = frozenset(id for corpus, id in masked if corpus == part.corpus.name)
            parts.append(replace(part, documents=await self._list(part) - ids) if ids else part)
        restricted = [part.documents for part in parts if part.documents is not None]
        return replace(
            question,
            documents=frozenset[str]().union(*restricted) if restricted else None,
            parts=tuple(parts) if question.parts else (),
            masked=question.documents is None,
        )

    async def _list(self, part: QueryPart) -> frozenset[str]:
        """Returns the documents that the question may be answered from."""
        if part.documents is not None:
            return part.documents
        async with self._reading:
            if part.corpus.name not in self._admitted:
                found = await self._container.select_documents(part.corpus, {})
                self._admitted[part.corpus.name] = frozenset(found or ())
        return self._admitted[part.corpus.name]
