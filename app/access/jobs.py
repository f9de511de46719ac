"""Jobs as the holder of a key sees them."""

from collections.abc import Sequence
from dataclasses import replace

from app.access.access import Access
from core.errors import NotFound
from core.jobs import Job, JobKind, JobState
from core.ports.record import Corpora, Jobs
from core.record_policy.errors import job_missing

__all__ = ["RestrictedJobs"]

_BATCH = 200


class RestrictedJobs:
    """Implements `core.ports.record.Jobs`: a job of a corpus that the key may not see is not there.

    For a key with a filter, there are only the jobs that it submitted. All documents of these match its filter, which
    `RestrictedSubmissions` checks; the numbers of any other job may count documents that do not match. What is ahead of
    a job is left out, since it may count them, too.
    """

    def __init__(self, jobs: Jobs, corpora: Corpora, access: Access) -> None:
        self._jobs = jobs
        self._corpora = corpora
        self._access = access
        self._own = None if access.where is None else access.key

    async def get(self, job_id: str) -> Job:
        job = await self._jobs.get(job_id)
        if not await self._sees(job):
            raise job_missing(job_id)
        return self._restrict(job)

    async def list(
        self,
        *,
        limit: int = 50,
        before: str | None = None,
        corpus: str | None = None,
        kind: JobKind | None = None,
        state: JobState | None = None,
        submitted_by: str | None = None,
    ) -> Sequence[Job]:
        if before is not None:
            await self.get(before)  # whether another job exists, and when it was made, is not told either
        key = self._own or submitted_by
        found: list[Job] = []
        names: dict[str, str] = {}
        while len(found) < limit:
            jobs = await self._jobs.list(
                limit=_BATCH, before=before, corpus=corpus, kind=kind, state=state, submitted_by=key
            )
            found += [self._restrict(job) for job in jobs if await self._sees(job, names)]
            if len(jobs) < _BATCH:
                break
            before = jobs[-1].id
        return found[:limit]

    async def cancel(self, job_id: str) -> Job:
        await self.get(job_id)
        return self._restrict(await self._jobs.cancel(job_id))

    async def resume(self, job_id: str, *, tokens: int | None = None) -> Job:
        await self.get(job_id)
        return self._restrict(await self._jobs.resume(job_id, tokens=tokens))

    def _restrict(self, job: Job) -> Job:
        return job if self._access.where is None else replace(job, ahead=None)

    async def _sees(self, job: Job, names: dict[str, str] | None = None) -> bool:
        """Returns whether the key may see the job, and its corpus by the name that it has now and had when the job was
        made. `names` keeps the present names of corpora by id, '' for none.
        """
        if self._access.where is not None and (self._own is None or job.submitted_by != self._own):
            return False
        if not self._access.sees(job.corpus_name):
            return False
        known = {} if names is None else names
        if job.corpus_id not in known:
            known[job.corpus_id] = await self._read_name(job.corpus_id)
        now = known[job.corpus_id]
        return not now or self._access.sees(now)

    async def _read_name(self, corpus_id: str) -> str:
        try:
            return (await self._corpora.get_by_id(corpus_id)).name
        except NotFound:
            return ""
