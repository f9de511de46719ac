"""Commits in SQLite: the transaction that makes revisions current, and its port at the end.

`commit` says what is done, and in which order. Beside it is what a commit deletes: chunks with their mentions and
facts, and the entities that nothing mentions any more; and synonyms, with the entities whose synonyms are pending
because two workers created both ends at the same time. The rows that it writes are in `commit_rows`.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from core.documents import RevisionState
from core.graph import Synonym
from core.ports.record import Commit, Outcome, RemovalKind, RemovedDocument, Tombstone
from core.record_policy.commits import ChunkChanges, check_one_corpus, misses_entities
from stores.record_rows import dump
from stores.sqlite.changes import log_chunks, log_synonyms, raise_generation
from stores.sqlite.database import Connection, SqlitePort, now
from stores.sqlite.record.certificates import insert_removal
from stores.sqlite.record.claims import select_valid
from stores.sqlite.record.commit_rows import (
    Ready,
    clear,
    drop_fenced,
    insert_chunks,
    insert_graph,
    make_ready,
    select_new_entities,
    update_chunks,
)
from stores.sqlite.record.graph import delete_automatic_merges
from stores.sqlite.record.revisions import add_progress, set_state
from stores.sqlite.record.tombstones import select_named, write
from stores.sqlite.rows import OF_ID, find_corpus_number, id_list, make_corpus_number

_AMONG = "IN (SELECT value FROM json_each(?))"
_NUMBERS = "SELECT number FROM entity_rows WHERE corpus = ? AND id IN (SELECT from_hex(value) FROM json_each(?))"


@dataclass
class Deleted:
    """What lost support in a transaction, and so may have to be deleted.

    `forms` are the numbers of forms that fewer chunks have, `triples` lost an assertion, `view_ids` a chunk, and
    `content_hashes` a revision.
    """

    forms: set[int] = field(default_factory=set)
    triples: set[str] = field(default_factory=set)
    view_ids: set[str] = field(default_factory=set)
    content_hashes: set[str] = field(default_factory=set)


def _delete_chunks(cx: Connection, corpus: int, ids: Collection[str], deleted: Deleted) -> None:
    """Deletes chunks of the corpus with this number, with their mentions and facts."""
    if not ids:
        return
    values = (corpus, id_list(ids))
    chunks = "SELECT number FROM chunk_rows WHERE corpus = ? AND id IN (SELECT from_hex(value) FROM json_each(?))"
    mentions = f"SELECT form, sum(count) FROM mention_rows WHERE chunk IN ({chunks}) GROUP BY form"
    counts = cx.execute(mentions, values).fetchall()
    cx.executemany("UPDATE form_rows SET count = count - ?2 WHERE number = ?1", counts)
    deleted.forms |= {form for form, _ in counts}
    facts = cx.execute(f"SELECT triple FROM fact_rows WHERE chunk IN ({chunks})", values)
    deleted.triples |= {row["triple"].hex() for row in facts}
    views = cx.execute(f"SELECT view_id FROM chunk_rows WHERE number IN ({chunks})", values)
    deleted.view_ids |= {row["view_id"].hex() for row in views}
    cx.execute(f"DELETE FROM mention_rows WHERE chunk IN ({chunks})", values)
    cx.execute(f"DELETE FROM fact_rows WHERE chunk IN ({chunks})", values)
    cx.execute(f"DELETE FROM chunk_rows WHERE number IN ({chunks})", values)


def _delete_unsupported(cx: Connection, corpus_id: str, deleted: Deleted) -> list[str]:
    """Deletes the forms that no chunk has any more, and the entities without a form. Returns the entities' ids."""
    if not deleted.forms:
        return []
    ended = cx.execute(
        f"DELETE FROM form_rows WHERE number {_AMONG} AND count <= 0 RETURNING entity", (id_list(deleted.forms),)
    )
    rows = cx.execute(
        f"""
        SELECT lower(hex(id)) AS id FROM entity_rows WHERE number {_AMONG}
        AND NOT EXISTS (SELECT 1 FROM form_rows f WHERE f.entity = entity_rows.number) ORDER BY id
        """,
        (id_list({row["entity"] for row in ended.fetchall()}),),
    )
    orphans = [row["id"] for row in rows]
    delete_entities(cx, corpus_id, orphans)
    return orphans


