"""Reads and checks an archive file in a thread, before anything of it is used."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

from app.archive.archive_reader import ArchiveReader
from app.archive.documents import assemble_documents
from app.archive.format.section import ArchiveSection
from core.errors import LoadFailed
from core.ports.views import VectorKind
from stores.sqlite import Spool

__all__ = ["Report", "read_sections"]

T = TypeVar("T")

Report = Callable[[str, int, int | None], None]
"""Called with the current activity, how much of it is done, and the total (None: unknown)."""

_ONCE = (("document", ""), ("entity", ""), ("merge", ""), *(("vector", kind.value) for kind in VectorKind))


@asynccontextmanager
async def read_sections(path: Path, report: Report, wanted: Callable[[str], bool]) -> AsyncIterator[ArchiveReader]:
    """Yields a reader of a file whose wanted corpora are all checked. The spooled rows last as long as the block.

    Raises `LoadFailed` with the line of the error, or with what is missing.
    """
    spool = Spool()
    try:
        reader = ArchiveReader(path, spool, wanted)
        async for line in _run_in_threads(reader.read_steps()):
            report(f"reading {path.name}, line", line, None)
        for section in reader.sections:
            total = section.count("document")
            async for done in _run_in_threads(_check_section(section)):
                report(f"checking {section.name}, document", done, total)
        yield reader
    finally:
        await asyncio.to_thread(spool.close)


def _check_section(section: ArchiveSection) -> Iterator[int]:
    """Yields how many documents are checked. Raises `LoadFailed` for rows that are repeated or belong to nothing."""
    for kind, of in _ONCE:
        repeated = section.spool.find_repeated(section.heap(kind, of))
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
                f"{section.path}: {section.count(kind) - count:,} {kind} rows of corpus {section.name!r} belong to "
                "nothing in the file; it was damaged, or changed after it was written"
            )


async def _run_in_threads(steps: Iterator[T]) -> AsyncIterator[T]:
    """Runs each step in a thread, so that an interruption takes effect between two steps."""
    while (step := await asyncio.to_thread(next, steps, None)) is not None:
        yield step
