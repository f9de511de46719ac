"""The ports of documents and of their contents in SQLite.

`SqliteDocuments` lists documents and their revisions; `SqliteContents` reads passages.
"""

import json
import sqlite3
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from core.documents import Chunk, Document, DocumentRef, RevisionState
from core.filters import DocumentFilter
from core.graph import Entity
from core.ports.record import DocumentPage, FactRow, TripleRow
from core.record_policy.documents import DatedCache, MatchCache, Matches, make_page
from core.record_policy.errors import document_missing
from core.validity import is_dated
from stores.record_rows import load_access
from stores.sqlite import changes
from stores.sqlite.database import Connection, SqliteDatabase, SqlitePort
from stores.sqlite.record.revisions import INDEXED_STATES
from stores.sqlite.rows import OF_CORPUS, chunk_from_row, document_from_row, find_corpus_number, id_list

_COLUMNS = """
    SELECT d.id, d.key, d.disabled, d.access, r.state, r.reason, r.updated_at, s.media_type, s.size, s.content_hash,
        iif(d.hidden, coalesce(nullif(r.title, ''), d.key), d.title) AS title,
        iif(d.hidden, r.metadata, d.metadata) AS metadata, iif(d.hidden, NULL, d.current) AS current,
        iif(d.hidden, 0, d.chunks) AS chunks, iif(d.hidden, 0, d.malformed) AS malformed
"""
_DOCUMENTS = """
    documents d
    JOIN revisions r ON r.document = d.number AND r.number = d.newest
    JOIN revisions s ON s.document = d.number AND s.number = coalesce(iif(d.hidden, NULL, d.current), d.newest)
    WHERE d.corpus_id = :corpus AND NOT (d.hidden = 1 AND r.deletion = 1)
"""
"""Documents that `core.record_policy.submissions.is_visible` shows. A hidden document has its submission's fields."""

_CONDITIONS = {
    "cursor": "d.key > :cursor",
    "key": "d.key = :key",
    "state": "r.state = :state",
    "enabled": "d.disabled = 0",
    "disabled": "d.disabled = 1",
}
"""Conditions that name no index they could use, as `:key IS NULL OR d.key = :key`, make SQLite read all documents."""

_FEW = 1_000
_FEW_DOCUMENTS = f"json_each(:few) f CROSS JOIN {_DOCUMENTS} AND d.number = f.value"
"""In this order: SQLite would read all documents, since it can in the order of their keys."""
_DISABLED = f"SELECT number FROM document_rows INDEXED BY documents_disabled WHERE {OF_CORPUS} AND disabled = 1 LIMIT ?"

_DATED = """
    SELECT lower(hex(id)) AS id, key, title, metadata, access FROM document_rows INDEXED BY documents_dated
    WHERE instr(metadata, '"valid_') + instr(metadata, '"supersede') + instr(metadata, '"amend') > 0
    AND corpus = :corpus AND hidden = 0 AND current IS NOT NULL AND disabled = 0
"""
"""The condition on metadata is the index's, word for word."""

_AMONG = "IN (SELECT from_hex(value) FROM json_each(:ids))"


