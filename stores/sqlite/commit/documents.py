"""One document in a commit: its new revision replaces the current one, or it is deleted."""

from core.documents import RevisionState
from core.ports.record import Commit
from core.record_policy.commits import compare_chunks
from stores.payloads import dump
from stores.sqlite.commit.chunks import COMPARED, delete_chunks, insert_chunks, insert_graph, update_chunks
from stores.sqlite.commit.effects import SqliteCommitEffects
from stores.sqlite.database import Connection
from stores.sqlite.leases.states import add_progress, set_state
from stores.sqlite.rows import id_list

__all__ = ["delete_document", "replace_document"]


def replace_document(cx: Connection, one: Commit, seq: int, effects: SqliteCommitEffects) -> None:
    """Writes the rows of a revision, whose `seq` is given, and deletes those of older ones."""
    key = (effects.corpus_id, one.claim.document_id)
    before = {
        row["id"]: row
        for row in cx.execute(
            f"SELECT id, view_id, extract_hash, {', '.join(COMPARED)} FROM chunks "
            "WHERE corpus_id = ? AND document_id = ?",
            key,
        )
    }
    is_hidden = cx.execute("SELECT hidden FROM documents WHERE corpus_id = ? AND id = ?", key).fetchone()[0]
    changes = compare_chunks(before, one.chunks, is_hidden=bool(is_hidden))
    delete_chunks(cx, changes.deleted | changes.changed, effects)
    written = changes.made | changes.changed
    insert_chunks(cx, (row for row in one.chunks if row.chunk.id in written), effects)
    update_chunks(cx, (row for row in one.chunks if row.chunk.id in changes.kept), before, effects)
    insert_graph(cx, one, written, effects)
    effects.new_views |= {row.chunk.view_id for row in one.chunks}
    effects.deleted |= changes.deleted
    effects.inserted |= changes.logged
    _delete_extractions(cx, key, {row.extract_hash for row in one.chunks})
    _update_document(cx, key, one, seq)
    set_state(cx, [seq], RevisionState.INDEXED)
    _delete_revisions(cx, key, one.claim.revision, effects)
    effects.document_ids.append(one.claim.document_id)


def _update_document(cx: Connection, key: tuple[str, str], one: Commit, seq: int) -> None:
    cx.execute(
        """
        UPDATE documents SET title = ?, metadata = ?, current = ?, hidden = 0, chunks = ?, malformed = ?
        WHERE corpus_id = ? AND id = ?
        """,
        (one.title, dump(dict(one.metadata)), one.claim.revision, len(one.chunks), one.malformed_triples, *key),
    )
    job_id = cx.execute("SELECT job_id FROM revisions WHERE seq = ?", (seq,)).fetchone()["job_id"]
    cx.execute("UPDATE jobs SET malformed = malformed + ? WHERE id = ?", (one.malformed_triples, job_id))
    add_progress(cx, job_id, passages=len(one.chunks))


def delete_document(cx: Connection, one: Commit, seq: int, effects: SqliteCommitEffects) -> None:
    """Deletes a document with all its rows; `seq` is that of the revision that says so."""
    key = (effects.corpus_id, one.claim.document_id)
    rows = cx.execute("SELECT id FROM chunks WHERE corpus_id = ? AND document_id = ?", key)
    ids = {row["id"] for row in rows}
    delete_chunks(cx, ids, effects)
    effects.deleted |= ids
    _delete_extractions(cx, key, set())
    set_state(cx, [seq], RevisionState.DELETED)
    _delete_revisions(cx, key, one.claim.revision + 1, effects)
    cx.execute("DELETE FROM documents WHERE corpus_id = ? AND id = ?", key)
    effects.document_ids.append(one.claim.document_id)


def _delete_extractions(cx: Connection, key: tuple[str, str], kept: set[str]) -> None:
    """Deletes staged extractions except those of the hashes `kept`."""
    cx.execute(
        """
        DELETE FROM extractions WHERE corpus_id = ? AND document_id = ?
        AND extract_hash NOT IN (SELECT value FROM json_each(?))
        """,
        (*key, id_list(sorted(kept))),
    )


def _delete_revisions(cx: Connection, key: tuple[str, str], below: int, effects: SqliteCommitEffects) -> None:
    """Deletes the revisions with smaller numbers. Their jobs keep the counts."""
    where, values = "corpus_id = ? AND document_id = ? AND number < ?", (*key, below)
    rows = cx.execute(f"SELECT content_hash FROM revisions WHERE {where}", values)
    effects.content_hashes |= {row["content_hash"] for row in rows} - {""}
    cx.execute(f"DELETE FROM revisions WHERE {where}", values)
