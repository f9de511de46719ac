"""A section: the rows of one corpus of a file, kept in a spool until the whole file is checked."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from app.archive.format.content import decode_vector
from app.archive.format.rows import (
    ArchiveChunkRow,
    ArchiveDocumentRow,
    ArchiveFactRow,
    ArchiveMentionRow,
    ArchiveOriginalRow,
    ArchiveQuestionRow,
    parse_row,
)
from core.corpora import CorpusSettings
from core.errors import LoadFailed
from core.ports.embedding import Vectors
from core.ports.record import GraphMerge
from core.ports.views import VectorKind
from stores.sqlite import Spool, SpooledRow

__all__ = ["ArchiveSection", "group_rows", "make_spooled_rows"]

_PAGE = 1000
_MOST_CHUNKS = 2000  # of one batch of documents


def _make_keys(row: Any) -> tuple[tuple[str, str], ...]:
    """Returns the keys of a row in the spool, each with a second name: that of its vector, original or partner."""
    match row:
        case ArchiveDocumentRow():
            return ((row.id, row.content_hash),)
        case ArchiveChunkRow():
            return ((row.document_id, row.view_id),)
        case ArchiveMentionRow():
            return ((row.chunk_id, row.entity_id),)
        case ArchiveFactRow():
            return ((row.chunk_id, row.triple_id),)
        case ArchiveOriginalRow():
            return ((row.content_hash, str(row.part)),)
        case _:
            return _make_other_keys(row)


def _make_other_keys(row: Any) -> tuple[tuple[str, str], ...]:
    if row.kind == "synonym":
        return (row.first_id, row.second_id), (row.second_id, row.first_id)
    if row.kind == "merge":
        return ((row.from_id, row.into_id),)
    if row.kind == "extraction":
        return ((row.document_id, row.extract_hash),)
    return ((row.id, row.id),)


@dataclass(frozen=True, kw_only=True)
class ArchiveSection:
    """One corpus of a file. `number` is its position in the file, `sha256` the digest of its lines once read."""

    source: str
    number: int
    name: str
    settings: CorpusSettings
    generation: int
    sha256: str
    spool: Spool

    def heap(self, kind: str, of: str = "") -> str:
        """Returns the name under which the spool stores rows of a kind."""
        return f"{self.number}:{kind}:{of}"

    def find(self, kind: str, keys: list[str] | set[str]) -> list[tuple[int, Any]]:
        """Returns the rows of a kind with these keys, each with its line number."""
        return [(found.line, parse_row(found.body)) for found in self.spool.find(self.heap(kind), keys)]

    def count(self, kind: str) -> int:
        return self.spool.count(self.heap(kind))

    def read_batches(self) -> Iterator[list[tuple[int, ArchiveDocumentRow]]]:
        """Yields all documents, ordered by id, with their line numbers, in batches for one transaction each."""
        last = ""
        batch: list[tuple[int, ArchiveDocumentRow]] = []
        chunks = 0
        while ids := self.spool.list_keys(self.heap("document"), after=last, limit=_PAGE):
            for line, document in sorted(self.find("document", ids), key=lambda found: str(found[1].id)):
                if batch and (chunks + document.chunks > _MOST_CHUNKS or len(batch) == _PAGE):
                    yield batch
                    batch, chunks = [], 0
                batch.append((line, document))
                chunks += document.chunks
            last = ids[-1]
        if batch:
            yield batch

    def read_merges(self) -> list[GraphMerge]:
        """Returns all merges of entities, by the id of the merged one."""
        merges: list[GraphMerge] = []
        while ids := self.spool.list_keys(self.heap("merge"), after=merges[-1].from_id if merges else "", limit=_PAGE):
            rows = [row for _, row in self.find("merge", ids)]
            merges += sorted(GraphMerge(row.from_id, row.from_name, row.into_id, row.into_name) for row in rows)
        return merges

    def read_questions(self) -> Iterator[list[ArchiveQuestionRow]]:
        """Yields all stored questions, the oldest first, in batches for one transaction each."""
        ids: list[str] = []
        last = ""
        while page := self.spool.list_keys(self.heap("question"), after=last, limit=_PAGE):
            ids += page
            last = page[-1]
        ordered = [row for _, row in sorted(self.find("question", ids), key=lambda found: found[0])]
        for at in range(0, len(ordered), _PAGE):
            yield ordered[at : at + _PAGE]

    def read_vectors(self, kind: VectorKind, ids: list[str]) -> tuple[list[str], Vectors]:
        """Returns those vectors that are in the file: their ids, and a matrix with one row for each."""
        found = self.spool.find(self.heap("vector", kind), ids)
        dimension = self.settings.dimension
        vectors = [decode_vector(parse_row(one.body), dimension) for one in found]
        return [one.key for one in found], np.stack(vectors) if vectors else np.empty((0, dimension), np.float32)

    def read_originals(self, names: set[str]) -> Iterator[bytes]:
        """Yields those originals that are in the file."""
        for name in sorted(names):
            parts = self.spool.find(self.heap("original"), [name])
            if parts:
                yield b"".join(part.body for part in parts)

    def count_missing(self, kind: str, of: str = "") -> int:
        """Returns how many rows of a kind have no vector (`of`: chunk, entity, fact) or no original (`of` empty)."""
        other = self.heap("vector", of) if of else self.heap("original")
        return self.spool.count_missing(self.heap(kind), other)

    def make_error(self, line: int, reason: str) -> LoadFailed:
        """Returns the error for a line that does not fit the others."""
        return LoadFailed(f"{self.source} line {line}: {reason}; the file was damaged, or changed after it was written")


def group_rows(rows: list[tuple[int, Any]], by: str) -> dict[str, list[tuple[int, Any]]]:
    """Groups rows by one of their fields."""

    def key(found: tuple[int, Any]) -> str:
        return str(getattr(found[1], by))

    return {value: list(group) for value, group in groupby(sorted(rows, key=key), key=key)}


def make_spooled_rows(row: Any, line: int, body: bytes) -> list[SpooledRow]:
    return [SpooledRow(key, id, line, body) for key, id in _make_keys(row)]
