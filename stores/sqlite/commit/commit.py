"""The one transaction that makes revisions current: rows in, rows out, and what is left to delete elsewhere."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from core.documents import RevisionState
from core.graph import Synonym
from core.ports.record import ChunkRow, Claim, Commit, Outcome, Tombstone
from stores.payloads import dump
from stores.sqlite.changes import log, raise_generation
from stores.sqlite.commit.entities import delete_entities
from stores.sqlite.commit.synonyms import unsettle, write_synonyms
from stores.sqlite.commit.tombstones import bury
from stores.sqlite.database import Connection, Row
from stores.sqlite.leases.leases import held
from stores.sqlite.leases.states import move
from stores.sqlite.rows import id_list

__all__ = ["commit"]


@dataclass
class _Effects:
    """What a batch adds and removes, summed up before entities are judged: support is counted, never guessed."""

    corpus_id: str
    names: dict[str, str] = field(default_factory=dict)
    forms: Counter[tuple[str, str]] = field(default_factory=Counter)
    triples: set[str] = field(default_factory=set)
    put: set[str] = field(default_factory=set)
    deleted: set[str] = field(default_factory=set)
    old_views: set[str] = field(default_factory=set)
    new_views: set[str] = field(default_factory=set)
    contents: set[str] = field(default_factory=set)


def commit(
    cx: Connection, commits: Sequence[Commit], synonyms: Sequence[Synonym], grace: float, seen: int | None = None
) -> Outcome:
    """See `core.ports.record.Commits.commit`; `commits` is not empty and all of one corpus."""
    corpus_id = commits[0].claim.corpus_id
    right = held(cx, [c.claim for c in commits])
    fenced = tuple(c.claim for c in commits if c.claim.token not in right)
    effects = _Effects(corpus_id=corpus_id)
    written = [c for c in commits if c.claim.token in right]
    for one in written:
        seq = right[one.claim.token]
        if one.claim.deletion:
            _remove_document(cx, one.claim, seq, effects)
        else:
            _replace_document(cx, one, seq, effects)
    generation = raise_generation(cx, corpus_id)
    born = _unknown(cx, corpus_id, effects.names)
    dead_entities = _settle_entities(cx, effects)
    write_synonyms(cx, corpus_id, synonyms, generation)
    missed = born if seen is not None and generation != seen + 1 else []
    unsettle(cx, corpus_id, missed, grace)
    log(cx, corpus_id, generation, "chunk", "delete", effects.deleted - effects.put)
    log(cx, corpus_id, generation, "chunk", "put", effects.put)
    tombstone = Tombstone(
        id=0,
        corpus_id=corpus_id,
        view_ids=tuple(sorted(effects.old_views - effects.new_views)),
        entity_ids=tuple(dead_entities),
        triple_ids=tuple(_unasserted(cx, corpus_id, effects.triples)),
        content_hashes=tuple(_unreferenced(cx, corpus_id, effects.contents)),
    )
    documents = [c.claim.document_id for c in written]
    return Outcome(
        generation=generation,
        fenced=fenced,
        tombstone=bury(cx, tombstone, documents, grace),
        pending_synonyms=tuple(missed),
    )


def _replace_document(cx: Connection, one: Commit, seq: int, effects: _Effects) -> None:
    corpus_id, id = one.claim.corpus_id, one.claim.document_id
    before = {
        row["id"]: row
        for row in cx.execute(
            """
            SELECT id, view_id, extract_hash, position, title_names, terms FROM chunks
            WHERE corpus_id = ? AND document_id = ?
            """,
            (corpus_id, id),
        )
    }
    hidden = cx.execute("SELECT hidden FROM documents WHERE corpus_id = ? AND id = ?", (corpus_id, id)).fetchone()[0]
    after = {row.chunk.id: row for row in one.chunks}
    kept = {
        id
        for id, row in after.items()
        if id in before
        and before[id]["extract_hash"] == row.extract_hash
        and before[id]["view_id"] == row.chunk.view_id
    }
    unseen = {id for id in kept if not _looks_the_same(before[id], after[id])}
    _drop_chunks(cx, corpus_id, before.keys() - kept, effects)
    _write_chunks(cx, corpus_id, one.chunks)
    _write_graph(cx, one, after.keys() - kept, effects)
    effects.deleted |= before.keys() - after.keys()
    effects.put |= after.keys() if hidden else (after.keys() - kept) | unseen
    effects.new_views |= {row.chunk.view_id for row in one.chunks}
    _drop_extractions(cx, corpus_id, id, {row.extract_hash for row in one.chunks})
    cx.execute(
        """
        UPDATE documents SET title = ?, metadata = ?, current = ?, hidden = 0, chunks = ?, malformed = ?
        WHERE corpus_id = ? AND id = ?
        """,
        (
            one.title,
            dump(dict(one.claim.metadata)),
            one.claim.revision,
            len(one.chunks),
            one.malformed_triples,
            corpus_id,
            id,
        ),
    )
    cx.execute(
        "UPDATE jobs SET malformed = malformed + ? WHERE id = (SELECT job_id FROM revisions WHERE seq = ?)",
        (one.malformed_triples, seq),
    )
    move(cx, [seq], RevisionState.INDEXED)
    _drop_revisions(cx, corpus_id, id, one.claim.revision, effects)


def _looks_the_same(before: Row, after: ChunkRow) -> bool:
    """Whether snapshots hold what is written of a chunk whose graph stays."""
    written = (after.chunk.position, _joined(after.title_names), after.terms)
    return (before["position"], before["title_names"], before["terms"]) == written


def _remove_document(cx: Connection, claim: Claim, seq: int, effects: _Effects) -> None:
    corpus_id, id = claim.corpus_id, claim.document_id
    ids = {
        r["id"] for r in cx.execute("SELECT id FROM chunks WHERE corpus_id = ? AND document_id = ?", (corpus_id, id))
    }
    _drop_chunks(cx, corpus_id, ids, effects)
    effects.deleted |= ids
    _drop_extractions(cx, corpus_id, id, set())
    move(cx, [seq], RevisionState.DELETED)
    _drop_revisions(cx, corpus_id, id, claim.revision + 1, effects)
    cx.execute("DELETE FROM documents WHERE corpus_id = ? AND id = ?", (corpus_id, id))


def _drop_chunks(cx: Connection, corpus_id: str, ids: Iterable[str], effects: _Effects) -> None:
    """Remove chunks with their mentions and assertions, noting whose support shrinks."""
    listed = id_list(list(ids))
    among = "corpus_id = ? AND chunk_id IN (SELECT value FROM json_each(?))"
    for row in cx.execute(f"SELECT entity_id, form, count FROM mentions WHERE {among}", (corpus_id, listed)):
        effects.forms[row["entity_id"], row["form"]] -= row["count"]
    effects.triples |= {
        r["triple_id"] for r in cx.execute(f"SELECT triple_id FROM facts WHERE {among}", (corpus_id, listed))
    }
    chunks = "corpus_id = ? AND id IN (SELECT value FROM json_each(?))"
    effects.old_views |= {
        r["view_id"] for r in cx.execute(f"SELECT view_id FROM chunks WHERE {chunks}", (corpus_id, listed))
    }
    cx.execute(f"DELETE FROM mentions WHERE {among}", (corpus_id, listed))
    cx.execute(f"DELETE FROM facts WHERE {among}", (corpus_id, listed))
    cx.execute(f"DELETE FROM chunks WHERE {chunks}", (corpus_id, listed))


def _write_chunks(cx: Connection, corpus_id: str, rows: Sequence[ChunkRow]) -> None:
    cx.executemany(
        "INSERT OR REPLACE INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                corpus_id,
                row.chunk.id,
                row.chunk.document_id,
                row.chunk.view_id,
                row.chunk.position,
                _joined(row.title_names),
                row.terms,
                row.chunk.text,
                row.chunk.heading,
                row.chunk.page,
                row.chunk.span.start if row.chunk.span else None,
                row.chunk.span.end if row.chunk.span else None,
                row.extract_hash,
                row.tokens,
            )
            for row in rows
        ],
    )


def _joined(ids: Iterable[str]) -> str:
    return " ".join(ids)


def _write_graph(cx: Connection, one: Commit, chunks: set[str], effects: _Effects) -> None:
    """Write mentions and facts of the chunks that are new or changed; the others' are there."""
    corpus_id = one.claim.corpus_id
    mentions = [m for m in one.mentions if m.chunk_id in chunks]
    cx.executemany(
        "INSERT OR REPLACE INTO mentions VALUES (?, ?, ?, ?, ?)",
        [(corpus_id, m.chunk_id, m.entity_id, m.form, m.count) for m in mentions],
    )
    for m in mentions:
        effects.forms[m.entity_id, m.form] += m.count
        effects.names[m.entity_id] = m.name
    cx.executemany(
        "INSERT OR REPLACE INTO facts VALUES (?, ?, ?, ?, ?, ?, ?)",
        [
            (corpus_id, f.id, f.triple_id, f.chunk_id, f.subject_id, f.predicate, f.object_id)
            for f in one.facts
            if f.chunk_id in chunks
        ],
    )