def delete_entities(cx: Connection, corpus_id: str, ids: Sequence[str]) -> None:
    """Deletes entities with their forms, their synonyms and their automatic merges."""
    if not ids:
        return
    values, numbered = (corpus_id, id_list(ids)), (find_corpus_number(cx, corpus_id), id_list(ids))
    cx.execute(f"DELETE FROM form_rows WHERE entity IN ({_NUMBERS})", numbered)
    cx.execute(f"DELETE FROM entity_rows WHERE number IN ({_NUMBERS})", numbered)
    cx.execute(f"DELETE FROM unsettled WHERE corpus_id = ? AND entity_id {_AMONG}", values)
    cx.execute(f"DELETE FROM synonyms WHERE corpus_id = ? AND first_id {_AMONG}", values)
    cx.execute(f"DELETE FROM synonyms WHERE corpus_id = ? AND second_id {_AMONG}", values)
    delete_automatic_merges(cx, corpus_id, ids)


def _write_synonyms(cx: Connection, corpus_id: str, synonyms: Sequence[Synonym], generation: int) -> None:
    """Writes and logs the synonyms of which both entities exist."""
    both = "EXISTS (SELECT 1 FROM entities WHERE corpus_id = ? AND raw_id = from_hex(?))"
    written: set[str] = set()
    for s in synonyms:
        done = cx.execute(
            f"INSERT OR REPLACE INTO synonyms SELECT ?, ?, ?, ? WHERE {both} AND {both}",
            (corpus_id, s.first_id, s.second_id, s.score, corpus_id, s.first_id, corpus_id, s.second_id),
        )
        if done.rowcount:
            written |= {s.first_id, s.second_id}
    log_synonyms(cx, corpus_id, generation, written)


def _add_pending(cx: Connection, corpus_id: str, entity_ids: Collection[str], grace: float) -> None:
    """Makes the synonyms of entities pending. Any worker links them after `grace` seconds, unless `_link` is called."""
    due = now() + grace
    cx.executemany("INSERT OR REPLACE INTO unsettled VALUES (?, ?, ?)", [(corpus_id, id, due) for id in entity_ids])


def _list_pending(cx: Connection, corpus_id: str) -> list[str]:
    """See `core.ports.record.Commits.list_pending_synonyms`."""
    rows = cx.execute(
        "SELECT entity_id FROM unsettled WHERE corpus_id = ? AND due_at <= ? ORDER BY entity_id", (corpus_id, now())
    )
    return [row["entity_id"] for row in rows]


def _link(cx: Connection, corpus_id: str, entity_ids: Sequence[str], synonyms: Sequence[Synonym]) -> None:
    """See `core.ports.record.Commits.link_synonyms`."""
    _write_synonyms(cx, corpus_id, synonyms, raise_generation(cx, corpus_id))
    cx.execute(
        "DELETE FROM unsettled WHERE corpus_id = ? AND entity_id IN (SELECT value FROM json_each(?))",
        (corpus_id, id_list(entity_ids)),
    )


