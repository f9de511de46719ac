"""Deleting chunks with their mentions, facts and quoted text, and what belongs to documents.

Every function adds what it deletes to `Neo4jCommitEffects`, from which entities and tombstones are written.
"""

from collections.abc import Collection, Mapping, Sequence

from core.documents import RevisionState
from core.ports.record import Commit, Tombstone
from stores.neo4j.commit.change_log import raise_generation
from stores.neo4j.commit.changes import Change
from stores.neo4j.commit.entities import Neo4jCommitEffects, delete_entities, update_entities
from stores.neo4j.commit.tombstones import write_tombstone
from stores.neo4j.driver.database import Row, Transaction
from stores.neo4j.driver.node_uids import document_uid, revision_uid
from stores.neo4j.driver.statements import statements
from stores.neo4j.leases.states import move

__all__ = [
    "delete_chunks",
    "delete_documents",
    "delete_extractions",
    "delete_outdated",
    "delete_revisions",
]


def delete_outdated(
    tx: Transaction, deletions: Sequence[Commit], changes: Sequence[Change], effects: Neo4jCommitEffects
) -> None:
    """Deletes the chunks of deleted documents, and of changed ones the chunks and graph that the revisions lack."""
    documents = sorted(document_uid(one.claim) for one in deletions)
    chunks = tx.rows_in_batches(statements("commits")["chunk_uids"], documents)
    chunks += [row for one in changes for row in one.deleted]
    _delete_chunks(tx, chunks, effects)
    effects.deleted |= {row["id"] for row in chunks}
    replaced = [row for one in changes for row in one.replaced.values()]
    _delete_graph(tx, [row["uid"] for row in replaced], effects)
    effects.view_ids |= {row["view_id"] for row in replaced}


def delete_chunks(
    tx: Transaction, corpus_id: str, chunks: Sequence[Row], document_id: str, grace: float
) -> Tombstone | None:
    """Deletes chunks that no reader sees, with the entities that only they mention. Returns the tombstone."""
    effects = Neo4jCommitEffects(corpus_id=corpus_id)
    _delete_chunks(tx, chunks, effects)
    formless = update_entities(tx, effects, ())
    delete_entities(tx, effects, formless)
    if formless:  # a concurrent search for synonyms may have read these entities
        raise_generation(tx, corpus_id)
    return write_tombstone(tx, effects, formless, [document_id], grace)


def delete_documents(tx: Transaction, deletions: Sequence[Commit], effects: Neo4jCommitEffects) -> None:
    """Deletes documents whose chunks are deleted, with all their revisions and extractions."""
    uids = [document_uid(one.claim) for one in deletions]
    move(tx, [revision_uid(one.claim) for one in deletions], RevisionState.DELETED)
    delete_extractions(tx, dict.fromkeys(uids, ()))
    delete_revisions(tx, {document_uid(one.claim): one.claim.revision + 1 for one in deletions}, effects)
    tx.run_batches(statements("commits")["delete_documents"], sorted(uids))


def delete_extractions(tx: Transaction, keep: Mapping[str, Collection[str]]) -> None:
    """Deletes the extractions of documents, by document uid, except those with the hashes in `keep`."""
    stored = tx.rows_in_batches(statements("commits")["extractions"], sorted(keep))
    unused = sorted(row["uid"] for row in stored if row["hash"] not in keep[row["document"]])
    tx.run_batches(statements("commits")["delete_extractions"], unused)


def delete_revisions(tx: Transaction, below: Mapping[str, int], effects: Neo4jCommitEffects) -> None:
    """Deletes the revisions of documents, by document uid, whose numbers are smaller than the given ones."""
    rows = [{"uid": uid, "below": number} for uid, number in sorted(below.items())]
    deleted = tx.rows_in_batches(statements("commits")["delete_revisions"], rows)
    effects.content_hashes |= {row["content"] for row in deleted} - {""}


def _delete_chunks(tx: Transaction, chunks: Sequence[Row], effects: Neo4jCommitEffects) -> None:
    """Deletes chunks, given with `uid` and `view_id`, and all that belongs to them."""
    uids = sorted({row["uid"] for row in chunks})
    _delete_graph(tx, uids, effects)
    _delete_trail_text(tx, uids)
    tx.run_batches(statements("commits")["delete_chunks"], uids)
    effects.view_ids |= {row["view_id"] for row in chunks}


def _delete_graph(tx: Transaction, uids: Collection[str], effects: Neo4jCommitEffects) -> None:
    """Deletes the mentions and facts of chunks."""
    chunks = sorted(uids)
    for row in tx.rows_in_batches(statements("commits")["delete_mentions"], chunks):
        for form, count in zip(row["forms"], row["counts"], strict=True):
            effects.forms[row["entity"], form] -= count
    for row in tx.rows_in_batches(statements("commits")["delete_facts"], chunks):
        effects.triples.add(row["triple"])
        effects.ends |= {row["subject"], row["object"]}


def _delete_trail_text(tx: Transaction, chunks: Sequence[str]) -> None:
    """Deletes the text of the answer trails that show these chunks, and lets the trails expire.

    The expired trails are deleted later, as a chunk may be shown by too many trails for one transaction.
    """
    rows = tx.rows_in_batches(statements("trails")["delete_question_text"], chunks)
    uids = sorted({row["uid"] for row in rows})
    tx.run_batches(statements("trails")["delete_quotes"], uids)
    tx.run_batches(statements("trails")["delete_step_text"], uids)
