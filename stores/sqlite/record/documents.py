"""The port of documents in SQLite."""

import json
from collections.abc import Collection, Mapping

from core.documents import Document, DocumentRef, RevisionState
from core.filters import DocumentFilter
from core.ports.record import DocumentPage
from core.record_policy.errors import document_missing
from core.record_policy.match_cache import MatchCache, Matches
from core.record_policy.pages import make_page
from stores.sqlite import changes
from stores.sqlite.database import Connection, SqliteDatabase
from stores.sqlite.leases.states import INDEXED_STATES
from stores.sqlite.numbers import OF_CORPUS, find_corpus_number
from stores.sqlite.rows import document_from_row, id_list

__all__ = ["SqliteDocuments"]

_COLUMNS = """
    SELECT d.id, d.key, d.disabled, r.state, r.reason, r.updated_at, s.media_type, s.size, s.content_hash,
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
"""Documents as `core.record_policy.submissions.is_visible` has them. A hidden one has the fields of its submission."""

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

_AMONG = "IN (SELECT from_hex(value) FROM json_each(:ids))"


class SqliteDocuments:
    """Implements `core.ports.record.Documents`."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database
        self._matches = MatchCache()

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
                SELECT id, key, title, metadata FROM documents
                WHERE corpus_id = :corpus AND hidden = 0 AND current IS NOT NULL AND raw_id {_AMONG}
                AND (:disabled IS NULL OR disabled = :disabled)
                """,
                {"corpus": corpus_id, "ids": id_list(document_ids), "disabled": _disabled(enabled)},
            )
            return {
                id: DocumentRef(id=id, key=key, title=title, metadata=json.loads(metadata))
                for id, key, title, metadata in rows
            }

        return await self._database.read(work)


def _select_matching(
    cx: Connection, corpus: int, where: DocumentFilter, *, enabled: bool | None, among: Collection[str] | None = None
) -> frozenset[str]:
    """Returns the ids of the documents that match, of all or of these."""
    rows = cx.execute(
        f"""
        SELECT lower(hex(id)), key, title, metadata FROM document_rows
        WHERE corpus = :corpus AND hidden = 0 AND current IS NOT NULL AND (:disabled IS NULL OR disabled = :disabled)
        {"" if among is None else f"AND id {_AMONG}"}
        """,
        {"corpus": corpus, "disabled": _disabled(enabled), "ids": id_list(among or ())},
    )
    return frozenset(
        id
        for id, key, title, metadata in rows
        if where.matches(id=id, key=key, title=title, metadata=json.loads(metadata))
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
