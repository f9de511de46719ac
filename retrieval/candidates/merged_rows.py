"""Rows of the record with the entities that they are about after merges, as a snapshot has them."""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TypeVar

from core.ports.record import Contents, FactRow, TripleRow
from retrieval.graph.snapshot import GraphSnapshot

__all__ = ["read_display_names", "read_facts_of", "read_triples"]

Row = TypeVar("Row", FactRow, TripleRow)


async def read_display_names(
    entity_ids: Collection[str], snapshot: GraphSnapshot, corpus_id: str, contents: Contents
) -> dict[str, str]:
    """Returns the display names of entities by id.

    An entity that no passage mentions by its own name has that of the first entity that is merged into it. Without any,
    it is left out.
    """
    shown = await contents.get_entities(corpus_id, entity_ids)
    names = {id: entity.display for id, entity in shown.items()}
    members = {id: snapshot.merges.members_of(id) for id in entity_ids if id not in names} if snapshot.merges else {}
    if any(members.values()):
        others = await contents.get_entities(corpus_id, [id for ids in members.values() for id in ids])
        for id, ids in members.items():
            if present := [one for one in ids if one in others]:
                names[id] = others[present[0]].display
    return names


async def read_facts_of(
    chunk_ids: Collection[str], snapshot: GraphSnapshot, corpus_id: str, contents: Contents
) -> list[FactRow]:
    """Returns the facts that these chunks assert, as `Contents.get_facts_of` does."""
    return await _resolve(await contents.get_facts_of(corpus_id, chunk_ids), snapshot, corpus_id, contents)


async def read_triples(
    triple_ids: Collection[str], snapshot: GraphSnapshot, corpus_id: str, contents: Contents
) -> dict[str, TripleRow]:
    """Returns triples by id, as `Contents.get_triples` does. The ids are those without merges."""
    found = await contents.get_triples(corpus_id, triple_ids)
    rows = await _resolve(list(found.values()), snapshot, corpus_id, contents)
    return dict(zip(found, rows, strict=True))


async def _resolve(rows: Sequence[Row], snapshot: GraphSnapshot, corpus_id: str, contents: Contents) -> list[Row]:
    ends = snapshot.merges.ends
    wanted = {ends[id] for row in rows for id in (row.subject_id, row.object_id) if id in ends}
    if not wanted:
        return list(rows)
    names = await read_display_names(sorted(wanted), snapshot, corpus_id, contents)

    def resolve(row: Row) -> Row:
        subject, object_ = ends.get(row.subject_id), ends.get(row.object_id)
        if subject is not None:
            row = replace(row, subject_id=subject, subject=names.get(subject, row.subject))
        if object_ is not None:
            row = replace(row, object_id=object_, object=names.get(object_, row.object))
        return row

    return [resolve(row) for row in rows]
