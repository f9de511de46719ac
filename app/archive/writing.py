"""Writes all corpora into one compressed archive file, or one corpus as lines.

A corpus is the rows of the record at one generation, then vectors and originals.
"""

import asyncio
import base64
import gzip
import hashlib
import time
from collections import Counter
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from app.archive.lines import encode_row
from app.archive.reading import Report
from app.archive.rows import FORMAT, read_question_rows
from app.container import Container
from core.corpora import Corpus
from core.errors import InvalidInput, NotFound
from core.execution.files import Draft
from core.ports.views import VectorKind
from stores.sqlite import Spool, SpooledRow

_BLOCK = 1 << 20
_LEVEL = 1  # most of the file is vectors, which a higher level does not make smaller
_REPORT_ROWS = 1000


@dataclass(frozen=True, kw_only=True)
class BackupResult:
    """Counts of what the file holds of one corpus. A restore computes missing vectors again."""

    name: str
    documents: int
    chunks: int
    vectors: int
    missing_vectors: int
    missing_originals: int


async def back_up(container: Container, path: Path, report: Report) -> list[BackupResult]:
    """Writes a backup to `path` and returns a result for each corpus.

    The file is written under another name beside `path` and renamed when it is complete. Raises `InvalidInput` if it
    cannot be written.
    """
    done: list[BackupResult] = []
    try:
        with Draft(path) as draft:
            with gzip.GzipFile(filename="", mode="wb", compresslevel=_LEVEL, fileobj=draft.file) as packed:
                async with aclosing(_blocks(container, report, done)) as blocks:
                    async for block in blocks:
                        await asyncio.to_thread(packed.write, block)
            await asyncio.to_thread(draft.keep)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror}") from error
    return done


async def _blocks(container: Container, report: Report, done: list[BackupResult]) -> AsyncGenerator[bytes]:
    block: list[str] = []
    size = 0
    async with aclosing(_lines(container, report, done)) as lines:
        async for line in lines:
            block.append(line)
            size += len(line)
            if size >= _BLOCK:
                yield "".join(block).encode()
                block.clear()
                size = 0
    yield "".join(block).encode()


async def _lines(container: Container, report: Report, done: list[BackupResult]) -> AsyncGenerator[str]:
    names = [corpus.name for corpus in await container.record.corpora.list()]
    made_at = datetime.now(UTC).isoformat(timespec="seconds")
    yield encode_row({"kind": "backup", "format": FORMAT, "corpora": names, "made_at": made_at})
    for name in names:
        try:
            corpus = await container.record.corpora.get(name)
        except NotFound:
            continue  # deleted meanwhile; the last row does not list it either
        counts = RowCounts()
        async with aclosing(encode_section(container, corpus, counts, with_questions=True)) as lines:
            async for line in lines:
                if counts.rows.total() % _REPORT_ROWS == 0:
                    report(f"writing {name}, row", counts.rows.total(), None)
                yield line
        done.append(_make_result(name, counts))
    yield encode_row({"kind": "backup_end", "corpora": [one.name for one in done]})


@dataclass
class RowCounts:
    """Counts of the rows written so far, and of the vectors and originals that the stores no longer had.

    A restore computes missing vectors again; missing originals are lost.
    """

    rows: Counter[str] = field(default_factory=Counter)
    missing_vectors: int = 0
    missing_originals: int = 0


def _make_result(name: str, counts: RowCounts) -> BackupResult:
    return BackupResult(
        name=name,
        documents=counts.rows["document"],
        chunks=counts.rows["chunk"],
        vectors=counts.rows["vector"],
        missing_vectors=counts.missing_vectors,
        missing_originals=counts.missing_originals,
    )


_BATCH = 1000
_PART_BYTES = 3 * 1024 * 1024
_LOOK_SECONDS = 1.0
"""How often it is looked whether the caller may still see the documents whose vectors and originals are written."""
_VIEW_NAMES = {
    "chunk": ("view_id", "document_id"),
    "entity": ("id", "id"),
    "fact": ("triple_id", "id"),
    "document": ("content_hash", "id"),
}
"""By kind of row: the field that names its vector or original, and the field that is stored with that name."""


async def encode_section(
    container: Container, corpus: Corpus, counts: RowCounts, *, with_questions: bool = False
) -> AsyncGenerator[str]:
    """Yields the lines of one corpus, with its stored questions if these are wanted, and counts them in `counts`.

    The record is read first, in one pass. Vectors and originals are fetched afterwards, so no writer waits for them;
    what was deleted meanwhile is missing.
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
    looks = _Looks(container, corpus.id)
    async with aclosing(container.record.exporter.rows(corpus.id, canonical=False)) as rows:
        async for row in rows:
            kind = str(row["kind"])
            looks.note(row)
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
    async for row in _read_views(container, corpus, spool, counts):
        await looks.look()
        yield row


async def _read_views(
    container: Container, corpus: Corpus, spool: Spool, counts: RowCounts
) -> AsyncGenerator[Mapping[str, object]]:
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


class _Looks:
    """Looks whether the caller may still see the documents whose rows were read, before more of them is written."""

    def __init__(self, container: Container, corpus_id: str) -> None:
        self._container = container
        self._corpus_id = corpus_id
        self._looked = time.monotonic()
        self._document_ids: set[str] = set()

    def note(self, row: Mapping[str, object]) -> None:
        if row["kind"] == "document" and not self._container.sees_all_documents:
            self._document_ids.add(str(row["id"]))

    async def look(self) -> None:
        """Raises `Conflict` if a document was taken from the caller. Looks once a second at most."""
        if not self._container.sees_all_documents and time.monotonic() - self._looked > _LOOK_SECONDS:
            await self._container.check_kept(self._corpus_id, self._document_ids)
            self._looked = time.monotonic()


async def _read_keys(spool: Spool, heap: str) -> AsyncGenerator[list[str]]:
    last = ""
    while keys := await asyncio.to_thread(spool.list_keys, heap, after=last, limit=_BATCH):
        yield keys
        last = keys[-1]
