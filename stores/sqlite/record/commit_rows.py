"""The rows of a commit: made ready before the transaction, and written in it by statements of SQLite alone.

They are packed and compared in temporary tables of the connection. Packing a long text takes half a minute, and nobody
else could write meanwhile if the transaction did it. The temporary tables are in a file that SQLite deletes by itself,
once they are larger than its cache.
"""

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

from core.ports.record import ChunkRow, Commit
from core.record_policy.commits import ChunkChanges, compare_chunks, joined_names
from stores.sqlite.database import Connection
from stores.sqlite.packing import pack_hash, pack_ids, pack_terms, pack_text
from stores.sqlite.rows import OF_ID, id_list, marks

T = TypeVar("T")

Ready = Mapping[int, ChunkChanges]
"""How the chunks of each document change, by the number of the document. The rows are in the temporary tables."""

_SHOWN = ("position", "title_names", "terms", "page", "span_start", "span_end", "tokens")
"""The columns of a kept chunk that are written where they differ; most tell its place.

Its text and heading are the same: the id of its view entries is a digest of them.
"""
_CHUNK_COLUMNS = ("id", "document", "view_id", *_SHOWN, "text", "heading", "extract_hash")

_TABLES = {
    "ready_chunks": (*_CHUNK_COLUMNS, "is_kept"),  # 1: only the columns of `_SHOWN` are written
    "ready_forms": ("document", "entity", "name", "form", "count", "stored"),  # the number of the form in the record
    "ready_mentions": ("document", "chunk", "form", "count"),
    "ready_facts": ("document", "chunk", "triple", "subject", "object", "predicate"),
}
"""Mentions and facts name chunks and forms by the `rowid` that these have in their temporary table."""
_FORM = "document = ? AND entity = ? AND form = ?"
_COMPARED = f"SELECT id, view_id, extract_hash, {', '.join(_SHOWN)} FROM chunks"
_ROWS_AT_ONCE = 512


@dataclass(frozen=True)
class _Document:
    number: int
    is_hidden: bool
    is_new: bool


def make_ready(cx: Connection, commits: Sequence[Commit]) -> Ready:
    """Fills the temporary tables with what the commits write, and returns how the chunks of their documents change.

    The stored chunks of a document are only changed under its claim. So what is read here still holds in the
    transaction, if the claim does. Documents that do not exist are left out: their claims are fenced.
    """
    for name, columns in _TABLES.items():
        cx.execute(f"CREATE TEMP TABLE IF NOT EXISTS {name} ({', '.join(columns)})")
    cx.execute("CREATE UNIQUE INDEX IF NOT EXISTS temp.ready_forms_by_name ON ready_forms (document, entity, form)")
    clear(cx)
    ready: dict[int, ChunkChanges] = {}
    for one in commits:
        if not one.claim.deletion and (document := _find_document(cx, one)) is not None:
            ready[document.number] = _make_one_ready(cx, one, document)
    return ready


def clear(cx: Connection) -> None:
    """Empties the temporary tables. `make_ready` was called on this connection before."""
    for name in _TABLES:
        cx.execute(f"DELETE FROM temp.{name}")


def drop_fenced(cx: Connection, documents: Iterable[int]) -> None:
    """Deletes the rows of documents with these numbers from the temporary tables."""
    for document in documents:
        for name in _TABLES:
            cx.execute(f"DELETE FROM temp.{name} WHERE document = ?", (document,))


def _find_document(cx: Connection, one: Commit) -> _Document | None:
    key = (one.claim.corpus_id, one.claim.document_id)
    row = cx.execute(f"SELECT number, hidden FROM document_rows WHERE {OF_ID}", key).fetchone()
    if row is None:
        return None
    chunk = cx.execute("SELECT 1 FROM chunk_rows WHERE document = ? LIMIT 1", (row["number"],)).fetchone()
    return _Document(number=row["number"], is_hidden=bool(row["hidden"]), is_new=chunk is None)


