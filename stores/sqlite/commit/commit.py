"""The transaction that makes revisions current. Open it first to learn what a commit does, and in which order."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from core.documents import RevisionState
from core.graph import Synonym
from core.ports.record import Commit, Outcome, Tombstone
from core.record_policy.commits import ChunkChanges, misses_entities
from stores.payloads import dump
from stores.sqlite.changes import log_chunks, raise_generation
from stores.sqlite.commit.deletion import Deleted, delete_chunks, delete_unsupported
from stores.sqlite.commit.insertion import insert_chunks, insert_graph, select_new_entities, update_chunks
from stores.sqlite.commit.ready import Ready, drop_fenced
from stores.sqlite.commit.synonyms import add_pending, write_synonyms
from stores.sqlite.commit.tombstones import select_named, write
from stores.sqlite.database import Connection
from stores.sqlite.leases.claims import select_valid
from stores.sqlite.leases.states import add_progress, set_state
from stores.sqlite.numbers import OF_ID, make_corpus_number
from stores.sqlite.rows import id_list

__all__ = ["commit"]


@dataclass
class _Effects:
    """`corpus` is the number of the corpus. `inserted` and `removed` are ids of chunks for the change log; a chunk may
    be in both.
    """

    corpus: int
    document_ids: list[str] = field(default_factory=list)
    inserted: set[str] = field(default_factory=set)
    removed: set[str] = field(default_factory=set)
    deleted: Deleted = field(default_factory=Deleted)


def commit(
    cx: Connection,
    corpus_id: str,
    commits: Sequence[Commit],
    synonyms: Sequence[Synonym],
    ready: Ready,
    *,
    grace: float,
    seen: int | None,
) -> Outcome:
    """See `core.ports.record.Commits.commit`; all commits are of the corpus `corpus_id`.

    `ready` is what `make_ready` has returned, on this connection, for the same commits.
    """
    valid = select_valid(cx, [one.claim for one in commits])
    effects = _Effects(make_corpus_number(cx, corpus_id))
    written = [(one, _find_number(cx, one), valid[one.claim.token]) for one in commits if one.claim.token in valid]
    drop_fenced(cx, ready.keys() - {number for _, number, _ in written})
    for one, number, _ in written:
        _delete_rows(cx, number, None if one.claim.deletion else ready[number], effects)
        effects.document_ids.append(one.claim.document_id)
    generation = raise_generation(cx, corpus_id)
    pending = select_new_entities(cx, effects.corpus) if misses_entities(seen, generation - 1) else []
    first = insert_chunks(cx, effects.corpus)
    update_chunks(cx, effects.corpus)
    insert_graph(cx, effects.corpus, first)
    for one, number, seq in written:
        finish = _end_document if one.claim.deletion else _make_current
        finish(cx, one, number, seq, effects)
    _count_rows(cx, effects)
    orphans = delete_unsupported(cx, corpus_id, effects.deleted)
    write_synonyms(cx, corpus_id, synonyms, generation)
    add_pending(cx, corpus_id, pending, grace)
    log_chunks(cx, corpus_id, generation, effects.removed)
    log_chunks(cx, corpus_id, generation, effects.inserted)
    return Outcome(
        generation=generation,
        fenced=tuple(one.claim for one in commits if one.claim.token not in valid),
        tombstone=_write_tombstone(cx, corpus_id, effects, orphans, grace),
        pending_synonyms=tuple(pending),
    )


def _find_number(cx: Connection, one: Commit) -> int:
    key = (one.claim.corpus_id, one.claim.document_id)
    return int(cx.execute(f"SELECT number FROM document_rows WHERE {OF_ID}", key).fetchone()[0])


def _delete_rows(cx: Connection, document: int, changes: ChunkChanges | None, effects: _Effects) -> None:
    """Deletes the chunks of the document that do not stay as they are: all, if `changes` is None."""
    if changes is None:
        rows = cx.execute("SELECT id FROM chunk_rows WHERE document = ?", (document,))
        removed = {row["id"].hex() for row in rows}
        delete_chunks(cx, effects.corpus, removed, effects.deleted)
        effects.removed |= removed
        return
    delete_chunks(cx, effects.corpus, changes.deleted | changes.changed, effects.deleted)
    effects.removed |= changes.deleted
    effects.inserted |= changes.logged


def _make_current(cx: Connection, one: Commit, document: int, seq: int, effects: _Effects) -> None:
    """Shows the revision, whose `seq` is given, and deletes what is left of older ones."""
    _delete_extractions(cx, document)
    cx.execute(
        """
        UPDATE document_rows SET title = ?, metadata = ?, current = ?, hidden = 0, chunks = ?, malformed = ?
        WHERE number = ?
        """,
        (one.title, dump(dict(one.metadata)), one.claim.revision, len(one.chunks), one.malformed_triples, document),
    )
    job_id = cx.execute("SELECT job_id FROM revisions WHERE seq = ?", (seq,)).fetchone()["job_id"]
    cx.execute("UPDATE jobs SET malformed = malformed + ? WHERE id = ?", (one.malformed_triples, job_id))
    add_progress(cx, job_id, passages=len(one.chunks))
    set_state(cx, [seq], RevisionState.INDEXED)
    _delete_revisions(cx, document, one.claim.revision, effects)


def _end_document(cx: Connection, one: Commit, document: int, seq: int, effects: _Effects) -> None:
    """Deletes the row of a document without chunks; `seq` is the number of the revision that asked for it."""
    _delete_extractions(cx, document)
    set_state(cx, [seq], RevisionState.DELETED)
    _delete_revisions(cx, document, one.claim.revision + 1, effects)
    cx.execute("DELETE FROM document_rows WHERE number = ?", (document,))


def _count_rows(cx: Connection, effects: _Effects) -> None:
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


def _delete_revisions(cx: Connection, document: int, below: int, effects: _Effects) -> None:
    """Deletes the revisions with smaller numbers. Their jobs keep the counts."""
    where, values = "document = ? AND number < ?", (document, below)
    rows = cx.execute(f"SELECT content_hash FROM revisions WHERE {where}", values)
    effects.deleted.content_hashes |= {row["content_hash"] for row in rows} - {""}
    cx.execute(f"DELETE FROM revision_rows WHERE {where}", values)


def _write_tombstone(
    cx: Connection, corpus_id: str, effects: _Effects, entity_ids: Sequence[str], grace: float
) -> Tombstone | None:
    """Writes which ids the record names no more."""
    lost = {
        "view_ids": effects.deleted.view_ids,
        "triple_ids": effects.deleted.triples,
        "content_hashes": effects.deleted.content_hashes,
    }
    gone = {kind: tuple(sorted(ids - select_named(cx, corpus_id, kind, ids))) for kind, ids in lost.items()}
    return write(
        cx, Tombstone(id=0, corpus_id=corpus_id, entity_ids=tuple(entity_ids), **gone), effects.document_ids, grace
    )
