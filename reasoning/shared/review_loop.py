"""The review of a preliminary answer against finer evidence, repeated until it passes or is corrected.

Finer evidence are passages near the answer, and passages and facts around the entities that it names.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import Literal

from core.events import ReviewEvent
from core.ports.retrieval import Fact, Hit, Searcher
from core.text.names import normalise
from reasoning.actions.answers.answer import AnswerWithStatement, CitedAnswer
from reasoning.actions.judging.judgements import Evidence, Review, Verdict, review
from reasoning.actions.queries.search_queries import query_entities
from reasoning.engine.session import Session
from reasoning.plans.known_answers import KnownAnswer

_MAX_FACTS = 10

Merge = Literal["rank", "score"]
"""How the hits of two searches become one ranking: in turn, or by their scores as `sort_by_scores` does."""


async def _find_evidence(
    session: Session,
    text: str,
    k: int,
    fine: tuple[str, Searcher],
    *,
    step: str,
    chunks: Collection[str] = (),
    merge: Merge = "rank",
) -> Evidence:
    """Returns at most `k` passages of two searches, E(text) + KG(text) in the paper, with their facts.

    The session's searcher gets the text, and `fine` the entities that a model finds in it. If the model finds none,
    `fine` looks for names itself. `chunks` are ids of the chunks whose words the text holds.
    """
    entities = await query_entities(session, text, step=step, chunks=chunks)
    near = await session.search_fully(text, k, step=step)
    around = await session.search_fully(text, k, step=step, searcher=fine, entities=entities or None)
    merged = sort_by_scores if merge == "score" else interleave
    hits = merged((near.hits, around.hits), k)
    return Evidence(hits=hits, facts=_select_facts(hits, (*around.facts, *near.facts)))


def add_evidence(earlier: Evidence, later: Evidence, cited: Sequence[Hit], k: int, asked: str = "") -> Evidence:
    """Joins the evidence of two searches, so that what is split between them is read together.

    The `cited` passages come first, then both searches interleaved, at most `k` in all.
    """
    both = interleave((earlier.hits, later.hits), len(earlier.hits) + len(later.hits))
    hits = _distinct((*cited, *both))[:k]
    return Evidence(hits=hits, facts=_select_facts(hits, (*later.facts, *earlier.facts)), asked=asked)


def interleave(rankings: Sequence[Sequence[Hit]], k: int) -> tuple[Hit, ...]:
    """Returns the first hit of each ranking, then the second of each, and so on; each chunk once, at most `k`."""
    ranks = chain.from_iterable(zip_longest(*rankings))
    return _distinct(hit for hit in ranks if hit is not None)[:k]


def sort_by_scores(rankings: Sequence[Sequence[Hit]], k: int) -> tuple[Hit, ...]:
    """Returns the hits of all rankings by score, highest first; each chunk once, with its highest score, at most `k`.

    The paper merges the results of its searches and sorts them by score (section 3.3). One search gives cosines and
    the other PageRank masses, and the paper does not say how it makes them comparable. Here each ranking is scaled
    between the least (0) and the greatest (1) of its scores, as HippoRAG's code scales both over all passages. A
    ranking without two different scores is scaled to 1. Equal scores keep the order of the rankings.
    """
    best: dict[str, tuple[float, Hit]] = {}
    for ranking in rankings:
        for score, hit in zip(_scale([hit.score for hit in ranking]), ranking, strict=True):
            known = best.get(hit.chunk.id)
            if known is None or score > known[0]:
                best[hit.chunk.id] = (score, hit)
    return tuple(hit for _, hit in sorted(best.values(), key=lambda scored: -scored[0]))[:k]


def _scale(scores: Sequence[float]) -> list[float]:
    least, most = min(scores, default=0.0), max(scores, default=0.0)
    return [(score - least) / (most - least) if most > least else 1.0 for score in scores]


def _distinct(hits: Iterable[Hit]) -> tuple[Hit, ...]:
    first: dict[str, Hit] = {}
    for hit in hits:
        first.setdefault(hit.chunk.id, hit)
    return tuple(first.values())


def _select_facts(hits: Sequence[Hit], facts: Iterable[Fact]) -> tuple[Fact, ...]:
    """Returns the first facts that these hits assert, each once."""
    shown = {hit.chunk.id for hit in hits}
    first: dict[tuple[str, str, str], Fact] = {}
    for fact in facts:
        if fact.chunk_id in shown:
            first.setdefault((fact.subject, fact.predicate, fact.object), fact)
    return tuple(first.values())[:_MAX_FACTS]


@dataclass(frozen=True, kw_only=True)
class ReviewSettings:
    """Where evidence is searched for, beside the session's searcher, and how much of it is read.

    A review reads `evidence` passages, or `k` if the answer is missing. At most `rounds` reviews follow the first.
    `purpose` is the question that the reviewed question serves. `query` tells what evidence is searched for with: the
    question and the answer, or the answer alone. `merge` tells how the hits of both searches become one ranking. With
    `cited`, the passages that the answer cites are read before the evidence.
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

    - Searches use the statement in place of the answer, or what is missing if there is no answer.
    - After an unconfident review, evidence is searched for with the question that the review asks.
    - The loop ends if this question was searched for already, or finds nothing new.
    - If the last review is unconfident, the answer is kept as an answer that no passage states.
    """
    query = _first_query(question, answer, settings)
    cited = answer.answer.cited if settings.cited else ()
    searched, words_of = {normalise(question), normalise(query)}, {*chunks, *_chunk_ids(answer.answer.shown)}
    evidence, reviewed = Evidence(), Review(verdict=Verdict.UNCONFIDENT, answer=answer.answer)
    asked, most = "", settings.evidence if answer.answer.found else settings.k
    for _ in range(1 + settings.rounds):
        found = await _find_evidence(
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
