"""The passages before and after each hit in its document."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.documents import Chunk
from core.ports.record import Contents
from core.ports.retrieval import Hit

__all__ = ["Surrounded", "add_neighbours"]


@dataclass(frozen=True, kw_only=True)
class Surrounded:
    """A hit with neighbours, in reading order."""

    hit: Hit
    before: tuple[Chunk, ...] = ()
    after: tuple[Chunk, ...] = ()


async def add_neighbours(hits: Sequence[Hit], corpus_id: str, contents: Contents, distance: int) -> list[Surrounded]:
    """Returns each hit with the passages that are at most `distance` away in its document, each passage once.

    A passage that is a hit is no neighbour, and one that is near several hits is a neighbour of the first. Hit and
    neighbours are of one revision: a hit whose passage is no longer there, or is from the web, has none.
    """
    ids = [hit.chunk.id for hit in hits if hit.url is None]
    found = await contents.get_surroundings(corpus_id, ids, distance) if distance and ids else {}
    shown = set(ids)
    surrounded: list[Surrounded] = []
    for hit in hits:
        near = found.get(hit.chunk.id, [])
        here = next((chunk for chunk in near if chunk.id == hit.chunk.id), hit.chunk)
        others = [chunk for chunk in near if chunk.id not in shown]
        shown.update(chunk.id for chunk in others)
        surrounded.append(
            Surrounded(
                hit=replace(hit, chunk=here),
                before=tuple(chunk for chunk in others if chunk.position < here.position),
                after=tuple(chunk for chunk in others if chunk.position > here.position),
            )
        )
    return surrounded
