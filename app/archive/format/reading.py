"""A file read and checked, off the event loop, until its corpora can be trusted."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

from app.archive.assembling import assemble
from app.archive.format.section import Section
from app.archive.gathering import Gathering
from core.errors import LoadFailed
from core.ports.views import VectorKind
from stores.sqlite import Spool

__all__ = ["Report", "read_sections"]

T = TypeVar("T")

Report = Callable[[str, int, int | None], None]
"""Told what is going on, how much of it is done, and of how much (None: unknown)."""

_ONCE = (("document", ""), ("entity", ""), *(("vector", kind.value) for kind in VectorKind))


@asynccontextmanager
async def read_sections(path: Path, report: Report, wanted: Callable[[str], bool]) -> AsyncIterator[Gathering]:
    """A file whose wanted corpora are all checked; what was put aside lasts as long as the block.

    Raises `LoadFailed` with the line of what is wrong, or what is missing.
    """
    spool = Spool()
    try:
        gathering = Gathering(path, spool, wanted)
        async for line in _off_loop(gathering.steps()):
            report(f"reading {path.name}, line", line, None)
        for section in gathering.sections:
            total = section.count("document")
            async for done in _off_loop(_checks(section)):
                report(f"checking {section.name}, document", done, total)
        yield gathering
    finally:
        await asyncio.to_thread(spool.close)


def _checks(section: Section) -> Iterator[int]:
    for kind, of in _ONCE:
        repeated = section.spool.find_repeated(section.heap(kind, of))
        if repeated is not None:
            raise section.wrong(repeated[1], f"this {of or kind} {'vector ' if of else ''}is in the file twice")
    done = 0
    seen = {"chunk": 0, "mention": 0, "fact": 0}
    for batch in section.batches():
        for one in assemble(section, batch):
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


async def _off_loop(steps: Iterator[T]) -> AsyncIterator[T]:
    """Each step in a thread, so that an interruption comes through between two of them."""
    while (step := await asyncio.to_thread(next, steps, None)) is not None:
        yield step
