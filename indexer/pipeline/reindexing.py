"""A corpus that is built beside another: what it lacks is handed in to it, and it takes the name when it is whole."""

import asyncio
from collections.abc import Sequence

from core.documents import OnConflict
from core.errors import NotFound
from core.jobs import Job
from core.ports.record import NewRevision, Reindex
from indexer.backends import Backends

__all__ = ["follow_builds"]

_UNFINISHED = ("queued", "loading", "extracting", "writing", "deleting", "paused")
_COPIED_TOGETHER = 32


async def follow_builds(backends: Backends, corpus_id: str) -> bool:
    """Go on with what is built beside this corpus, or is this corpus; returns whether something was queued for it.

    Where several workers do so at once, the record lets one of them queue and one of them swap.
    """
    queued = False
    for built in await backends.reindexing.list():
        if corpus_id in (built.corpus_id, built.shadow_id):
            queued |= await _follow(backends, built)
    return queued


async def _follow(backends: Backends, built: Reindex) -> bool:
    job = await backends.jobs.get(built.job_id)
    if job.state.final:  # it was cancelled
        await backends.reindexing.cancel(built.corpus_id)
        return False
    queued = False
    while behind := await backends.reindexing.compare(built.corpus_id):
        queued = True
        if behind.revisions:
            await _copy_originals(backends, built, behind.revisions)
            await backends.submissions.enqueue(
                built.shadow_id, behind.revisions, OnConflict.REPLACE, job_id=built.job_id
            )
            # Between copying and queuing, a sweep may have taken bytes that no revision named: copy them once more.
            await _copy_originals(backends, built, behind.revisions)
        if behind.document_ids:
            await backends.submissions.delete_documents(built.shadow_id, behind.document_ids)
    if not queued and not _is_at_work(job):
        await _swap(backends, built, job)
    return queued


async def _swap(backends: Backends, built: Reindex, job: Job) -> None:
    """A document that can be read in the old corpus and failed in the new one keeps the old one."""
    if await backends.reindexing.swap(built.corpus_id) is None and job.counts.get("failed"):
        await backends.reindexing.cancel(built.corpus_id)


def _is_at_work(job: Job) -> bool:
    return any(job.counts.get(state) for state in _UNFINISHED)


async def _copy_originals(backends: Backends, built: Reindex, revisions: Sequence[NewRevision]) -> None:
    """Originals are kept by corpus, so that one corpus' deletion never takes another's."""
    names = sorted({revision.content_hash for revision in revisions})
    for start in range(0, len(names), _COPIED_TOGETHER):
        await asyncio.gather(*(_copy(backends, built, name) for name in names[start : start + _COPIED_TOGETHER]))


async def _copy(backends: Backends, built: Reindex, name: str) -> None:
    try:
        content = await backends.files.get(built.corpus_id, name)
    except NotFound:
        return  # its document fails to load, and says so
    await backends.files.put(built.shadow_id, [content])