class SqliteDocuments:
    """Implements `core.ports.record.Documents`."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database
        self._matches = MatchCache()
        self._dated = DatedCache()

    async def list(
        self,
        corpus_id: str,
        *,
        limit: int,
        cursor: str | None = None,
        key: str | None = None,
        state: RevisionState | None = None,
        enabled: bool | None = None,
    ) -> DocumentPage:
        values = {"corpus": corpus_id, "cursor": cursor, "key": key, "state": state.value if state else None}
        chosen = {name for name in ("cursor", "key", "state") if values[name] is not None}
        if enabled is not None:
            chosen.add("enabled" if enabled else "disabled")

        def work(cx: Connection) -> DocumentPage:
            conditions = "".join(f" AND {condition}" for name, condition in _CONDITIONS.items() if name in chosen)
            few = _find_few(cx, corpus_id, state, enabled=enabled)
            documents = _DOCUMENTS if few is None else _FEW_DOCUMENTS
            rows = cx.execute(
                f"{_COLUMNS} FROM {documents} {conditions} ORDER BY d.key LIMIT :limit",
                {**values, "few": id_list(few or ()), "limit": limit + 1},
            ).fetchall()
            return make_page(rows, limit, document_from_row)

        return await self._database.read(work)

    async def get(self, corpus_id: str, document_id: str) -> Document:
        def work(cx: Connection) -> Document:
            row = cx.execute(
                f"{_COLUMNS} FROM {_DOCUMENTS} AND d.raw_id = from_hex(:id)", {"corpus": corpus_id, "id": document_id}
            ).fetchone()
            if row is None:
                raise document_missing(document_id)
            return document_from_row(row)

        return await self._database.read(work)

    async def match(self, corpus_id: str, where: DocumentFilter, *, enabled: bool | None = True) -> frozenset[str]:
        def work(cx: Connection) -> frozenset[str]:
            corpus = find_corpus_number(cx, corpus_id)
            key, version = (corpus, enabled), changes.read_document_version(cx)
            known = self._matches.get(key, where)
            changed = None if known is None else changes.list_changed_documents(cx, corpus, known.version)
            if known is None or changed is None:
                found = Matches(version=version, ids=_select_matching(cx, corpus, where, enabled=enabled))
            else:
                matching = _select_matching(cx, corpus, where, enabled=enabled, among=changed) if changed else ()
                found = known.follow(version, changed, matching)
            return self._matches.put(key, where, found)

        return await self._database.read(work)

    async def get_refs(
        self, corpus_id: str, document_ids: Collection[str], *, enabled: bool | None = True
    ) -> Mapping[str, DocumentRef]:
        def work(cx: Connection) -> dict[str, DocumentRef]:
            rows = cx.execute(
                f"""
                SELECT id, key, title, metadata, access FROM documents
                WHERE corpus_id = :corpus AND hidden = 0 AND current IS NOT NULL AND raw_id {_AMONG}
                AND (:disabled IS NULL OR disabled = :disabled)
                """,
                {"corpus": corpus_id, "ids": id_list(document_ids), "disabled": _disabled(enabled)},
            )
            return {row["id"]: _ref(row) for row in rows}

        return await self._database.read(work)

    async def list_dated(self, corpus_id: str) -> Mapping[str, DocumentRef]:
        def work(cx: Connection) -> Mapping[str, DocumentRef]:
            corpus, version = find_corpus_number(cx, corpus_id), changes.read_document_version(cx)
            known = self._dated.get(corpus)
            if known is not None and known.version == version:
                return known.refs
            changed = None if known is None else changes.list_changed_documents(cx, corpus, known.version)
            if known is None or changed is None:
                return self._dated.put(corpus, version, _read_dated(cx.execute(_DATED, {"corpus": corpus})))
            rows = cx.execute(f"{_DATED} AND id {_AMONG}", {"corpus": corpus, "ids": id_list(changed)})
            kept = {id: ref for id, ref in known.refs.items() if id not in changed}
            return self._dated.put(corpus, version, kept | _read_dated(rows))

        return await self._database.read(work)


def _ref(row: sqlite3.Row) -> DocumentRef:
    return DocumentRef(
        id=row["id"],
        key=row["key"],
        title=row["title"],
        metadata=json.loads(row["metadata"]),
        access=load_access(row["access"]),
    )


def _read_dated(rows: Iterable[sqlite3.Row]) -> dict[str, DocumentRef]:
    """The index also has documents whose values, not fields, are called so."""
    refs = map(_ref, rows)
    return {ref.id: ref for ref in refs if is_dated(ref.metadata)}


def _select_matching(
    cx: Connection, corpus: int, where: DocumentFilter, *, enabled: bool | None, among: Collection[str] | None = None
) -> frozenset[str]:
    """Returns the ids of the documents that match, of all or of these."""
    rows = cx.execute(
        f"""
        SELECT lower(hex(id)), key, title, metadata, access FROM document_rows
        WHERE corpus = :corpus AND hidden = 0 AND current IS NOT NULL AND (:disabled IS NULL OR disabled = :disabled)
        {"" if among is None else f"AND id {_AMONG}"}
        """,
        {"corpus": corpus, "disabled": _disabled(enabled), "ids": id_list(among or ())},
    )
    return frozenset(
        id
        for id, key, title, metadata, access in rows
        if where.matches(id=id, key=key, title=title, metadata=json.loads(metadata), access=load_access(access))
    )


def _find_few(cx: Connection, corpus_id: str, state: RevisionState | None, *, enabled: bool | None) -> list[int] | None:
    """Returns the numbers of all documents that may be in this state, if an index tells that they are few."""
    statements: list[tuple[str, tuple[str | int, ...]]] = []
    if enabled is False:
        statements.append((_DISABLED, (corpus_id, _FEW + 1)))
    for index, condition in INDEXED_STATES.items():
        if state is not None and f"'{state.value}'" in condition:
            in_state = f"""
                SELECT DISTINCT document FROM revision_rows INDEXED BY {index}
                WHERE {condition} AND {OF_CORPUS} AND state = ? LIMIT ?
            """
            statements.append((in_state, (corpus_id, state.value, _FEW + 1)))
    for statement, values in statements:
        rows = cx.execute(statement, values).fetchall()
        if len(rows) <= _FEW:
            return [row[0] for row in rows]
    return None


def _disabled(enabled: bool | None) -> int | None:
    return None if enabled is None else int(not enabled)


_CHUNKS = """
    SELECT c.* FROM chunks c JOIN document_rows d ON d.number = c.document
    WHERE c.corpus_id = :corpus AND d.hidden = 0