def _make_one_ready(cx: Connection, one: Commit, document: _Document) -> ChunkChanges:
    deleted: set[str] = set()
    if not document.is_new:
        listed = cx.execute("SELECT id FROM chunk_rows WHERE document = ?", (document.number,))
        deleted = {row["id"].hex() for row in listed}
    made, changed, kept, logged = set[str](), set[str](), set[str](), set[str]()
    written: dict[str, int] = {}
    for rows in _parts(one.chunks):
        before = {} if document.is_new else _read_stored(cx, one.claim.corpus_id, rows)
        part = compare_chunks(before, rows, is_hidden=document.is_hidden)
        made |= part.made
        changed |= part.changed
        kept |= part.kept
        logged |= part.logged
        deleted -= before.keys()
        for row in rows:
            is_kept = row.chunk.id in part.kept
            if not is_kept or _is_moved(row, before[row.chunk.id]):
                number = _insert(cx, "ready_chunks", _values(row, document, is_kept=is_kept))
                if not is_kept:
                    written[row.chunk.id] = number
    _make_graph_ready(cx, one, document.number, written)
    return ChunkChanges(made=made, changed=changed, kept=kept, deleted=deleted, logged=logged)


def _make_graph_ready(cx: Connection, one: Commit, document: int, written: Mapping[str, int]) -> None:
    """Fills in the mentions and facts of chunks that are written, whose numbers in `ready_chunks` are given by id."""
    count = "ON CONFLICT DO UPDATE SET count = count + excluded.count"
    cx.executemany(
        f"INSERT INTO temp.ready_forms (document, entity, name, form, count) VALUES (?, ?, ?, ?, ?) {count}",
        (
            (document, bytes.fromhex(m.entity_id), m.name, m.form, m.count)
            for m in one.mentions
            if m.chunk_id in written
        ),
    )
    cx.executemany(
        f"INSERT INTO temp.ready_mentions SELECT document, ?, rowid, ? FROM temp.ready_forms WHERE {_FORM}",
        (
            (written[m.chunk_id], m.count, document, bytes.fromhex(m.entity_id), m.form)
            for m in one.mentions
            if m.chunk_id in written
        ),
    )
    for f in one.facts:
        if f.chunk_id in written:
            ids = map(bytes.fromhex, (f.triple_id, f.subject_id, f.object_id))
            _insert(cx, "ready_facts", (document, written[f.chunk_id], *ids, f.predicate))


def _parts(rows: Iterable[T]) -> Iterator[list[T]]:
    left = iter(rows)
    while some := list(islice(left, _ROWS_AT_ONCE)):
        yield some


def _read_stored(cx: Connection, corpus_id: str, rows: Sequence[ChunkRow]) -> dict[str, sqlite3.Row]:
    where = "WHERE corpus_id = ? AND raw_id IN (SELECT from_hex(value) FROM json_each(?))"
    stored = cx.execute(f"{_COMPARED} {where}", (corpus_id, id_list([row.chunk.id for row in rows])))
    return {row["id"]: row for row in stored}


def _is_moved(row: ChunkRow, stored: sqlite3.Row) -> bool:
    chunk, span = row.chunk, row.chunk.span
    shown = (chunk.position, joined_names(row), row.terms, chunk.page, span and span.start, span and span.end)
    return (*shown, row.tokens) != tuple(stored[column] for column in _SHOWN)


def _values(row: ChunkRow, document: _Document, *, is_kept: bool) -> tuple[Any, ...]:
    chunk, span = row.chunk, row.chunk.span
    return (
        bytes.fromhex(chunk.id),
        document.number,
        bytes.fromhex(chunk.view_id),
        chunk.position,
        pack_ids(joined_names(row)),
        pack_terms(row.terms),
        chunk.page,
        span and span.start,
        span and span.end,
        row.tokens,
        None if is_kept else pack_text(chunk.text),
        chunk.heading,
        pack_hash(row.extract_hash),
        int(is_kept),
    )


