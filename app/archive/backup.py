"""All corpora in one compressed file."""

import asyncio
import gzip
import os
import secrets
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from app.archive.format.lines import json_line
from app.archive.format.reading import Report
from app.archive.format.rows import FORMAT
from app.archive.writing import Tally, section_lines
from app.container import Container
from core.errors import InvalidInput, NotFound

__all__ = ["BackedUp", "back_up"]

_BLOCK = 1 << 20
_LEVEL = 1  # most of it are vectors, which no level makes smaller
_REPORT_ROWS = 1000


@dataclass(frozen=True, kw_only=True)
class BackedUp:
    """What of a corpus is in the file. Vectors that are missing are made again when it is restored."""

    name: str
    documents: int
    chunks: int
    vectors: int
    missing_vectors: int
    missing_originals: int


async def back_up(container: Container, path: Path, report: Report) -> list[BackedUp]:
    """Write a file beside `path`, which takes its place when it is whole. Raises `InvalidInput` where it cannot be."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    done: list[BackedUp] = []
    try:
        with draft.open("wb") as file:
            with gzip.GzipFile(filename="", mode="wb", compresslevel=_LEVEL, fileobj=file) as packed:
                async with aclosing(_blocks(container, report, done)) as blocks:
                    async for block in blocks:
                        await asyncio.to_thread(packed.write, block)
            file.flush()
            await asyncio.to_thread(os.fsync, file.fileno())
        draft.replace(path)
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror}") from error
    finally:
        draft.unlink(missing_ok=True)
    return done


async def _blocks(container: Container, report: Report, done: list[BackedUp]) -> AsyncGenerator[bytes]:
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


async def _lines(container: Container, report: Report, done: list[BackedUp]) -> AsyncGenerator[str]:
    names = [corpus.name for corpus in await container.record.corpora.list()]
    made_at = datetime.now(UTC).isoformat(timespec="seconds")
    yield json_line({"kind": "backup", "format": FORMAT, "corpora": names, "made_at": made_at})
    for name in names:
        try:
            corpus = await container.record.corpora.get(name)
        except NotFound:
            continue  # dropped meanwhile, and missing in the last row, too
        tally = Tally()
        async with aclosing(section_lines(container, corpus, tally)) as lines:
            async for line in lines:
                if tally.counts.total() % _REPORT_ROWS == 0:
                    report(f"writing {name}, row", tally.counts.total(), None)
                yield line
        done.append(_backed_up(name, tally))
    yield json_line({"kind": "backup_end", "corpora": [one.name for one in done]})


def _backed_up(name: str, tally: Tally) -> BackedUp:
    return BackedUp(
        name=name,
        documents=tally.counts["document"],
        chunks=tally.counts["chunk"],
        vectors=tally.counts["vector"],
        missing_vectors=tally.missing_vectors,
        missing_originals=tally.missing_originals,
    )
