"""Evidence for a text: passages near it, and passages and facts around the entities that it names.

The source is PAR RAG (arXiv 2504.16787), section 3.
"""

from collections.abc import Collection, Iterable, Sequence
from itertools import chain, zip_longest
from typing import Literal

from core.ports.retrieval import Fact, Hit, Searcher
from reasoning.actions.judging.review import Evidence
from reasoning.actions.queries.search_queries import query_entities
from reasoning.engine.session import Session

__all__ = ["Merge", "add_evidence", "find_evidence", "interleave", "sort_by_scores"]

_MAX_FACTS = 10

Merge = Literal["rank", "score"]
"""How the hits of two searches become one ranking: in turn, or by their scores as `sort_by_scores` does."""


async def find_evidence(
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
    """Returns the evidence of two searches as one, so that what is split between them is read together.

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
