"""A preliminary answer against finer evidence, as often as allowed, until it passes or is corrected."""

from collections.abc import Collection
from dataclasses import dataclass, replace

from core.events import ReviewEvent
from core.ports.retrieval import Searcher
from reasoning.actions.answers.answer import Cited
from reasoning.actions.judging.review import Verdict, review
from reasoning.engine.session import Session
from reasoning.shared.fine_evidence import fine_evidence

__all__ = ["ANSWERED", "INSUFFICIENT", "Reviewing", "reviewed"]

ANSWERED = "answered"
"""The verdict on an answer that nothing was held against."""
INSUFFICIENT = "insufficient"
"""The verdict on a step whose passages did not hold its answer."""


@dataclass(frozen=True, kw_only=True)
class Reviewing:
    """`k` passages of evidence, from the session's searcher and `fine`; up to `rounds` more reviews."""

    k: int
    fine: tuple[str, Searcher]
    rounds: int


async def reviewed(
    session: Session, question: str, said: Cited, how: Reviewing, *, step: str, chunks: Collection[str] = ()
) -> tuple[Cited, str]:
    """The answer that stands after its review, and the verdict. `chunks` are ids of those whose words it may hold.

    Evidence is looked for with the answer itself; where that does not suffice, with the question and what was said;
    later with the question of an unconfident review. One that stays unconfident keeps the answer, and a note says so.
    """
    query = said.text if said.sufficient else f"{question} {said.text}".strip()
    words_of = {*chunks, *(hit.chunk.id for hit in said.shown)}
    for _ in range(1 + how.rounds):
        evidence = await fine_evidence(session, query, how.k, how.fine, step=step, chunks=words_of)
        if not evidence.hits:
            session.trace.note(f"step {step}: nothing was found to review its answer with")
            return said, ANSWERED if said.sufficient else INSUFFICIENT
        result = await review(
            session, question, said.text, evidence.hits, facts=evidence.facts, step=step, chunks=words_of
        )
        session.trace.emit(ReviewEvent(verdict=result.verdict, text=result.text, step=step))
        if result.verdict is Verdict.PASS:
            return said, result.verdict if said.sufficient else INSUFFICIENT
        if result.verdict is Verdict.REVISED:
            corrected = replace(said, text=result.text, sufficient=True, cited=result.cited, quotes=result.quotes)
            return corrected, result.verdict
        query = result.text
        words_of.update(hit.chunk.id for hit in evidence.hits)
    session.trace.note(f"step {step}: the review stayed unconfident, and its answer was kept")
    return said, Verdict.UNCONFIDENT
