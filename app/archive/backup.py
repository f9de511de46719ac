"""Writes all corpora into one compressed archive file."""

import asyncio
import gzip
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from app.archive.format.lines import encode_row
from app.archive.format.rows import FORMAT
from app.archive.read_sections import Report
from app.archive.section_encoder import RowCounts, encode_section
from app.container import Container
from core.errors import InvalidInput, NotFound
from core.execution.drafts import Draft

__all__ = ["BackupResult", "back_up"]

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


def _make_result(name: str, counts: RowCounts) -> BackupResult:
    return BackupResult(
        name=name,
        documents=counts.rows["document"],
        chunks=counts.rows["chunk"],
        vectors=counts.rows["vector"],
        missing_vectors=counts.missing_vectors,
        missing_originals=counts.missing_originals,
    )