def _unknown(cx: Connection, corpus_id: str, ids: Collection[str]) -> list[str]:
    rows = cx.execute(
        """
        SELECT value FROM json_each(?)
        WHERE NOT EXISTS (SELECT 1 FROM entities e WHERE e.corpus_id = ? AND e.id = value)
        """,
        (id_list(sorted(ids)), corpus_id),
    )
    return [row["value"] for row in rows]


def _settle_entities(cx: Connection, effects: _Effects) -> list[str]:
    """Apply the counted forms; returns the entities that nothing mentions any more, which are gone then."""
    corpus_id = effects.corpus_id
    cx.executemany(
        "INSERT OR IGNORE INTO entities VALUES (?, ?, ?)",
        [(corpus_id, id, name) for id, name in effects.names.items()],
    )
    cx.executemany(
        "INSERT INTO forms VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET count = count + excluded.count",
        [(corpus_id, entity, form, change) for (entity, form), change in effects.forms.items() if change],
    )
    shrunk = {entity for (entity, _), change in effects.forms.items() if change < 0}
    listed = id_list(sorted(shrunk))
    cx.execute(
        "DELETE FROM forms WHERE corpus_id = ? AND entity_id IN (SELECT value FROM json_each(?)) AND count <= 0",
        (corpus_id, listed),
    )
    dead = [
        row["value"]
        for row in cx.execute(
            """
            SELECT value FROM json_each(?)
            WHERE NOT EXISTS (SELECT 1 FROM forms f WHERE f.corpus_id = ? AND f.entity_id = value)
            """,
            (listed, corpus_id),
        )
    ]
    delete_entities(cx, corpus_id, dead)
    return dead


