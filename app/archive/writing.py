"""A corpus written out, row by row: what the record holds at one generation, then vectors and originals."""

import asyncio
import base64
import hashlib
from collections import Counter
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import asdict, dataclass, field

import numpy as np

from app.archive.format.lines import json_line
from app.archive.format.rows import FORMAT
from app.container import Container
from core.corpora import Corpus
from core.errors import NotFound
from core.ports.views import VectorKind
from stores.sqlite import Spool, SpooledRow

__all__ = ["Tally", "section_lines"]

_BATCH = 1000
_PART_BYTES = 3 * 1024 * 1024
_NAMED = {
    "chunk": ("view_id", "document_id"),
    "entity": ("id", "id"),
    "fact": ("triple_id", "id"),
    "document": ("content_hash", "id"),
}
"""By kind of row: what names its vector or original, and what is kept beside that."""


@dataclass
class Tally:
    """How many rows were written so far, and what the views and files no longer had: made of vectors again, or gone."""

    counts: Counter[str] = field(default_factory=Counter)
    missing_vectors: int = 0
    missing_originals: int = 0


async def section_lines(container: Container, corpus: Corpus, tally: Tally) -> AsyncGenerator[str]:
    """The lines of one corpus. The record is read first and at once; what it named is fetched afterwards, so that
    nobody's writing waits for it, and what went meanwhile is missing.
    """
    digest = hashlib.sha256()
    spool = Spool()
    try:
        async with aclosing(_rows(container, corpus, spool, tally)) as rows:
            async for row in rows:
                tally.counts[str(row["kind"])] += 1
                line = json_line(row)
                digest.update(line.encode())
                yield line
    finally:
        await asyncio.to_thread(spool.close)
    yield json_line({"kind": "end", "counts": _without_corpus(tally.counts), "sha256": digest.hexdigest()})


def _without_corpus(counts: Mapping[str, int]) -> dict[str, int]:
    return {kind: n for kind, n in counts.items() if kind != "corpus"}


async def _rows(
    container: Container, corpus: Corpus, spool: Spool, tally: Tally
) -> AsyncGenerator[Mapping[str, object]]:
    settings = asdict(corpus.settings)
    yield {
        "kind": "corpus",
        "format": FORMAT,
        "name": corpus.name,
        "settings": settings,
        "generation": corpus.generation,
    }
    noted: list[tuple[str, SpooledRow]] = []
    async for row in container.record.exporter.rows(corpus.id, canonical=False):
        kind = str(row["kind"])
        if kind in _NAMED:
            key, beside = _NAMED[kind]
            noted.append((kind, SpooledRow(str(row[key]), str(row[beside]), 0, b"")))
            if len(noted) >= _BATCH:
                await asyncio.to_thread(_note, spool, noted)
                noted = []
        yield row
    await asyncio.to_thread(_note, spool, noted)
    await asyncio.to_thread(spool.seal)
    for kind in VectorKind:
        async for row in _vectors(container, corpus.id, kind, spool, tally):
            yield row
    async for row in _originals(container, corpus.id, spool, tally):
        yield row


def _note(spool: Spool, noted: list[tuple[str, SpooledRow]]) -> None:
    for heap in _NAMED:
        spool.add(heap, [row for kind, row in noted if kind == heap])


async def _vectors(
    container: Container, corpus_id: str, kind: VectorKind, spool: Spool, tally: Tally
) -> AsyncGenerator[Mapping[str, object]]:
    lacking, some = 0, kind is VectorKind.CHUNK
    async for ids in _keys(spool, kind.value):
        found = await container.vectors.fetch(corpus_id, kind, ids)
        lacking, some = lacking + len(ids) - len(found), some or bool(found)
        owners = {row.key: row.id for row in await asyncio.to_thread(spool.find, kind.value, ids)}
        for id in sorted(found):
            data = base64.b64encode(np.ascontiguousarray(found[id], dtype="<f4").tobytes()).decode()
            owner = owners[id] if kind is VectorKind.CHUNK else ""
            yield {"kind": "vector", "of": kind.value, "id": id, "document_id": owner, "data": data}
    tally.missing_vectors += lacking if some else 0  # entities and facts of many corpora have none at all


async def _originals(
    container: Container, corpus_id: str, spool: Spool, tally: Tally
) -> AsyncGenerator[Mapping[str, object]]:
    async for names in _keys(spool, "document"):
        for name in names:
            try:
                content = await container.files.get(corpus_id, name)
            except NotFound:  # its document went while this was written
                tally.missing_originals += 1
                continue
            parts = max(1, -(-len(content) // _PART_BYTES))
            for part in range(parts):
                data = base64.b64encode(content[part * _PART_BYTES : (part + 1) * _PART_BYTES]).decode()
                yield {"kind": "original", "content_hash": name, "part": part, "parts": parts, "data": data}


async def _keys(spool: Spool, heap: str) -> AsyncGenerator[list[str]]:
    last = ""
    while keys := await asyncio.to_thread(spool.list_keys, heap, after=last, limit=_BATCH):
        yield keys
        last = keys[-1]
