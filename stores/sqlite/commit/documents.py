"""One document in a commit: its new revision replaces the current one, or it is deleted."""

from core.documents import RevisionState
from core.ports.record import Commit
from stores.payloads import dump
from stores.sqlite.commit.chunks import add_graph, delete_chunks, insert_chunks, read_changes, update_chunks
from stores.sqlite.commit.effects import SqliteCommitEffects
from stores.sqlite.database import Connection
from stores.sqlite.leases.states import add_progress, set_state
from stores.sqlite.numbers import OF_ID
from stores.sqlite.rows import id_list

__all__ = ["count_rows", "delete_document", "replace_document"]


def replace_document(cx: Connection, one: Commit, seq: int, effects: SqliteCommitEffects) -> None:
    """Writes the rows of a revision, whose `seq` is given, and deletes those of older ones."""
    key = (effects.corpus_id, one.claim.document_id)
    number, is_hidden = cx.execute(f"SELECT number, hidden FROM document_rows WHERE {OF_ID}", key).fetchone()
    revision = read_changes(cx, number, one.chunks, effects, is_hidden=bool(is_hidden))
    changes = revision.chunks
    delete_chunks(cx, changes.deleted | changes.changed, effects)
    written = changes.made | changes.changed if changes.changed else changes.made
    if written:
        insert_chunks(cx, number, (row for row in one.chunks if row.chunk.id in written), effects)
    if revision.moved:
        update_chunks(cx, (row for row in one.chunks if row.chunk.id in revision.moved), effects)
    add_graph(one, written, effects)
    if effects.old_views:
        effects.old_views.difference_update(row.chunk.view_id for row in one.chunks)
    effects.deleted |= changes.deleted
    effects.inserted |= changes.logged
    _delete_extractions(cx, number)
    _update_document(cx, key, one, seq)
    set_state(cx, [seq], RevisionState.INDEXED)
    _delete_revisions(cx, number, one.claim.revision, effects)
    effects.document_ids.append(one.claim.document_id)


def _update_document(cx: Connection, key: tuple[str, str], one: Commit, seq: int) -> None:
    cx.execute(
        f"""
        UPDATE document_rows SET title = ?, metadata = ?, current = ?, hidden = 0, chunks = ?, malformed = ?
        WHERE {OF_ID}
        """,
        (one.title, dump(dict(one.metadata)), one.claim.revision, len(one.chunks), one.malformed_triples, *key),
    )
    job_id = cx.execute("SELECT job_id FROM revisions WHERE seq = ?", (seq,)).fetchone()["job_id"]
    cx.execute("UPDATE jobs SET malformed = malformed + ? WHERE id = ?", (one.malformed_triples, job_id))
    add_progress(cx, job_id, passages=len(one.chunks))


def delete_document(cx: Connection, one: Commit, seq: int, effects: SqliteCommitEffects) -> None:
    """Deletes a document with all its rows; `seq` is that of the revision that says so."""
    key = (effects.corpus_id, one.claim.document_id)
    number = cx.execute(f"SELECT number FROM document_rows WHERE {OF_ID}", key).fetchone()[0]
    rows = cx.execute("SELECT id FROM chunk_rows WHERE document = ?", (number,))
    ids = {row["id"].hex() for row in rows}
    delete_chunks(cx, ids, effects)
    effects.deleted |= ids
    _delete_extractions(cx, number)
    set_state(cx, [seq], RevisionState.DELETED)
    _delete_revisions(cx, number, one.claim.revision + 1, effects)
    cx.execute("DELETE FROM document_rows WHERE number = ?", (number,))
    effects.document_ids.append(one.claim.document_id)


def count_rows(cx: Connection, effects: SqliteCommitEffects) -> None:
    """Writes how many facts and mentions the documents of the commit have now."""
    cx.execute(
        """
        UPDATE document_rows SET
            facts = (
                SELECT count(*) FROM chunk_rows c CROSS JOIN fact_rows f ON f.chunk = c.number
                WHERE c.document = document_rows.number
            ),
            mentions = (
                SELECT coalesce(sum(m.count), 0) FROM chunk_rows c CROSS JOIN mention_rows m ON m.chunk = c.number
                WHERE c.document = document_rows.number
            )
        WHERE corpus = ? AND id IN (SELECT from_hex(value) FROM json_each(?))
        """,
        (effects.corpus, id_list(effects.document_ids)),
    )


def _delete_extractions(cx: Connection, document: int) -> None:
    """Deletes the staged extractions that no stored chunk of the document has."""
    cx.execute(
        """
        DELETE FROM extraction_rows WHERE document = ?1
        AND extract_hash NOT IN (SELECT extract_hash FROM chunk_rows WHERE document = ?1)
        """,
        (document,),
    )


def _delete_revisions(cx: Connection, document: int, below: int, effects: SqliteCommitEffects) -> None:
    """Deletes the revisions with smaller numbers. Their jobs keep the counts."""
    where, values = "document = ? AND number < ?", (document, below)
    rows = cx.execute(f"SELECT content_hash FROM revisions WHERE {where}", values)
    effects.content_hashes |= {row["content_hash"] for row in rows} - {""}
    cx.execute(f"DELETE FROM revision_rows WHERE {where}", values)