@dataclass
class _Effects:
    """`corpus` is the number of the corpus. `inserted` and `removed` are ids of chunks for the change log; a chunk may
    be in both. `passages` are how many a document lost, by its number.
    """

    corpus: int
    document_ids: list[str] = field(default_factory=list)
    passages: dict[int, int] = field(default_factory=dict)
    removed_documents: list[RemovedDocument] = field(default_factory=list)
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
    orphans = _delete_unsupported(cx, corpus_id, effects.deleted)
    _write_synonyms(cx, corpus_id, synonyms, generation)
    _add_pending(cx, corpus_id, pending, grace)
    log_chunks(cx, corpus_id, generation, effects.removed)
    log_chunks(cx, corpus_id, generation, effects.inserted)
    tombstone = _write_tombstone(cx, corpus_id, effects, orphans, grace)
    insert_removal(cx, corpus_id, RemovalKind.DOCUMENTS, effects.removed_documents, listed=tombstone)
    return Outcome(
        generation=generation,
        fenced=tuple(one.claim for one in commits if one.claim.token not in valid),
        tombstone=tombstone,
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
        _delete_chunks(cx, effects.corpus, removed, effects.deleted)
        effects.removed |= removed
        effects.passages[document] = len(removed)
        return
    _delete_chunks(cx, effects.corpus, changes.deleted | changes.changed, effects.deleted)
    effects.removed |= changes.deleted
    effects.passages[document] = len(changes.deleted)
    effects.inserted |= changes.logged


def _make_current(cx: Connection, one: Commit, document: int, seq: int, effects: _Effects) -> None:
    """Shows the revision, whose `seq` is given, and deletes what is left of older revisions."""
    _delete_extractions(cx, document)
    cx.execute(
        """
        UPDATE document_rows SET title = ?, metadata = ?, current = ?, hidden = 0, chunks = ?, malformed = ?,
            access = coalesce((SELECT access FROM revision_rows WHERE seq = ?), access)
        WHERE number = ?
        """,
        (
            one.title,
            dump(dict(one.metadata)),
            one.claim.revision,
            len(one.chunks),
            one.malformed_triples,
            seq,
            document,
        ),
    )
    cx.execute("UPDATE revision_rows SET access = NULL WHERE seq = ? AND access IS NOT NULL", (seq,))
    job_id = cx.execute("SELECT job_id FROM revisions WHERE seq = ?", (seq,)).fetchone()["job_id"]
    cx.execute("UPDATE jobs SET malformed = malformed + ? WHERE id = ?", (one.malformed_triples, job_id))
    if one.fits:
        cx.execute(
            """
            INSERT INTO job_fits VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET within = within + excluded.within,
                outside = outside + excluded.outside, unnamed = unnamed + excluded.unnamed
            """,
            (job_id, one.fits.within, one.fits.outside, one.fits.unnamed),
        )
    add_progress(cx, job_id, passages=len(one.chunks))
    set_state(cx, [seq], RevisionState.INDEXED)
    _delete_revisions(cx, one, document, seq, effects)


def _end_document(cx: Connection, one: Commit, document: int, seq: int, effects: _Effects) -> None:
    """Deletes the row of a document without chunks; `seq` is the number of the revision that asked for it."""
    _delete_extractions(cx, document)
    set_state(cx, [seq], RevisionState.DELETED)
    _delete_revisions(cx, one, document, seq, effects)
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


def _delete_revisions(cx: Connection, one: Commit, document: int, seq: int, effects: _Effects) -> None:
    """Deletes the older revisions, and a deletion's revision, by their `seq`. Their jobs keep the counts."""
    deletion, own = one.claim.deletion, one.claim.content_hash
    where, values = "document = ? AND number < ?", (document, one.claim.revision + int(deletion))
    rows = cx.execute(f"SELECT content_hash FROM revisions WHERE {where}", values)
    contents = {row["content_hash"] for row in rows} - {""}
    effects.deleted.content_hashes |= contents
    if deletion or contents - {own}:
        job = cx.execute(
            "SELECT j.id, j.submitted_by FROM revision_rows r JOIN jobs j ON j.seq = r.job WHERE r.seq = ?", (seq,)
        ).fetchone()
        effects.removed_documents.append(
            RemovedDocument(
                key=one.claim.key,
                is_replaced=not deletion,
                contents=tuple(sorted(contents if deletion else contents - {own})),
                passages=effects.passages[document],
                job=job["id"],
                by=job["submitted_by"] or "",
            )
        )
    cx.execute(f"DELETE FROM revision_rows WHERE {where}", values)


def _write_tombstone(
    cx: Connection, corpus_id: str, effects: _Effects, entity_ids: Sequence[str], grace: float
) -> Tombstone | None:
    """Writes the ids that the record no longer names."""
    lost = {
        "view_ids": effects.deleted.view_ids,
        "triple_ids": effects.deleted.triples,
        "content_hashes": effects.deleted.content_hashes,
    }
    gone = {kind: tuple(sorted(ids - select_named(cx, corpus_id, kind, ids))) for kind, ids in lost.items()}
    return write(
        cx, Tombstone(id=0, corpus_id=corpus_id, entity_ids=tuple(entity_ids), **gone), effects.document_ids, grace
    )


class SqliteCommits(SqlitePort):
    """Implements `core.ports.record.Commits`. A commit is one transaction, for which rows are made ready before."""

    async def commit(
        self, commits: Sequence[Commit], synonyms: Sequence[Synonym] = (), *, grace: float, seen: int | None = None
    ) -> Outcome:
        corpus_id = check_one_corpus(commits)
        return await self._database.write_prepared(
            lambda cx: make_ready(cx, commits),
            lambda cx, ready: commit(cx, corpus_id, commits, synonyms, ready, grace=grace, seen=seen),
            clear,
        )

    async def list_pending_synonyms(self, corpus_id: str) -> list[str]:
        return await self._database.read(lambda cx: _list_pending(cx, corpus_id))

    async def link_synonyms(self, corpus_id: str, entity_ids: Sequence[str], synonyms: Sequence[Synonym]) -> None:
        await self._database.write(lambda cx: _link(cx, corpus_id, entity_ids, synonyms))
