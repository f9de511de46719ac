"""The review of a preliminary answer against finer evidence, repeated until it passes or is corrected.

The source is PAR RAG (arXiv 2504.16787), section 3.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace

from core.events import ReviewEvent
from core.ports.reasoning import Support
from core.ports.retrieval import Searcher
from reasoning.actions.answers.answer import CitedAnswer
from reasoning.actions.judging.review import Verdict, review
from reasoning.engine.session import Session
from reasoning.shared.fine_evidence import find_evidence

__all__ = ["ReviewSettings", "review_answer"]


@dataclass(frozen=True, kw_only=True)
class ReviewSettings:
    """`k` passages of evidence, from the session's searcher and `fine`; at most `rounds` reviews after the first."""

    k: int
    fine: tuple[str, Searcher]
    rounds: int


async def review_answer(
    session: Session,
    question: str,
    answer: CitedAnswer,
    settings: ReviewSettings,
    *,
    step: str,
    chunks: Collection[str] = (),
) -> tuple[CitedAnswer, str]:
    """Returns the answer after its review, and the verdict. `chunks` are ids of chunks whose words it may hold.

    Evidence is searched for with the answer itself, or, if there was no answer, with the question and the
    answer; after an unconfident review, with the question that it asks. If the last review is unconfident, the answer
    is kept and a note says so.
    """
    query = answer.text if answer.found else f"{question} {answer.text}".strip()
    words_of = {*chunks, *(hit.chunk.id for hit in answer.shown)}
    for _ in range(1 + settings.rounds):
        evidence = await find_evidence(session, query, settings.k, settings.fine, step=step, chunks=words_of)
        if not evidence.hits:
            session.trace.note(f"step {step}: nothing was found to review its answer with")
            return answer, ""
        result = await review(
            session, question, answer.text, evidence.hits, facts=evidence.facts, step=step, chunks=words_of
        )
        session.trace.emit(ReviewEvent(verdict=result.verdict, text=result.text, step=step))
        if result.verdict is Verdict.PASS:
            return answer, result.verdict
        if result.verdict is Verdict.REVISED:
            corrected = replace(
                answer,
                text=result.text,
                support=Support.STATED,
                unstated="",
                cited=result.cited,
                quotes=result.quotes,
            )
            return corrected, result.verdict
        query = result.text
        words_of.update(hit.chunk.id for hit in evidence.hits)
    session.trace.note(f"step {step}: the review stayed unconfident, and its answer was kept")
    return answer, Verdict.UNCONFIDENT
