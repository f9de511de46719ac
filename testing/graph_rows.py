"""Columns of a graph as rows of ids again, to be read and compared."""

from typing import Any, NamedTuple

from core.ports.record import GraphChunk, GraphRows

__all__ = ["Told", "told"]


class Told(NamedTuple):
    """Each ascending. Mentions are (chunk, entity), facts (chunk, subject, object), synonyms end in the cosine."""

    chunks: list[GraphChunk]
    entities: list[tuple[str, str]]
    mentions: list[tuple[str, str]]
    facts: list[tuple[str, str, str]]
    synonyms: list[tuple[str, str, float]]


def told(rows: GraphRows) -> Told:
    chunks = [chunk.id for chunk in rows.chunks]
    entities = [id.decode() for id in rows.entity_ids.tolist()]
    linked: Any = zip(rows.synonyms.tolist(), rows.scores.tolist(), strict=True)
    return Told(
        chunks=sorted(rows.chunks),
        entities=sorted(zip(entities, rows.names, strict=True)),
        mentions=sorted((chunks[c], entities[e]) for c, e in rows.mentions.tolist()),
        facts=sorted((chunks[c], entities[s], entities[o]) for c, s, o in rows.facts.tolist()),
        synonyms=sorted((entities[a], entities[b], score) for (a, b), score in linked),
    )