"""

# In subqueries on `e`, CROSS JOIN keeps the order of the tables: else SQLite reads all chunks for each row.
DISPLAY = """(
    SELECT f.form FROM form_rows f WHERE f.entity = e.number
    ORDER BY f.count DESC, f.form LIMIT 1
)"""
"""The most frequent form of the entity `e`. Ties are ordered by code point, as SQLite compares UTF-8 bytes."""

_SHOWN = f"""
    CASE WHEN EXISTS (
            SELECT 1 FROM document_rows INDEXED BY documents_disabled WHERE corpus = e.corpus AND disabled = 1
        )
        AND (SELECT count(*) FROM form_rows f WHERE f.entity = e.number) > 1
    THEN coalesce((
        SELECT f.form FROM form_rows f
        CROSS JOIN mention_rows m ON m.form = f.number
        CROSS JOIN chunk_rows c ON c.number = m.chunk
        CROSS JOIN document_rows d ON d.number = c.document
        WHERE f.entity = e.number AND d.disabled = 0
        GROUP BY f.form ORDER BY sum(m.count) DESC, f.form LIMIT 1
    ), {DISPLAY})
    ELSE {DISPLAY} END
"""
"""`DISPLAY` in the documents that are enabled; in all where none of them mentions the entity.

The mentions of an entity are counted only in corpora with disabled documents.
"""

_SURROUNDINGS = """
    SELECT a.id AS around, c.* FROM chunks a
    JOIN document_rows d ON d.number = a.document
    JOIN chunks c ON c.document = a.document AND c.position BETWEEN a.position - :distance AND a.position + :distance
    WHERE a.corpus_id = :corpus AND d.hidden = 0
"""

_FACTS = """
    FROM facts f
    JOIN chunk_rows c ON c.number = f.chunk
    JOIN document_rows d ON d.number = c.document
    WHERE f.corpus_id = :corpus AND d.hidden = 0
