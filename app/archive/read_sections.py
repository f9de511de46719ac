"""Reads and checks an archive in threads, before anything of it is used."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from app.archive.archive_reader import ArchiveReader
from app.archive.documents import assemble_documents
from app.archive.format.lines import Line, LineDecoder, read_batches
from app.archive.format.section import ArchiveSection
from core.errors import LoadFailed
from core.ports.views import VectorKind
from stores.sqlite import Spool

__all__ = ["ArchiveSource", "Report", "open_file", "open_stream", "read_sections"]

T = TypeVar("T")

Report = Callable[[str, int, int | None], None]
"""Called with the current activity, how much of it is done, and the total (None: unknown)."""

_PIECE = 1 << 20
_ONCE = (
    *(("document", ""), ("entity", ""), ("merge", ""), ("question", "")),
    *(("vector", kind.value) for kind in VectorKind),
)
_ONCE_BY_ID = (("extraction", ""), ("original", ""))  # several rows of a document, and several parts of an original


@dataclass(frozen=True, kw_only=True)
class ArchiveSource:
    """The lines of an archive in batches, which can be read once. `name` is how messages call the archive."""

    name: str
    batches: AsyncGenerator[list[Line]]


def open_file(path: Path) -> ArchiveSource:
    return ArchiveSource(name=str(path), batches=_run_in_threads(read_batches(path)))


def open_stream(pieces: AsyncIterator[bytes], name: str, *, max_bytes: int) -> ArchiveSource:
    """Returns the archive that comes in pieces, plain or compressed. `max_bytes` limits it, decompressed."""
    return ArchiveSource(name=name, batches=_decode(pieces, LineDecoder(name, max_bytes=max_bytes)))


@asynccontextmanager
async def read_sections(
    source: ArchiveSource, report: Report, wanted: Callable[[str], bool]
) -> AsyncIterator[ArchiveReader]:
    """Yields a reader of an archive whose wanted corpora are all checked. The spooled rows last as long as the block.

    Raises `LoadFailed` with the line of the error, or with what is missing.
    """
    spool = Spool()
    try:
        reader = ArchiveReader(source.name, spool, wanted)
        async with aclosing(source.batches) as batches:
            async for batch in batches:
                await asyncio.to_thread(reader.add, batch)
                report(f"reading {source.name}, line", reader.line, None)
        await asyncio.to_thread(reader.finish)
        for section in reader.sections:
            total = section.count("document")
            async with aclosing(_run_in_threads(_check_section(section))) as steps:
                async for done in steps:
                    report(f"checking {section.name}, document", done, total)
        yield reader
    finally:
        await asyncio.to_thread(spool.close)


async def _decode(pieces: AsyncIterator[bytes], decoder: LineDecoder) -> AsyncGenerator[list[Line]]:
    waiting, size = list[bytes](), 0
    async for piece in pieces:
        waiting.append(piece)
        size += len(piece)
        if size >= _PIECE:
            async for batch in _run_in_threads(decoder.feed(b"".join(waiting))):
                yield batch
            waiting, size = [], 0
    async for batch in _run_in_threads(decoder.feed(b"".join(waiting))):
        yield batch
    if last := decoder.finish():
        yield last


def _check_section(section: ArchiveSection) -> Iterator[int]:
    """Yields how many documents are checked. Raises `LoadFailed` for rows that are repeated or belong to nothing."""
    for kind, of in (*_ONCE, *_ONCE_BY_ID):
        repeated = section.spool.find_repeated(section.heap(kind, of), by_id=(kind, of) in _ONCE_BY_ID)
        if repeated is not None:
            raise section.make_error(repeated[1], f"this {of or kind} {'vector ' if of else ''}is in the file twice")
    done = 0
    seen = {"chunk": 0, "mention": 0, "fact": 0}
    for batch in section.read_batches():
        for one in assemble_documents(section, batch):
            seen["chunk"] += len(one.chunks)
            seen["mention"] += len(one.mentions)
            seen["fact"] += len(one.facts)
        done += len(batch)
        yield done
    for kind, count in seen.items():
        if section.count(kind) != count:
            raise LoadFailed(
                f"{section.source}: {section.count(kind) - count:,} {kind} rows of corpus {section.name!r} belong to "
                "nothing in the file; it was damaged, or changed after it was written"
            )


async def _run_in_threads(steps: Iterator[T]) -> AsyncGenerator[T]:
    """Runs each step in a thread, so that an interruption takes effect between two steps."""
    while (step := await asyncio.to_thread(next, steps, None)) is not None:
        yield step
