"""One corpus of a file, put aside row by row until the file is known to be whole."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from app.archive.format.content import vector_of
from app.archive.format.rows import ChunkRow, DocumentRow, FactRow, MentionRow, OriginalRow, parse_row
from core.corpora import CorpusSettings
from core.errors import LoadFailed
from core.ports.embedding import Vectors
from core.ports.views import VectorKind
from stores.sqlite import Spool, SpooledRow

__all__ = ["Section", "as_spooled", "grouped"]

_PAGE = 1000
_MOST_CHUNKS = 2000  # that are written together


def _names_of(row: Any) -> tuple[tuple[str, str], ...]:
    """Under which keys a row is put aside, each with the row's second name: what its vector or original is called."""
    match row:
        case DocumentRow():
            return ((row.id, row.content_hash),)
        case ChunkRow():
            return ((row.document_id, row.view_id),)
        case MentionRow():
            return ((row.chunk_id, row.entity_id),)
        case FactRow():
            return ((row.chunk_id, row.triple_id),)
        case OriginalRow():
            return ((row.content_hash, str(row.part)),)
        case _:
            return _other_names(row)


def _other_names(row: Any) -> tuple[tuple[str, str], ...]:
    if row.kind == "synonym":
        return (row.first_id, row.second_id), (row.second_id, row.first_id)
    if row.kind == "extraction":
        return ((row.document_id, row.extract_hash),)
    return ((row.id, row.id),)


@dataclass(frozen=True, kw_only=True)
class Section:
    """`number` is its place in the file; `sha256` the digest of its lines, once they are all there."""

    path: Path
    number: int
    name: str
    settings: CorpusSettings
    generation: int
    sha256: str
    spool: Spool

    def heap(self, kind: str, of: str = "") -> str:
        return f"{self.number}:{kind}:{of}"

    def find(self, kind: str, keys: list[str] | set[str]) -> list[tuple[int, Any]]:
        """The rows of a kind under these keys, each with its line."""
        return [(found.line, parse_row(found.body)) for found in self.spool.find(self.heap(kind), keys)]

    def count(self, kind: str) -> int:
        return self.spool.count(self.heap(kind))

    def batches(self) -> Iterator[list[tuple[int, DocumentRow]]]:
        """All documents by id with their lines, as many at a time as are written together."""
        last = ""
        batch: list[tuple[int, DocumentRow]] = []
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

    def vectors(self, kind: VectorKind, ids: list[str]) -> tuple[list[str], Vectors]:
        """Those of the vectors that the file holds: their ids, and the vectors as rows."""
        found = self.spool.find(self.heap("vector", kind), ids)
        dimension = self.settings.dimension
        vectors = [vector_of(parse_row(one.body), dimension) for one in found]
        return [one.key for one in found], np.stack(vectors) if vectors else np.empty((0, dimension), np.float32)

    def originals(self, names: set[str]) -> Iterator[bytes]:
        """Those of the originals that the file holds, one at a time."""
        for name in sorted(names):
            parts = self.spool.find(self.heap("original"), [name])
            if parts:
                yield b"".join(part.body for part in parts)

    def lacking(self, kind: str, of: str = "") -> int:
        """How many rows of a kind have no vector (`of`: chunk, entity, fact) or no original (`of` empty)."""
        other = self.heap("vector", of) if of else self.heap("original")
        return self.spool.count_missing(self.heap(kind), other)

    def wrong(self, line: int, reason: str) -> LoadFailed:
        return LoadFailed(f"{self.path} line {line}: {reason}; the file was damaged, or changed after it was written")


def grouped(rows: list[tuple[int, Any]], by: str) -> dict[str, list[tuple[int, Any]]]:
    """Rows by one of their fields."""

    def key(found: tuple[int, Any]) -> str:
        return str(getattr(found[1], by))

    return {value: list(group) for value, group in groupby(sorted(rows, key=key), key=key)}


def as_spooled(row: Any, line: int, body: bytes) -> list[SpooledRow]:
    return [SpooledRow(key, id, line, body) for key, id in _names_of(row)]