def _insert(cx: Connection, table: str, values: Sequence[Any]) -> int:
    """Returns the number of the row in the temporary table."""
    return cx.execute(f"INSERT INTO temp.{table} VALUES ({marks(_TABLES[table])})", values).lastrowid or 0


_JOINED_COLUMNS = ", ".join(_CHUNK_COLUMNS)
_ENTITY_OF = "entity_rows e ON e.corpus = ?1 AND e.id = r.entity"


# Of two tables that are joined by CROSS JOIN, SQLite reads the first one in its order.


def insert_chunks(cx: Connection, corpus: int) -> int:
    """Writes the chunks that are new or changed into the corpus with this number.

    Returns the difference between a chunk's numbers in the record and in the temporary table, so that mentions need no
    look-up.
    """
    given = "(SELECT seq FROM sqlite_sequence WHERE name = 'chunk_rows')"  # the largest number that any row has had
    highest = f"SELECT max(coalesce({given}, 0), coalesce((SELECT max(number) FROM chunk_rows), 0))"
    first = int(cx.execute(highest).fetchone()[0])
    cx.execute(
        f"""
        INSERT OR REPLACE INTO chunk_rows (number, corpus, {_JOINED_COLUMNS})
        SELECT ?2 + rowid, ?1, {_JOINED_COLUMNS} FROM temp.ready_chunks WHERE NOT is_kept ORDER BY rowid
        """,
        (corpus, first),
    )
    return first


def update_chunks(cx: Connection, corpus: int) -> None:
    """Writes where the kept chunks stand now."""
    cx.execute(
        f"""
        UPDATE chunk_rows SET {", ".join(f"{column} = r.{column}" for column in _SHOWN)}
        FROM temp.ready_chunks r WHERE r.is_kept AND chunk_rows.corpus = ?1 AND chunk_rows.id = r.id
        """,
        (corpus,),
    )


def select_new_entities(cx: Connection, corpus: int) -> list[str]:
    """Returns the ids of the mentioned entities that do not exist yet, ascending."""
    rows = cx.execute(
        f"""
        SELECT DISTINCT lower(hex(r.entity)) AS id FROM temp.ready_forms r LEFT JOIN {_ENTITY_OF}
        WHERE e.id IS NULL ORDER BY id
        """,
        (corpus,),
    )
    return [row["id"] for row in rows]


def insert_graph(cx: Connection, corpus: int, first: int) -> None:
    """Writes the mentioned entities, the counts of their forms, and the mentions and facts of the written chunks.

    `first` is what `insert_chunks` has returned.
    """
    cx.execute(
        """
        INSERT INTO entity_rows (corpus, id, name) SELECT ?1, entity, name FROM temp.ready_forms ORDER BY rowid
        ON CONFLICT DO NOTHING
        """,
        (corpus,),
    )
    cx.execute(
        f"""
        INSERT INTO form_rows (entity, form, count)
        SELECT e.number, r.form, r.count FROM temp.ready_forms r CROSS JOIN {_ENTITY_OF} ORDER BY r.rowid
        ON CONFLICT DO UPDATE SET count = count + excluded.count
        """,
        (corpus,),
    )
    cx.execute(
        """
        UPDATE temp.ready_forms AS r SET stored = (
            SELECT f.number FROM entity_rows e CROSS JOIN form_rows f ON f.entity = e.number AND f.form = r.form
            WHERE e.corpus = ?1 AND e.id = r.entity
        )
        """,
        (corpus,),
    )
    cx.execute(
        """
        INSERT OR REPLACE INTO mention_rows SELECT ?1 + m.chunk, r.stored, m.count FROM temp.ready_mentions m
        CROSS JOIN temp.ready_forms r ON r.rowid = m.form ORDER BY m.rowid
        """,
        (first,),
    )
    cx.execute(
        """
        INSERT OR REPLACE INTO fact_rows
        SELECT ?1 + chunk, triple, subject, object, predicate FROM temp.ready_facts ORDER BY rowid
        """,
        (first,),
    )