def _drop_extractions(cx: Connection, corpus_id: str, document_id: str, keep: set[str]) -> None:
    cx.execute(
        """
        DELETE FROM extractions WHERE corpus_id = ? AND document_id = ?
        AND extract_hash NOT IN (SELECT value FROM json_each(?))
        """,
        (corpus_id, document_id, id_list(sorted(keep))),
    )


def _drop_revisions(cx: Connection, corpus_id: str, document_id: str, below: int, effects: _Effects) -> None:
    """Old revisions' rows go; their jobs keep the counts."""
    where = "corpus_id = ? AND document_id = ? AND number < ?"
    values = (corpus_id, document_id, below)
    effects.contents |= {
        r["content_hash"] for r in cx.execute(f"SELECT content_hash FROM revisions WHERE {where}", values)
    } - {""}
    cx.execute(f"DELETE FROM revisions WHERE {where}", values)


def _unasserted(cx: Connection, corpus_id: str, triples: set[str]) -> list[str]:
    rows = cx.execute(
        """
        SELECT value FROM json_each(?)
        WHERE NOT EXISTS (SELECT 1 FROM facts f WHERE f.corpus_id = ? AND f.triple_id = value)
        """,
        (id_list(sorted(triples)), corpus_id),
    )
    return [row["value"] for row in rows]


def _unreferenced(cx: Connection, corpus_id: str, contents: set[str]) -> list[str]:
    rows = cx.execute(
        """
        SELECT value FROM json_each(?)
        WHERE NOT EXISTS (SELECT 1 FROM revisions r WHERE r.corpus_id = ? AND r.content_hash = value)
        """,
        (id_list(sorted(contents)), corpus_id),
    )
    return [row["value"] for row in rows]
