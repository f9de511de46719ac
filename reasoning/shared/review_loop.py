"""The review of a preliminary answer against finer evidence, repeated until it passes or is corrected.

The source is PAR RAG (arXiv 2504.16787), section 3.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from core.events import ReviewEvent
from core.ports.retrieval import Hit, Searcher
from core.text.names import normalise
from reasoning.actions.answers.answer import AnswerWithStatement, CitedAnswer
from reasoning.actions.judging.review import Evidence, Review, Verdict, review
from reasoning.engine.session import Session
from reasoning.plans.known_answers import KnownAnswer
from reasoning.shared.fine_evidence import Merge, add_evidence, find_evidence

__all__ = ["ReviewSettings", "review_answer"]


@dataclass(frozen=True, kw_only=True)
class ReviewSettings:
    """Where evidence is searched for, beside the session's searcher, and how much of it is read.

    A review reads `evidence` passages, or `k` if the answer is missing. At most `rounds` reviews follow the first.
    `purpose` is the question that the reviewed one serves. `query` is what evidence is searched for with: the question
    and the answer, or the answer alone. `merge` is how the hits of both searches become one ranking. With `cited`, the
    passages that the answer cites are read before the evidence.
    """

    k: int
    evidence: int
    fine: tuple[str, Searcher]
    rounds: int
    purpose: str
    query: Literal["both", "answer"] = "both"
    merge: Merge = "rank"
    cited: bool = True


async def review_answer(
    session: Session,
    question: str,
    answer: AnswerWithStatement,
    settings: ReviewSettings,
    *,
    step: str,
    known: Sequence[KnownAnswer] = (),
    chunks: Collection[str] = (),
) -> tuple[CitedAnswer, str]:
    """Returns the answer after its review, and the verdict. `chunks` are ids of chunks whose words it may hold.

    The statement of an answer stands for it in searches; for a missing answer, what is missing does. After an
    unconfident review, evidence is searched for with the question that it asks. The last review decides: if it is
    unconfident, the answer is kept as one that no passage states. A question that was searched for already, or that
    finds nothing new, is not reviewed again.
    """
    query = _first_query(question, answer, settings)
    cited = answer.answer.cited if settings.cited else ()
    searched, words_of = {normalise(question), normalise(query)}, {*chunks, *_chunk_ids(answer.answer.shown)}
    evidence, reviewed = Evidence(), Review(verdict=Verdict.UNCONFIDENT, answer=answer.answer)
    asked, most = "", settings.evidence if answer.answer.found else settings.k
    for _ in range(1 + settings.rounds):
        found = await find_evidence(
            session, query, most, settings.fine, step=step, chunks=words_of, merge=settings.merge
        )
        both = add_evidence(evidence, found, cited, most, asked)
        if not both.hits:
            session.trace.note(f"step {step}: nothing was found to review its answer with")
            return answer.answer, ""
        if _chunk_ids(both.hits) == _chunk_ids(evidence.hits):
            break
        evidence = both
        reviewed = await review(
            session,
            question,
            answer,
            evidence,
            purpose=settings.purpose,
            step=step,
            known=known,
            chunks=words_of,
        )
        _emit(session, reviewed, answer.answer, step)
        asked = query = reviewed.question
        if reviewed.verdict is not Verdict.UNCONFIDENT:
            return reviewed.answer, reviewed.verdict
        if not query or normalise(query) in searched:
            break
        searched.add(normalise(query))
        words_of |= _chunk_ids(evidence.hits)
    session.trace.note(f"step {step}: its review stayed unconfident, and its answer was kept")
    return reviewed.answer, reviewed.verdict


def _emit(session: Session, reviewed: Review, before: CitedAnswer, step: str) -> None:
    after = reviewed.answer.text
    text = reviewed.question if reviewed.verdict is Verdict.UNCONFIDENT else after
    text = "" if reviewed.verdict is Verdict.PASS else text
    session.trace.emit(ReviewEvent(verdict=reviewed.verdict, text=text, step=step, before=before.text, after=after))


def _first_query(question: str, answer: AnswerWithStatement, settings: ReviewSettings) -> str:
    """Returns what the first evidence is searched for with; the question if the answer says nothing at all."""
    said = answer.statement or _without_statement(answer.answer)
    if settings.query == "answer" and said:
        return said
    return " ".join(filter(None, (question, said)))


def _without_statement(answer: CitedAnswer) -> str:
    return answer.text if answer.found else answer.unstated


def _chunk_ids(hits: Sequence[Hit]) -> set[str]:
    return {hit.chunk.id for hit in hits}
