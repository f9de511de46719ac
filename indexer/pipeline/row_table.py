"""The rows of a document's chunks, kept compressed, since a long text has many."""

import json
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, overload

from core.documents import Chunk, Span
from core.ports.record import ChunkRow

__all__ = ["RowTable"]

_ROWS_OF_A_BLOCK = 256
_LEVEL = 1


class RowTable(Sequence[ChunkRow]):
    """Rows of one document in order, which are made when they are read; reading them one after another is cheap.

    The rows of a short document, and the last rows of a long document, are kept as they are.
    """

    def __init__(self) -> None:
        self._blocks: list[bytes] = []
        self._last: list[ChunkRow] = []

    def extend(self, rows: Iterable[ChunkRow]) -> None:
        for row in rows:
            if len(self._last) == _ROWS_OF_A_BLOCK:
                self._blocks.append(_pack(self._last))
                self._last = []
            self._last.append(row)

    def __len__(self) -> int:
        return len(self._blocks) * _ROWS_OF_A_BLOCK + len(self._last)

    def __iter__(self) -> Iterator[ChunkRow]:
        for block in self._blocks:
            yield from _unpack(block)
        yield from self._last

    @overload
    def __getitem__(self, index: int) -> ChunkRow: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[ChunkRow]: ...
    def __getitem__(self, index: int | slice) -> ChunkRow | Sequence[ChunkRow]:
        numbers = range(len(self))[index]
        if not isinstance(numbers, int):
            return [self[n] for n in numbers]
        block, n = divmod(numbers, _ROWS_OF_A_BLOCK)
        return _unpack(self._blocks[block])[n] if block < len(self._blocks) else self._last[n]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # it is equal to a list


def _pack(rows: Sequence[ChunkRow]) -> bytes:
    """Returns the rows as compressed bytes. The terms stand behind all other fields, which are JSON on one line."""
    fields = json.dumps([_fields(row) for row in rows], separators=(",", ":"))
    return zlib.compress(b"\n".join([fields.encode("ascii"), b"".join(row.terms for row in rows)]), _LEVEL)


def _fields(row: ChunkRow) -> list[Any]:
    chunk = row.chunk
    return [
        chunk.id,
        chunk.document_id,
        chunk.view_id,
        chunk.position,
        chunk.text,
        chunk.heading,
        chunk.page,
        chunk.span and [chunk.span.start, chunk.span.end],
        row.extract_hash,
        row.tokens,
        len(row.terms),
        row.title_names,
    ]


def _unpack(block: bytes) -> list[ChunkRow]:
    fields, _, terms = zlib.decompress(block).partition(b"\n")
    rows = []
    at = 0
    for id, document_id, view_id, position, text, heading, page, span, extract_hash, tokens, size, names in json.loads(
        fields
    ):
        chunk = Chunk(
            id=id,
            document_id=document_id,
            view_id=view_id,
            position=position,
            text=text,
            heading=heading,
            page=page,
            span=span and Span(start=span[0], end=span[1]),
        )
        rows.append(
            ChunkRow(
                chunk=chunk,
                extract_hash=extract_hash,
                tokens=tokens,
                terms=terms[at : at + size],
                title_names=tuple(names),
            )
        )
        at += size
    return rows
