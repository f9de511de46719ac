"""The port of export in SQLite: everything that readers see of a corpus, row by row."""

import json
import sqlite3
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Any

from stores.sqlite.database import Connection, Cursor, SqlitePort
from stores.sqlite.record.documents import DISPLAY
from stores.sqlite.rows import chunk_from_row

_BATCH = 250
"""Each batch comes from a thread, so that requests take turns between."""
_SEEN = """
    SELECT c.number FROM documents d JOIN chunk_rows c ON c.document = d.number
    WHERE d.corpus_id = :corpus AND d.hidden = 0
"""
_MENTIONED = """
    EXISTS (
        SELECT 1 FROM form_rows f
        CROSS JOIN mention_rows m ON m.form = f.number
        CROSS JOIN chunk_rows c ON c.number = m.chunk
        CROSS JOIN document_rows d ON d.number = c.document
        WHERE f.entity = e.number AND d.hidden = 0
    )
"""

Row = Mapping[str, object]


class SqliteExporter(SqlitePort):
    """Implements `core.ports.record.Exporter`."""

    async def rows(self, corpus_id: str, *, canonical: bool) -> AsyncGenerator[Row]:
        sections = _CANONICAL if canonical else _WHOLE
        async with self._database.snapshot() as snapshot:
            for kind, query, shape in sections:
                cursor = await snapshot.run(_query(query, corpus_id))
                while batch := await snapshot.run(_fetch(cursor)):
                    for row in batch:
                        yield {"kind": kind, **shape(row)}


def _query(query: str, corpus_id: str) -> Callable[[Connection], Cursor]:
    return lambda connection: connection.execute(query, {"corpus": corpus_id})


def _fetch(cursor: Cursor) -> Callable[[Connection], list[Any]]:
    return lambda _: cursor.fetchmany(_BATCH)


def _document(row: sqlite3.Row) -> Row:
    shown: dict[str, Any] = {k: row[k] for k in ("id", "key", "title", "media_type", "content_hash", "chunks")}
    if row["disabled"]:
        shown["enabled"] = False
    if row["access"] is not None:
        shown["access"] = json.loads(row["access"])
    return {**shown, "malformed_triples": row["malformed"], "metadata": json.loads(row["metadata"])}


def _whole_document(row: sqlite3.Row) -> Row:
    given: dict[str, Any] = {k: row[k] for k in ("size", "fingerprint", "given_title")}
    return {**_document(row), **given, "given_metadata": json.loads(row["given_metadata"])}


def _extraction(row: sqlite3.Row) -> Row:
    return {**dict(row), "payload": json.loads(row["payload"])}


def _chunk(row: sqlite3.Row) -> Row:
    chunk = chunk_from_row(row)
    return {
        "id": chunk.id,
        "document_id": chunk.document_id,
        "position": chunk.position,
        "heading": chunk.heading,
        "page": chunk.page,
        "span": None if chunk.span is None else [chunk.span.start, chunk.span.end],
        "text": chunk.text,
        "view_id": chunk.view_id,
        "extract_hash": row["extract_hash"],
        "tokens": row["tokens"],
    }


def _plain(row: sqlite3.Row) -> Row:
    return dict(row)


_Section = tuple[str, str, Callable[[sqlite3.Row], Row]]

_GRAPH: tuple[_Section, ...] = (
    (
        "document",
        """
        SELECT d.*, r.media_type, r.content_hash, r.size, r.fingerprint, r.title AS given_title,
            r.metadata AS given_metadata FROM documents d
        JOIN revisions r ON r.document = d.number AND r.number = d.current
        WHERE d.corpus_id = :corpus AND d.hidden = 0 ORDER BY d.raw_id
        """,
        _document,
    ),
    (
        "chunk",
        f"SELECT c.* FROM chunks c WHERE c.corpus_id = :corpus AND c.number IN ({_SEEN}) ORDER BY c.raw_id",
        _chunk,
    ),
    (
        "entity",
        f"""
        SELECT e.id, e.name, {DISPLAY} AS display FROM entities e
        WHERE e.corpus_id = :corpus AND {_MENTIONED} ORDER BY e.raw_id
        """,
        _plain,
    ),
    (
        "mention",
        f"""
        SELECT m.chunk_id, m.entity_id, m.form, m.count FROM mentions m
        WHERE m.corpus_id = :corpus AND m.chunk IN ({_SEEN})
        ORDER BY m.raw_chunk_id, m.raw_entity_id, m.form
        """,
        _plain,
    ),
    (
        "fact",
        f"""
        SELECT f.id, f.triple_id, f.chunk_id, f.subject_id, f.predicate, f.object_id FROM facts f
        WHERE f.corpus_id = :corpus AND f.chunk IN ({_SEEN}) ORDER BY f.id
        """,
        _plain,
    ),
    (
        "merge",
        """
        SELECT from_id, from_name, into_id, into_name FROM merges
        WHERE corpus_id = :corpus AND from_id NOT IN (SELECT from_id FROM automatic_merges WHERE corpus_id = :corpus)
        ORDER BY from_id
        """,
        _plain,
    ),
)

_REJECTIONS = "SELECT r.first_id, r.second_id FROM rejections r WHERE r.corpus_id = :corpus"
_ORDERED = "ORDER BY r.first_id, r.second_id"
_BOTH_MENTIONED = " ".join(
    f"""
    AND EXISTS (
        SELECT 1 FROM entities e WHERE e.corpus_id = r.corpus_id AND e.raw_id = from_hex(r.{end}) AND {_MENTIONED}
    )
    """
    for end in ("first_id", "second_id")
)
_THRESHOLD = ("threshold", "SELECT threshold AS merge_above FROM thresholds WHERE corpus_id = :corpus", _plain)
_SCHEMA = ("schema", "SELECT text FROM graph_schemas WHERE corpus_id = :corpus", _plain)

_SYNONYMS = (
    "synonym",
    """
    SELECT s.first_id, s.second_id, s.score FROM synonyms s
    WHERE s.corpus_id = :corpus ORDER BY s.first_id, s.second_id
    """,
    _plain,
)

_DOCUMENTS = (_GRAPH[0][0], _GRAPH[0][1], _whole_document)

_EXTRACTIONS = (
    "extraction",
    """
    SELECT d.id AS document_id, unpack_hash(x.extract_hash) AS extract_hash, unpack_extraction(x.payload) AS payload
    FROM documents d JOIN extraction_rows x ON x.document = d.number
    WHERE d.corpus_id = :corpus AND d.hidden = 0 AND d.current IS NOT NULL ORDER BY d.raw_id, x.extract_hash
    """,
    _extraction,
)

_CANONICAL: tuple[_Section, ...] = (
    *_GRAPH,
    ("rejection", f"{_REJECTIONS} {_BOTH_MENTIONED} {_ORDERED}", _plain),
    _THRESHOLD,
    _SCHEMA,
)
_WHOLE: tuple[_Section, ...] = (
    _DOCUMENTS,
    *_GRAPH[1:],
    ("rejection", f"{_REJECTIONS} {_ORDERED}", _plain),
    _THRESHOLD,
    _SCHEMA,
    _SYNONYMS,
    _EXTRACTIONS,
)
