"""Merges of entities: reading and writing them in a transaction."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from core.graph import EntityMerge
from core.ids import merge_id
from core.ports.record import GraphMerge
from core.record_policy.merges import check_merge, entity_missing, merge_missing, select_adoptable
from stores.neo4j.commit.change_log import raise_generation
from stores.neo4j.driver.database import Transaction
from stores.neo4j.driver.node_uids import uid_of
from stores.neo4j.driver.statements import statements

__all__ = ["add_merge", "adopt_merges", "copy_merges", "delete_merge", "read_entity_merges", "read_merges"]


def read_merges(tx: Transaction, corpus_id: str) -> tuple[GraphMerge, ...]:
    """Returns the merges by the id of the merged entity."""
    return tuple(GraphMerge(*row[:4]) for row in tx.stream(statements("merges")["all"], prefix=uid_of(corpus_id, "")))


def read_entity_merges(tx: Transaction, corpus_id: str) -> list[EntityMerge]:
    """Returns the merges, the newest first."""
    found = [
        EntityMerge(
            id=merge_id(from_id, into_id),
            from_id=from_id,
            from_name=from_name,
            into_id=into_id,
            into_name=into_name,
            merged_at=datetime.fromtimestamp(merged_at, UTC),
        )
        for from_id, from_name, into_id, into_name, merged_at in tx.stream(
            statements("merges")["all"], prefix=uid_of(corpus_id, "")
        )
    ]
    return sorted(found, key=lambda merge: merge.merged_at, reverse=True)


def add_merge(tx: Transaction, corpus_id: str, from_id: str, into_id: str) -> EntityMerge:
    """Writes a merge. Raises as `EntityMerges.merge` does. The caller holds the lock of the corpus."""
    check_merge(_present(tx, corpus_id), from_id, into_id)
    uids = [uid_of(corpus_id, id) for id in (from_id, into_id)]
    names = {row["id"]: row["name"] for row in tx.rows(statements("merges")["names"], rows=uids)}
    for id in (from_id, into_id):
        if id not in names:
            raise entity_missing(id)
    _create(tx, corpus_id, [GraphMerge(from_id, names[from_id], into_id, names[into_id])])
    return _find(tx, corpus_id, merge_id(from_id, into_id))


def delete_merge(tx: Transaction, corpus_id: str, id: str) -> EntityMerge:
    """Deletes a merge, and returns it. Raises `NotFound`. The caller holds the lock of the corpus."""
    found = _find(tx, corpus_id, id)
    tx.run(statements("merges")["delete"], uid=uid_of(corpus_id, found.from_id))
    raise_generation(tx, corpus_id)
    return found


def adopt_merges(tx: Transaction, corpus_id: str, merges: Sequence[GraphMerge]) -> Sequence[GraphMerge]:
    """Writes merges as `EntityMerges.adopt` does. The caller holds the lock of the corpus."""
    added, refused = select_adoptable(_present(tx, corpus_id), merges)
    if added:
        _create(tx, corpus_id, added)
    return refused


def copy_merges(tx: Transaction, from_corpus: str, to_corpus: str) -> None:
    """Copies the merges of a corpus to another one, which has none. The caller holds the locks of both."""
    [row] = tx.rows(statements("merges")["copy"], prefix=uid_of(from_corpus, ""), to=to_corpus)
    if row["copied"]:
        raise_generation(tx, to_corpus)


def _present(tx: Transaction, corpus_id: str) -> Mapping[str, str]:
    return {merge.from_id: merge.into_id for merge in read_merges(tx, corpus_id)}


def _create(tx: Transaction, corpus_id: str, merges: Sequence[GraphMerge]) -> None:
    tx.run(statements("merges")["create"], corpus_id=corpus_id, rows=[merge._asdict() for merge in merges])
    raise_generation(tx, corpus_id)


def _find(tx: Transaction, corpus_id: str, id: str) -> EntityMerge:
    for merge in read_entity_merges(tx, corpus_id):
        if merge.id == id:
            return merge
    raise merge_missing(id)
