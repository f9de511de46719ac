"""Jobs as the holder of a key sees them."""

from collections.abc import Sequence
from dataclasses import replace

from app.access.access import Access
from app.access.documents import RestrictedDocuments
from core.errors import NotFound
from core.ids import document_id
from core.jobs import Job, JobKind, JobState
from core.ports.record import Corpora, Jobs
from core.record_policy.errors import job_missing

__all__ = ["RestrictedJobs"]

_BATCH = 200


class RestrictedJobs:
    """Implements `core.ports.record.Jobs`: a job of a corpus that the key may not see is not there.

    For a key with a filter, a job names only failed documents that match, and cannot be cancelled or resumed: it may
    hold documents that do not match.
    """

    def __init__(self, jobs: Jobs, corpora: Corpora, access: Access, documents: RestrictedDocuments | None) -> None:
        self._jobs = jobs
        self._corpora = corpora
        self._access = access
        self._documents = documents

    async def get(self, job_id: str) -> Job:
        job = await self._jobs.get(job_id)
        if not await self._sees(job):
            raise job_missing(job_id)
        return await self._show(job)

    async def list(
        self,
        *,
        limit: int = 50,
        before: str | None = None,
        corpus: str | None = None,
        kind: JobKind | None = None,
        state: JobState | None = None,
    ) -> Sequence[Job]:
        found: list[Job] = []
        while len(found) < limit:
            jobs = await self._jobs.list(limit=_BATCH, before=before, corpus=corpus, kind=kind, state=state)
            found += [await self._show(job) for job in jobs if await self._sees(job)]
            if len(jobs) < _BATCH:
                break
            before = jobs[-1].id
        return found[:limit]

    async def cancel(self, job_id: str) -> Job:
        await self.get(job_id)
        self._access.check_whole("a job may concern")
        return await self._jobs.cancel(job_id)

    async def resume(self, job_id: str, *, tokens: int | None = None) -> Job:
        await self.get(job_id)
        self._access.check_whole("a job may concern")
        return await self._jobs.resume(job_id, tokens=tokens)

    async def _sees(self, job: Job) -> bool:
        """Returns whether the key may see the corpus, by the name that it has now and had when the job was made."""
        if not self._access.sees(job.corpus_name):
            return False
        try:
            now = (await self._corpora.get_by_id(job.corpus_id)).name
        except NotFound:
            return True
        return not now or self._access.sees(now)

    async def _show(self, job: Job) -> Job:
        if self._documents is None or not job.failures:
            return job
        ids = {document_id(key): key for key, _ in job.failures}
        visible = {ids[id] for id in await self._documents.among(job.corpus_id, list(ids))}
        return replace(job, failures=tuple(failure for failure in job.failures if failure[0] in visible))
