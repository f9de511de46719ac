"""What a corpus of the storm has left, to be compared with an undisturbed one, and what is wrong with it."""

import asyncio
import json
import sqlite3
import time
from dataclasses import dataclass
from pathlib import Path

from app.container import Container
from app.doctor.diagnosis import CorpusExamination
from app.doctor.findings import Level
from core.corpora import Corpus
from core.ports.views import VectorKind

__all__ = ["Left", "find_faults", "read_settled"]

_PATIENCE_SECONDS = 90.0
_POLL_SECONDS = 0.5
_LISTED = 200


@dataclass(frozen=True, kw_only=True)
class Left:
    """The canonical export, the ids in the views, and the names of the originals."""

    export: bytes
    views: tuple[frozenset[str], ...]
    originals: frozenset[str]
    needed: frozenset[str]
    """The originals that the record names."""


async def read_left(container: Container, corpus: Corpus) -> Left:
    rows = [row async for row in container.record.exporter.rows(corpus.id, canonical=True)]
    views = [frozenset(await container.vectors.ids(corpus.id, kind)) for kind in VectorKind]
    return Left(
        export="\n".join(json.dumps(row, sort_keys=True, ensure_ascii=False) for row in rows).encode(),
        views=(*views, frozenset(await container.text.ids(corpus.id))),
        originals=frozenset(await container.files.names(corpus.id)),
        needed=frozenset(str(row["content_hash"]) for row in rows if row["kind"] == "document"),
    )


async def read_settled(container: Container, corpus: Corpus) -> Left:
    """Waits for the originals, which are deleted after the job has ended; returns what is left then."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while (left := await read_left(container, corpus)).originals != left.needed:
        assert time.monotonic() < deadline, left.originals ^ left.needed
        await asyncio.sleep(_POLL_SECONDS)
    return left


async def find_faults(container: Container, corpus: Corpus, expected: Left) -> list[str]:
    """Waits until nothing is wrong, as tombstones are due some seconds after a kill; returns what remains wrong."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while (faults := await _compare(container, corpus, expected)) and time.monotonic() < deadline:  # noqa: ASYNC110
        # No event tells when the views have followed the record.
        await asyncio.sleep(_POLL_SECONDS)  # the worker is another process
    return faults + await _examine(container, corpus)


async def _compare(container: Container, corpus: Corpus, expected: Left) -> list[str]:
    left = await read_left(container, corpus)
    faults = ["the export differs"] if left.export != expected.export else []
    for name, ids, others in zip((*VectorKind, "text"), left.views, expected.views, strict=True):
        if ids != others:
            faults.append(f"view {name}: {len(others - ids)} are missing, {len(ids - others)} too many")
    if left.originals != left.needed:
        faults.append(
            f"originals: {len(left.needed - left.originals)} are missing, {len(left.originals - left.needed)} too many"
        )
    drafts = [path for path in _originals(container, corpus) if path.name.startswith(".")]
    if drafts:
        faults.append(f"originals: {len(drafts)} drafts are left, such as {drafts[0].name}")
    if corpus.id in await container.record.maintenance.list_corpora_with_work():
        faults.append("work is left")
    return faults


def _originals(container: Container, corpus: Corpus) -> list[Path]:
    return list((container.settings.data_dir / "files" / corpus.id).rglob("*"))


async def _examine(container: Container, corpus: Corpus) -> list[str]:
    """Returns what doctor finds, and the jobs that do not end even if their clients are known to be gone."""
    found = [one async for one in CorpusExamination(container, corpus, waiting=False).findings()]
    faults = [f"doctor: {one.subject}: {one.detail}" for one in found if one.level is not Level.OK]
    deadline = time.monotonic() + _PATIENCE_SECONDS
    await _end_open_jobs(container, corpus)
    while (left := await _list_unsettled(container, corpus)) and time.monotonic() < deadline:
        await asyncio.sleep(_POLL_SECONDS)  # what a reindex replaced is dropped by the worker, another process
        await _end_open_jobs(container, corpus)  # the last request of a killed client may touch its job once more
    return faults + left


async def _end_open_jobs(container: Container, corpus: Corpus) -> None:
    with sqlite3.connect(container.settings.data_dir / "record.db", timeout=30) as record:  # as if an hour had passed
        record.execute("UPDATE jobs SET touched_at = 0 WHERE open = 1 AND corpus_id = ?", (corpus.id,))
    record.close()
    await container.record.maintenance.prune()


async def _list_unsettled(container: Container, corpus: Corpus) -> list[str]:
    jobs = await container.record.jobs.list(limit=_LISTED, corpus=corpus.name)
    return [f"job {job.id} ({job.kind}) is {job.state}: {dict(job.counts)}" for job in jobs if not job.settled]
