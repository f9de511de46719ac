"""Exports as the holder of a key sees them: rows of documents that the key may see while they are written."""

import time
from collections.abc import AsyncGenerator, Collection, Mapping
from contextlib import aclosing

from app.access.corpora import RestrictedDocuments
from core.ports.record import Exporter

_Row = Mapping[str, object]

_LOOK_SECONDS = 1.0


class RestrictedExporter:
    """Implements `core.ports.record.Exporter`: only the rows of documents that match the filter of a key.

    The rows are read twice: entities come before the mentions that tell which of them may be seen. The first reading
    decides which entities are written, the second one, which is one snapshot, everything else. A store may take seconds
    for each reading, and writing may take minutes: it ends with `Conflict` if a document of either reading was taken
    from the caller since, or is taken meanwhile.
    """

    def __init__(self, exporter: Exporter, documents: RestrictedDocuments) -> None:
        self._exporter = exporter
        self._documents = documents

    async def rows(self, corpus_id: str, *, canonical: bool) -> AsyncGenerator[_Row]:
        first = _Seen(self._documents)
        async with aclosing(self._exporter.rows(corpus_id, canonical=canonical)) as rows:
            async for row in rows:
                first.note(row)
        second, looked = _Seen(self._documents, first.entities), 0.0
        readable: frozenset[str] | None = None
        async with aclosing(self._exporter.rows(corpus_id, canonical=canonical)) as rows:
            async for row in rows:
                if readable is None:
                    looked = time.monotonic()
                    readable = await self._documents.readable(corpus_id)
                    await self._documents.check_kept(corpus_id, first.documents)
                second.note(row)
                if not second.shows(row):
                    continue
                if row["kind"] == "document" and row["id"] not in readable:
                    await self._documents.check_kept(corpus_id, {str(row["id"])})
                if time.monotonic() - looked > _LOOK_SECONDS:
                    await self._documents.check_kept(corpus_id, second.documents)
                    looked = time.monotonic()
                yield self._restrict(row)

    def _restrict(self, row: _Row) -> _Row:
        """Returns the row of a document with the principals that the caller may know."""
        access = row.get("access")
        if row["kind"] != "document" or not isinstance(access, list):
            return row
        return {**row, "access": [*self._documents.show_access(access)]}


class _Seen:
    """The ids of the documents, chunks and entities that a key may see, as one reading of the rows tells them.

    `written` are the entities that may be written (None: their rows are not written).
    """

    def __init__(self, documents: RestrictedDocuments, written: Collection[object] | None = None) -> None:
        self._where = documents
        self._written = frozenset(written or ())
        self.documents: set[str] = set()
        self._chunks: set[object] = set()
        self.entities: set[object] = set()

    def note(self, row: _Row) -> None:
        if row["kind"] == "document" and self._where.sees_row(row):
            self.documents.add(str(row["id"]))
        elif row["kind"] == "chunk" and row["document_id"] in self.documents:
            self._chunks.add(row["id"])
        elif row["kind"] == "mention" and row["chunk_id"] in self._chunks:
            self.entities.add(row["entity_id"])

    def shows(self, row: _Row) -> bool:
        """Returns whether the row is of a document that may be seen. A kind that is not known here is left out."""
        match row["kind"]:
            case "document":
                return row["id"] in self.documents
            case "chunk" | "extraction":
                return row["document_id"] in self.documents
            case "entity":
                return row["id"] in self._written
            case "mention":
                return row["chunk_id"] in self._chunks and row["entity_id"] in self._written
            case "fact":
                return row["chunk_id"] in self._chunks and {row["subject_id"], row["object_id"]} <= self._written
            case "merge":
                return {row["from_id"], row["into_id"]} <= self._written
            case "synonym" | "rejection":
                return {row["first_id"], row["second_id"]} <= self._written
            case "threshold" | "schema":
                return True
        return False
