"""Evidence of both grains for a text: passages near it, and passages and relations around the entities it names."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

from core.ports.retrieval import Hit, Searcher
from reasoning.actions.judging.review import Fact
from reasoning.actions.queries.query_entities import query_entities
from reasoning.engine.session import Session

__all__ = ["Evidence", "fine_evidence", "interleaved"]


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """Passages of both grains, best first; each fact is said by one of them."""

    hits: tuple[Hit, ...]
    facts: tuple[Fact, ...]


async def fine_evidence(
    session: Session, text: str, k: int, fine: tuple[str, Searcher], *, step: str, chunks: Collection[str] = ()
) -> Evidence:
    """E(text) + KG(text) of PAR RAG, section 3: the session's searcher, and `fine` from the entities of the text.

    Where a model finds none, the searcher looks for names itself. `chunks` are ids of those whose words the text holds.
    """
    entities = await query_entities(session, text, step=step, chunks=chunks)
    near = await session.search(text, k, step=step)
    around = await session.search_fully(text, k, step=step, searcher=fine, entities=entities or None)
    hits = interleaved((near, around.hits), k)
    shown = {hit.chunk.id for hit in hits}
    return Evidence(hits=hits, facts=tuple(fact for fact in around.facts if fact[3] in shown))


def interleaved(rankings: Sequence[Sequence[Hit]], k: int) -> tuple[Hit, ...]:
    """The first of each ranking, then the second of each, and so on; each chunk once, at most `k`."""
    ranks = chain.from_iterable(zip_longest(*rankings))
    first: dict[str, Hit] = {}
    for hit in ranks:
        if hit is not None:
            first.setdefault(hit.chunk.id, hit)
    return tuple(first.values())[:k]
