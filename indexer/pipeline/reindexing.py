"""Reindexing: submits to a shadow corpus what it lacks, and gives it the name of the corpus when it is complete."""

import asyncio
from collections.abc import Sequence

from core.documents import OnConflict
from core.errors import NotFound
from core.jobs import Job
from core.ports.record import NewRevision, Reindex
from indexer.backends import IndexingBackends

__all__ = ["continue_reindexing"]

_UNFINISHED = ("queued", "loading", "extracting", "writing", "deleting", "paused")
_COPY_BATCH = 32


async def continue_reindexing(backends: IndexingBackends, corpus_id: str) -> bool:
    """Continues each reindexing with this corpus, or with this shadow corpus. Returns whether it queued anything.

    If several workers do so at once, the record lets one of them queue and one of them swap.
    """
    queued = False
    for reindex in await backends.reindexing.list():
        if corpus_id in (reindex.corpus_id, reindex.shadow_id):
            queued |= await _continue(backends, reindex)
    return queued


async def _continue(backends: IndexingBackends, reindex: Reindex) -> bool:
    job = await backends.jobs.get(reindex.job_id)
    if job.state.final:  # it was cancelled
        await backends.reindexing.cancel(reindex.corpus_id)
        return False
    queued = False
    while difference := await backends.reindexing.compare(reindex.corpus_id):
        queued = True
        if difference.revisions:
            await _copy_originals(backends, reindex, difference.revisions)
            await backends.submissions.enqueue(
                reindex.shadow_id, difference.revisions, OnConflict.REPLACE, job_id=reindex.job_id
            )
            # Between copying and queuing, another worker may have deleted bytes that no revision named: copy again.
            await _copy_originals(backends, reindex, difference.revisions)
        if difference.document_ids:
            await backends.submissions.delete_documents(reindex.shadow_id, difference.document_ids)
    if not queued and not _is_unfinished(job):
        await _swap(backends, reindex, job)
    return queued


async def _swap(backends: IndexingBackends, reindex: Reindex, job: Job) -> None:
    """Swaps the corpora. If a readable document of the corpus has failed in the shadow corpus, cancels instead."""
    if await backends.reindexing.swap(reindex.corpus_id) is None and job.counts.get("failed"):
        await backends.reindexing.cancel(reindex.corpus_id)


def _is_unfinished(job: Job) -> bool:
    return any(job.counts.get(state) for state in _UNFINISHED)


async def _copy_originals(backends: IndexingBackends, reindex: Reindex, revisions: Sequence[NewRevision]) -> None:
    """Copies the originals. They are stored per corpus, so deleting a corpus deletes no originals of another corpus."""
    names = sorted({revision.content_hash for revision in revisions})
    for start in range(0, len(names), _COPY_BATCH):
        await asyncio.gather(*(_copy(backends, reindex, name) for name in names[start : start + _COPY_BATCH]))


async def _copy(backends: IndexingBackends, reindex: Reindex, name: str) -> None:
    try:
        content = await backends.files.get(reindex.corpus_id, name)
    except NotFound:
        return  # its document fails to load, with a reason
    await backends.files.put(reindex.shadow_id, [content])