"""

_ENABLED = "AND d.disabled = 0"
_DOCUMENT = "SELECT number FROM documents WHERE corpus_id = :corpus AND raw_id = from_hex(:document)"


class SqliteContents(SqlitePort):
    """Implements `core.ports.record.Contents`."""

    async def get_chunks(self, corpus_id: str, chunk_ids: Collection[str]) -> Mapping[str, Chunk]:
        def work(cx: Connection) -> dict[str, Chunk]:
            rows = cx.execute(
                f"{_CHUNKS} {_ENABLED} AND c.raw_id {_AMONG}", {"corpus": corpus_id, "ids": id_list(chunk_ids)}
            )
            return {row["id"]: chunk_from_row(row) for row in rows}

        return await self._database.read(work)

    async def get_chunks_of(
        self, corpus_id: str, document_id: str, *, after: int = -1, limit: int | None = None
    ) -> list[Chunk]:
        def work(cx: Connection) -> list[Chunk]:
            rows = cx.execute(
                f"{_CHUNKS} AND c.document = ({_DOCUMENT}) AND c.position > :after ORDER BY c.position LIMIT :limit",
                {"corpus": corpus_id, "document": document_id, "after": after, "limit": -1 if limit is None else limit},
            )
            return [chunk_from_row(row) for row in rows]

        return await self._database.read(work)

    async def get_surroundings(
        self, corpus_id: str, chunk_ids: Collection[str], distance: int
    ) -> Mapping[str, list[Chunk]]:
        def work(cx: Connection) -> dict[str, list[Chunk]]:
            rows = cx.execute(
                f"{_SURROUNDINGS} {_ENABLED} AND a.raw_id {_AMONG} ORDER BY c.position",
                {"corpus": corpus_id, "distance": distance, "ids": id_list(chunk_ids)},
            )
            found: dict[str, list[Chunk]] = {}
            for row in rows:
                found.setdefault(row["around"], []).append(chunk_from_row(row))
            return found

        return await self._database.read(work)

    async def get_chunks_by_view(self, corpus_id: str, view_ids: Collection[str]) -> Mapping[str, Chunk]:
        def work(cx: Connection) -> dict[str, Chunk]:
            rows = cx.execute(f"{_CHUNKS} AND c.raw_view_id {_AMONG}", {"corpus": corpus_id, "ids": id_list(view_ids)})
            return {row["view_id"]: chunk_from_row(row) for row in rows}

        return await self._database.read(work)

    async def get_entities(self, corpus_id: str, entity_ids: Collection[str]) -> Mapping[str, Entity]:
        def work(cx: Connection) -> dict[str, Entity]:
            rows = cx.execute(
                f"SELECT e.id, e.name, {_SHOWN} FROM entities e WHERE e.corpus_id = :corpus AND e.raw_id {_AMONG}",
                {"corpus": corpus_id, "ids": id_list(entity_ids)},
            )
            return {id: Entity(id=id, name=name, display=display) for id, name, display in rows}

        return await self._database.read(work)

    async def get_facts_of(self, corpus_id: str, chunk_ids: Collection[str]) -> list[FactRow]:
        def work(cx: Connection) -> list[FactRow]:
            rows = cx.execute(
                f"""
                SELECT f.id, f.chunk_id, f.subject_id, f.predicate, f.object_id {_FACTS} {_ENABLED}
                AND f.raw_chunk_id {_AMONG} ORDER BY f.raw_chunk_id, f.id
                """,
                {"corpus": corpus_id, "ids": id_list(chunk_ids)},
            )
            return [FactRow(**row) for row in _with_names(cx, corpus_id, list(map(dict, rows)))]

        return await self._database.read(work)

    async def get_triples(
        self, corpus_id: str, triple_ids: Collection[str], *, enabled: bool | None = True
    ) -> Mapping[str, TripleRow]:
        def work(cx: Connection) -> dict[str, TripleRow]:
            rows = cx.execute(
                f"""
                SELECT lower(hex(f.triple)) AS triple_id, lower(hex(f.subject)) AS subject_id, f.predicate,
                       lower(hex(f.object)) AS object_id, group_concat(lower(hex(c.id)), ' ') AS chunk_ids
                FROM fact_rows f
                CROSS JOIN chunk_rows c ON c.number = f.chunk
                CROSS JOIN corpus_numbers k ON k.number = c.corpus
                CROSS JOIN document_rows d ON d.number = c.document
                WHERE k.id = :corpus AND d.hidden = 0
                AND (:disabled IS NULL OR d.disabled = :disabled) AND f.triple {_AMONG} GROUP BY f.triple
                """,
                {
                    "corpus": corpus_id,
                    "ids": id_list(triple_ids),
                    "disabled": None if enabled is None else int(not enabled),
                },
            )
            return {row.pop("triple_id"): _triple(row) for row in _with_names(cx, corpus_id, list(map(dict, rows)))}

        return await self._database.read(work)


def _with_names(cx: Connection, corpus_id: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the rows with the display names of their subjects and objects, each of which is read once."""
    ids = {id for row in rows for id in (row["subject_id"], row["object_id"])}
    found = cx.execute(
        f"SELECT e.id, {_SHOWN} AS display FROM entities e WHERE e.corpus_id = :corpus AND e.raw_id {_AMONG}",
        {"corpus": corpus_id, "ids": id_list(ids)},
    )
    names = {row["id"]: row["display"] for row in found}
    return [{**row, "subject": names[row["subject_id"]], "object": names[row["object_id"]]} for row in rows]


def _triple(row: dict[str, Any]) -> TripleRow:
    chunk_ids = tuple(sorted(row.pop("chunk_ids").split()))
    return TripleRow(chunk_ids=chunk_ids, **row)
