"""Encodes a corpus as lines of an archive: the rows of the record at one generation, then vectors and originals."""

import asyncio
import base64
import hashlib
from collections import Counter
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import asdict, dataclass, field

import numpy as np

from app.archive.format.lines import encode_row
from app.archive.format.rows import FORMAT
from app.archive.questions import read_question_rows
from app.container import Container
from core.corpora import Corpus
from core.errors import NotFound
from core.ports.views import VectorKind
from stores.sqlite import Spool, SpooledRow

__all__ = ["RowCounts", "encode_section"]

_BATCH = 1000
_PART_BYTES = 3 * 1024 * 1024
_VIEW_NAMES = {
    "chunk": ("view_id", "document_id"),
    "entity": ("id", "id"),
    "fact": ("triple_id", "id"),
    "document": ("content_hash", "id"),
}
"""By kind of row: the field that names its vector or original, and the field that is stored with that name."""


@dataclass
class RowCounts:
    """Counts of the rows written so far, and of the vectors and originals that the stores no longer had.

    A restore computes missing vectors again; missing originals are lost.
    """

    rows: Counter[str] = field(default_factory=Counter)
    missing_vectors: int = 0
    missing_originals: int = 0


async def encode_section(
    container: Container, corpus: Corpus, counts: RowCounts, *, with_questions: bool = False
) -> AsyncGenerator[str]:
    """Yields the lines of one corpus, with its stored questions if these are wanted, and counts them in `counts`.

    The record is read first, in one pass. Vectors and originals are fetched afterwards, so no writer waits for them;
    those deleted meanwhile are missing.
    """
    digest = hashlib.sha256()
    spool = Spool()
    try:
        async with aclosing(_read_rows(container, corpus, spool, counts, with_questions=with_questions)) as rows:
            async for row in rows:
                counts.rows[str(row["kind"])] += 1
                line = encode_row(row)
                digest.update(line.encode())
                yield line
    finally:
        await asyncio.to_thread(spool.close)
    yield encode_row({"kind": "end", "counts": _without_corpus(counts.rows), "sha256": digest.hexdigest()})


def _without_corpus(rows: Mapping[str, int]) -> dict[str, int]:
    return {kind: n for kind, n in rows.items() if kind != "corpus"}


async def _read_rows(
    container: Container, corpus: Corpus, spool: Spool, counts: RowCounts, *, with_questions: bool
) -> AsyncGenerator[Mapping[str, object]]:
    settings = asdict(corpus.settings)
    yield {
        "kind": "corpus",
        "format": FORMAT,
        "name": corpus.name,
        "settings": settings,
        "generation": corpus.generation,
    }
    names: list[tuple[str, SpooledRow]] = []
    async with aclosing(container.record.exporter.rows(corpus.id, canonical=False)) as rows:
        async for row in rows:
            kind = str(row["kind"])
            if kind in _VIEW_NAMES:
                key, beside = _VIEW_NAMES[kind]
                names.append((kind, SpooledRow(str(row[key]), str(row[beside]), 0, b"")))
                if len(names) >= _BATCH:
                    await asyncio.to_thread(_spool_names, spool, names)
                    names = []
            yield row
    await asyncio.to_thread(_spool_names, spool, names)
    await asyncio.to_thread(spool.seal)
    if with_questions:
        async for row in read_question_rows(container, corpus):
            yield row
    for kind in VectorKind if corpus.settings.has_vectors else ():
        async for row in _read_vectors(container, corpus.id, kind, spool, counts):
            yield row
    async for row in _read_originals(container, corpus.id, spool, counts):
        yield row


def _spool_names(spool: Spool, names: list[tuple[str, SpooledRow]]) -> None:
    for heap in _VIEW_NAMES:
        spool.add(heap, [row for kind, row in names if kind == heap])


async def _read_vectors(
    container: Container, corpus_id: str, kind: VectorKind, spool: Spool, counts: RowCounts
) -> AsyncGenerator[Mapping[str, object]]:
    missing, has_vectors = 0, kind is VectorKind.CHUNK
    async for ids in _read_keys(spool, kind.value):
        found = await container.vectors.fetch(corpus_id, kind, ids)
        missing, has_vectors = missing + len(ids) - len(found), has_vectors or bool(found)
        owners = {row.key: row.id for row in await asyncio.to_thread(spool.find, kind.value, ids)}
        for id in sorted(found):
            data = base64.b64encode(np.ascontiguousarray(found[id], dtype="<f4").tobytes()).decode()
            owner = owners[id] if kind is VectorKind.CHUNK else ""
            yield {"kind": "vector", "of": kind.value, "id": id, "document_id": owner, "data": data}
    counts.missing_vectors += missing if has_vectors else 0  # many corpora have no vectors of entities and facts


async def _read_originals(
    container: Container, corpus_id: str, spool: Spool, counts: RowCounts
) -> AsyncGenerator[Mapping[str, object]]:
    async for hashes in _read_keys(spool, "document"):
        for name in hashes:
            try:
                content = await container.files.get(corpus_id, name)
            except NotFound:  # the document was deleted meanwhile
                counts.missing_originals += 1
                continue
            parts = max(1, -(-len(content) // _PART_BYTES))
            for part in range(parts):
                data = base64.b64encode(content[part * _PART_BYTES : (part + 1) * _PART_BYTES]).decode()
                yield {"kind": "original", "content_hash": name, "part": part, "parts": parts, "data": data}


async def _read_keys(spool: Spool, heap: str) -> AsyncGenerator[list[str]]:
    last = ""
    while keys := await asyncio.to_thread(spool.list_keys, heap, after=last, limit=_BATCH):
        yield keys
        last = keys[-1]
