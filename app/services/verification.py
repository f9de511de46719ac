"""Verifies an answer for `questions`: masks documents in the corpora that they are of, and asks the question again."""

from collections.abc import Collection, Mapping
from dataclasses import replace

from app.container import Container
from app.services.metering import count_tokens
from core.budget import Budget
from core.ports.reasoning import Answer, Question, Reasoner
from core.ports.retrieval import QueryPart
from core.trace import Trace
from core.usage import Usage
from core.verification import (
    Verdict,
    VerdictEvent,
    Verification,
    VerificationCost,
    VerifiedEvent,
    VerifyingEvent,
)
from reasoning.verification import Compare, GivenAnswer, estimate_cost, read_answer, verify_answer

__all__ = ["estimate_verification", "verify_given"]

_AT_ONCE = 8
"""The most runs of one verification at the same time. Each also searches in this process."""

_Key = tuple[str, str]


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

    `compare` is None if the reasoner asks no model. The calls are limited by `budget`, and counted apart from those of
    `trace`, which is that of the question: it has the expected cost, each verdict as it is known, and the verification.
    """

    def tell(verdict: Verdict) -> None:
        trace.emit(VerdictEvent(verdict=verdict))

    if (cost := estimate_cost(given)) is not None:
        trace.emit(VerifyingEvent(answer=given.text, support=given.support, cost=cost))
    own = Trace(budget=budget)
    admitted = await _list_documents(container, question, given)

    async def ask_without(masked: frozenset[_Key], run: Trace) -> Answer:
        return await reasoner.answer(_mask(question, admitted, masked), run)

    with trace.timed("verify"), count_tokens(container, own):
        at_once = min(container.settings.llm.concurrency, _AT_ONCE)
        verification = await verify_answer(
            question.text, given, ask_without, compare, own, at_once=at_once, on_verdict=tell
        )
    trace.emit(VerifiedEvent(verification=verification))
    return verification


async def _list_documents(container: Container, question: Question, given: GivenAnswer) -> Mapping[str, frozenset[str]]:
    """Returns the documents that the question may be answered from, of each corpus in which one is masked, by name.

    Those of a question without a filter are read once: only the documents of the answer are left out and added again.
    """
    found: dict[str, frozenset[str]] = {}
    for part in _parts(question):
        cited = [one.located.document.id for one in given.documents if one.located.corpus == part.corpus.name]
        if part.documents is not None:
            found[part.corpus.name] = part.documents
        elif cited:
            others = await container.select_documents(part.corpus, {"$id": {"$nin": cited}})
            found[part.corpus.name] = frozenset(cited).union(others or ())
    return found


def _mask(question: Question, admitted: Mapping[str, frozenset[str]], masked: Collection[_Key]) -> Question:
    """Returns the question over all documents but those that are masked, each in its own corpus only."""
    parts = []
    for part in _parts(question):
        ids = frozenset(id for corpus, id in masked if corpus == part.corpus.name)
        parts.append(replace(part, documents=admitted[part.corpus.name] - ids) if ids else part)
    restricted = [part.documents for part in parts if part.documents is not None]
    return replace(
        question,
        documents=frozenset[str]().union(*restricted) if restricted else None,
        parts=tuple(parts) if question.parts else (),
        masked=question.documents is None,
    )


def _parts(question: Question) -> tuple[QueryPart, ...]:
    return question.parts or (QueryPart(corpus=question.corpus, documents=question.documents),)
