"""Evidence for a text: passages near it, and passages and facts around the entities that it names.

The source is PAR RAG (arXiv 2504.16787), section 3.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

from core.ports.retrieval import Hit, Searcher
from reasoning.actions.judging.review import Fact
from reasoning.actions.queries.query_entities import query_entities
from reasoning.engine.session import Session

__all__ = ["FineEvidence", "find_evidence", "interleave"]


@dataclass(frozen=True, kw_only=True)
class FineEvidence:
    """Passages of both searches, best first, and the facts that these passages state."""

    hits: tuple[Hit, ...]
    facts: tuple[Fact, ...]


async def find_evidence(
    session: Session, text: str, k: int, fine: tuple[str, Searcher], *, step: str, chunks: Collection[str] = ()
) -> FineEvidence:
    """Returns at most `k` passages of two searches, E(text) + KG(text) in the paper, interleaved.

    The session's searcher gets the text, and `fine` the entities that a model finds in it. If the model finds none,
    `fine` looks for names itself. `chunks` are ids of the chunks whose words the text holds.
    """
    entities = await query_entities(session, text, step=step, chunks=chunks)
    near = await session.search(text, k, step=step)
    around = await session.search_fully(text, k, step=step, searcher=fine, entities=entities or None)
    hits = interleave((near, around.hits), k)
    shown = {hit.chunk.id for hit in hits}
    return FineEvidence(hits=hits, facts=tuple(fact for fact in around.facts if fact[3] in shown))


def interleave(rankings: Sequence[Sequence[Hit]], k: int) -> tuple[Hit, ...]:
    """Returns the first hit of each ranking, then the second of each, and so on; each chunk once, at most `k`."""
    ranks = chain.from_iterable(zip_longest(*rankings))
    first: dict[str, Hit] = {}
    for hit in ranks:
        if hit is not None:
            first.setdefault(hit.chunk.id, hit)
    return tuple(first.values())[:k]
