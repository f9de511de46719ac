"""The differences between a revision and the stored chunks of its document, read before anything is written."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.ports.record import ChunkRow, Commit
from core.record_policy.commits import compare_chunks, joined_names
from stores.neo4j.driver.database import Row, Transaction
from stores.neo4j.driver.node_uids import document_uid, uid_of
from stores.neo4j.driver.statements import statements

__all__ = ["Change", "chunk_properties", "read_changes"]

_CONSTANT = {"uid", "corpus_id", "id", "document_id", "text", "first", "last"}


@dataclass(frozen=True, kw_only=True)
class Change:
    """What a revision changes of its document, which exists.

    `new` chunks are not stored yet. `changed` chunks are stored and need another graph or view entry; `replaced` are
    their stored rows by id. The other chunks are kept; `updates` are those of their properties that differ, with their
    uids. `deleted` are the rows of stored chunks that the revision lacks. `written` are the ids of the chunks that
    snapshots do not hold as they are now. `current` is the number of the current revision, if there is one.
    """

    commit: Commit
    current: int | None
    new: Sequence[ChunkRow]
    changed: Sequence[ChunkRow]
    replaced: Mapping[str, Row]
    updates: Sequence[Mapping[str, Any]]
    deleted: Sequence[Row]
    written: frozenset[str]

    @property
    def uid(self) -> str:
        """The uid of the document."""
        return document_uid(self.commit.claim)

    @property
    def outdated(self) -> list[str]:
        """The uids of the stored chunks that the revision deletes or replaces."""
        return sorted(row["uid"] for row in (*self.deleted, *self.replaced.values()))


def read_changes(tx: Transaction, commits: Sequence[Commit]) -> list[Change]:
    """Returns the changes of the commits whose documents exist. The document of a valid claim always exists."""
    uids = sorted(document_uid(one.claim) for one in commits)
    documents = {row["uid"]: row for row in tx.rows_in_batches(statements("commits")["documents"], uids)}
    stored: dict[str, dict[str, Row]] = {uid: {} for uid in uids}
    for row in tx.rows_in_batches(statements("commits")["chunks"], uids):
        stored[row["document"]][row["chunk"]["id"]] = row["chunk"]
    return [
        _change(one, documents[uid], stored[uid])
        for one, uid in ((one, document_uid(one.claim)) for one in commits)
        if uid in documents
    ]


def _change(one: Commit, document: Row, stored: Mapping[str, Row]) -> Change:
    chunks = {row.chunk.id: row for row in one.chunks}
    changes = compare_chunks(stored, chunks.values(), is_hidden=document["hidden"])
    return Change(
        commit=one,
        current=document["current"],
        new=[row for id, row in chunks.items() if id in changes.made],
        changed=[row for id, row in chunks.items() if id in changes.changed],
        replaced={id: stored[id] for id in chunks if id in changes.changed},
        updates=[
            {"uid": stored[id]["uid"], **update}
            for id, row in chunks.items()
            if id in changes.kept and (update := _update(stored[id], chunk_properties(one.claim.corpus_id, row)))
        ],
        deleted=[row for id, row in stored.items() if id in changes.deleted],
        written=frozenset(changes.logged),
    )


def _update(stored: Row, properties: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the properties of a stored chunk that differ."""
    return {name: value for name, value in properties.items() if name not in _CONSTANT and stored.get(name) != value}


def chunk_properties(corpus_id: str, row: ChunkRow) -> dict[str, Any]:
    """Returns the properties of a chunk's node, except `first` and `last`."""
    chunk = row.chunk
    return {
        "uid": uid_of(corpus_id, chunk.id),
        "corpus_id": corpus_id,
        "id": chunk.id,
        "document_id": chunk.document_id,
        "view_id": chunk.view_id,
        "view_uid": uid_of(corpus_id, chunk.view_id),
        "position": chunk.position,
        "title_names": joined_names(row),
        "terms": row.terms,
        "text": chunk.text,
        "heading": chunk.heading,
        "page": chunk.page,
        "span_start": chunk.span.start if chunk.span else None,
        "span_end": chunk.span.end if chunk.span else None,
        "extract_hash": row.extract_hash,
        "tokens": row.tokens,
    }
