"""What a revision changes of its document, found before anything is written."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from core.ports.record import ChunkRow, Commit
from stores.neo4j.commit.chunk_rows import differs, is_kept, properties
from stores.neo4j.driver.batched import rows_of
from stores.neo4j.driver.database import Row, Transaction
from stores.neo4j.driver.statements import statements
from stores.neo4j.driver.uids import document_uid

__all__ = ["Replacement", "read_replacements"]

_SEEN = {"position", "title_names", "terms"}  # what snapshots hold of a chunk


@dataclass(frozen=True, kw_only=True)
class Replacement:
    """`made` chunks are new; `changed` ones are there and need another graph or view; of the others, which are kept,
    `moved` has the properties that differ. `gone` are the rows of chunks that go, `before` those of changed ones.
    `put` are the ids of the chunks that snapshots do not know as they are now.
    """

    commit: Commit
    current: int | None
    made: Sequence[ChunkRow]
    changed: Sequence[ChunkRow]
    moved: Sequence[Mapping[str, Any]]
    gone: Sequence[Row]
    before: Mapping[str, Row]
    put: frozenset[str]

    @property
    def uid(self) -> str:
        return document_uid(self.commit.claim)

    @property
    def outdated(self) -> list[str]:
        """The uids of the chunks that no longer belong to the document as they are."""
        return sorted(row["uid"] for row in (*self.gone, *self.before.values()))


def read_replacements(tx: Transaction, commits: Sequence[Commit]) -> list[Replacement]:
    """Of those whose documents are there: all that are held."""
    uids = sorted(document_uid(one.claim) for one in commits)
    documents = {row["uid"]: row for row in rows_of(tx, statements("commits")["documents"], uids)}
    there: dict[str, dict[str, Row]] = {uid: {} for uid in uids}
    for row in rows_of(tx, statements("commits")["chunks"], uids):
        there[row["document"]][row["chunk"]["id"]] = row["chunk"]
    there_is = [one for one in commits if document_uid(one.claim) in documents]
    return [_replacement(one, documents[document_uid(one.claim)], there[document_uid(one.claim)]) for one in there_is]


def _replacement(one: Commit, document: Row, there: Mapping[str, Row]) -> Replacement:
    after = {row.chunk.id: row for row in one.chunks}
    kept = {id: row for id, row in after.items() if id in there and is_kept(there[id], row)}
    moved = [
        {"uid": there[id]["uid"], **different}
        for id, row in kept.items()
        if (different := differs(there[id], properties(one.claim.corpus_id, row)))
    ]
    changed = [row for id, row in after.items() if id in there and id not in kept]
    return Replacement(
        commit=one,
        current=document["current"],
        made=[row for id, row in after.items() if id not in there],
        changed=changed,
        moved=moved,
        gone=[row for id, row in there.items() if id not in after],
        before={row.chunk.id: there[row.chunk.id] for row in changed},
        put=_unknown(after.keys(), kept.keys(), there, moved, hidden=document["hidden"]),
    )


def _unknown(
    after: Set[str], kept: Set[str], there: Mapping[str, Row], moved: Sequence[Mapping[str, Any]], *, hidden: bool
) -> frozenset[str]:
    if hidden:
        return frozenset(after)
    by_uid = {there[id]["uid"]: id for id in kept}
    return frozenset((after - kept) | {by_uid[row["uid"]] for row in moved if row.keys() & _SEEN})
