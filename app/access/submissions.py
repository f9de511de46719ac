"""Submissions, jobs and questions of the holder of a key, within the filter of the key and its limit of bytes."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from app.access.access import Access, Meter
from app.access.corpora import RestrictedDocuments
from core.documents import Metadata, OnConflict
from core.errors import NotFound
from core.filters import DocumentFilter
from core.ids import document_id
from core.jobs import Job, JobKind, JobState
from core.ports.record import Check, Corpora, Deletion, Enqueued, Jobs, NewRevision, Submissions
from core.ports.record.questions import Questions
from core.principals import DocumentAccess
from core.questions import AskedQuestion, NewQuestion, QuestionEvent, QuestionOutcome, QuestionSource
from core.record_policy.errors import document_outside, job_missing
from core.record_policy.questions import question_missing
from core.validity.statements import mark_writer


class MeteredSubmissions:
    """Implements `core.ports.record.Submissions`, and counts the bytes of what is submitted."""

    def __init__(self, submissions: Submissions, meter: Meter) -> None:
        self._submissions = submissions
        self._meter = meter

    async def enqueue(
        self,
        corpus_id: str,
        revisions: Sequence[NewRevision],
        on_conflict: OnConflict,
        *,
        job_id: str | None = None,
        token_budget: int | None = None,
    ) -> Enqueued:
        """Raises `RateLimited` if the key may not submit so many bytes in this minute."""
        await self._meter.admit_bytes(sum(revision.size for revision in revisions))
        return await self._submissions.enqueue(
            corpus_id, revisions, on_conflict, job_id=job_id, token_budget=token_budget
        )

    async def count_queued(self, corpus_id: str, *, at_most: int) -> int:
        return await self._submissions.count_queued(corpus_id, at_most=at_most)

    async def find_unchanged(self, corpus_id: str, fingerprints: Mapping[str, str]) -> frozenset[str]:
        return await self._submissions.find_unchanged(corpus_id, fingerprints)

    async def open_job(self, corpus_id: str, kind: JobKind, *, token_budget: int | None = None) -> str:
        return await self._submissions.open_job(corpus_id, kind, token_budget=token_budget)

    async def close_job(self, job_id: str) -> Job:
        return await self._submissions.close_job(job_id)

    async def delete_documents(self, corpus_id: str, document_ids: Sequence[str]) -> Job:
        return await self._submissions.delete_documents(corpus_id, document_ids)

    async def delete_existing(self, corpus_id: str, document_ids: Sequence[str]) -> Deletion:
        return await self._submissions.delete_existing(corpus_id, document_ids)

    async def find_deletion(self, corpus_id: str, document_id: str) -> Job | None:
        return await self._submissions.find_deletion(corpus_id, document_id)

    async def amend(self, corpus_id: str, document_id: str, change: Callable[[NewRevision], NewRevision]) -> Enqueued:
        return await self._submissions.amend(corpus_id, document_id, change)

    async def set_enabled(self, corpus_id: str, document_ids: Sequence[str], *, enabled: bool) -> frozenset[str]:
        return await self._submissions.set_enabled(corpus_id, document_ids, enabled=enabled)

    async def set_access(self, corpus_id: str, document_ids: Sequence[str], access: DocumentAccess) -> frozenset[str]:
        return await self._submissions.set_access(corpus_id, document_ids, access)

    async def retry(self, corpus_id: str, document_id: str, *, check: Check | None = None) -> Job:
        return await self._submissions.retry(corpus_id, document_id, check=check)


class RestrictedSubmissions(MeteredSubmissions):
    """The same for a key with a filter or principals: it makes no document that it would not see afterwards.

    `submissions` change only documents that the key sees, by `where`: whether it does is decided in the transaction
    that changes them, so nobody changes a document who has just lost it.
    """

    def __init__(
        self,
        submissions: Submissions,
        meter: Meter,
        access: Access,
        documents: RestrictedDocuments,
        where: DocumentFilter,
    ) -> None:
        super().__init__(submissions, meter)
        self._access = access
        self._key = access.key
        self._documents = documents
        self._where = where

    async def enqueue(
        self,
        corpus_id: str,
        revisions: Sequence[NewRevision],
        on_conflict: OnConflict,
        *,
        job_id: str | None = None,
        token_budget: int | None = None,
    ) -> Enqueued:
        """Raises `Forbidden`, naming the key, for a document that does not match or would replace a document that does
        not match.
        """
        for revision in revisions:
            self._check(revision, revision.metadata)
        revisions = [self._mark(revision) for revision in revisions]
        return await super().enqueue(corpus_id, revisions, on_conflict, job_id=job_id, token_budget=token_budget)

    async def find_deletion(self, corpus_id: str, document_id: str) -> Job | None:
        """Returns None unless this key submitted the job: a document that is being deleted has no fields any more that
        the filter could match.
        """
        job = await super().find_deletion(corpus_id, document_id)
        return job if job is not None and job.submitted_by == self._key else None

    async def amend(self, corpus_id: str, document_id: str, change: Callable[[NewRevision], NewRevision]) -> Enqueued:
        present = await self._documents.get(corpus_id, document_id)

        def checked(submitted: NewRevision) -> NewRevision:
            changed = change(submitted)
            found = {name: value for name, value in present.metadata.items() if name not in submitted.metadata}
            self._check(changed, {**found, **changed.metadata}, title=changed.title or present.title)
            return self._mark(changed, submitted)

        return await super().amend(corpus_id, document_id, checked)

    def _mark(self, revision: NewRevision, before: NewRevision | None = None) -> NewRevision:
        """Returns the revision with the mark of a key's filter: the key cannot change what does not match, so what its
        document claims of others is only a claim (`core.validity`). The fingerprint does not depend on it.
        """
        if self._access.filter is None:
            return revision
        until_now = None if before is None else before.metadata
        return replace(revision, metadata=mark_writer(revision.metadata, self._access.filter.digest, until_now))

    async def set_access(self, corpus_id: str, document_ids: Sequence[str], access: DocumentAccess) -> frozenset[str]:
        self._access.check_access(access)
        return await super().set_access(corpus_id, document_ids, access)

    async def retry(self, corpus_id: str, document_id: str, *, check: Check | None = None) -> Job:
        """Raises `Forbidden` also if what was submitted last does not match: another key may have submitted it."""

        def check_both(submitted: NewRevision) -> None:
            self._check(submitted, submitted.metadata)
            if check is not None:
                check(submitted)

        return await super().retry(corpus_id, document_id, check=check_both)

    def _check(self, revision: NewRevision, metadata: Metadata, *, title: str | None = None) -> None:
        """A revision that names no access leaves a present document, which the caller sees, as it is."""
        self._access.check_access(revision.access)
        title = title or revision.title or revision.key
        fields = {"id": document_id(revision.key), "key": revision.key, "title": title}
        if not self._where.matches(**fields, metadata=metadata, access=revision.access):
            raise document_outside(revision.key)


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


class RestrictedQuestions:
    """Implements `core.ports.record.questions.Questions`: there are only the questions that the caller has asked.

    `asker` is the id of the caller's key, '' without a key. `also_unnamed` adds questions that were asked without a
    key.
    """

    def __init__(self, questions: Questions, asker: str, *, also_unnamed: bool = False) -> None:
        self._questions = questions
        self._asker = asker
        self._seen = {asker, ""} if also_unnamed else {asker}

    async def create(self, question: NewQuestion, *, lease_seconds: float, max_running: int) -> AskedQuestion:
        own = replace(question, asked_by=self._asker)
        return await self._questions.create(own, lease_seconds=lease_seconds, max_running=max_running)

    async def get(self, corpus_id: str, question_id: str) -> AskedQuestion:
        question = await self._questions.get(corpus_id, question_id)
        if question.asked_by not in self._seen:
            raise question_missing(question_id)
        return question

    async def list(
        self,
        corpus_id: str,
        *,
        asked_by: Collection[str],
        kept: bool | None = None,
        limit: int = 50,
        before: str | None = None,
    ) -> Sequence[AskedQuestion]:
        """Lists the questions of the caller, whatever `asked_by` says."""
        del asked_by
        return await self._questions.list(corpus_id, asked_by=self._seen, kept=kept, limit=limit, before=before)

    async def list_events(
        self, corpus_id: str, question_id: str, *, after: int = 0, limit: int = 1000
    ) -> Sequence[QuestionEvent]:
        await self.get(corpus_id, question_id)
        return await self._questions.list_events(corpus_id, question_id, after=after, limit=limit)

    async def list_sources(self, corpus_id: str, question_id: str) -> Sequence[QuestionSource]:
        await self.get(corpus_id, question_id)
        return await self._questions.list_sources(corpus_id, question_id)

    async def append(
        self,
        question_id: str,
        events: Sequence[QuestionEvent],
        retrieved: Collection[str] = (),
        *,
        lease_seconds: float,
    ) -> None:
        await self._questions.append(question_id, events, retrieved, lease_seconds=lease_seconds)

    async def finish(self, question_id: str, outcome: QuestionOutcome) -> None:
        await self._questions.finish(question_id, outcome)

    async def cancel(self, corpus_id: str, question_id: str) -> AskedQuestion:
        await self.get(corpus_id, question_id)
        return await self._questions.cancel(corpus_id, question_id)

    async def set_kept(self, corpus_id: str, question_id: str, *, kept: bool) -> AskedQuestion:
        await self.get(corpus_id, question_id)
        return await self._questions.set_kept(corpus_id, question_id, kept=kept)

    async def set_verification(
        self,
        corpus_id: str,
        question_id: str,
        verification: dict[str, Any] | None,
        retrieved: Collection[str] = (),
    ) -> None:
        await self.get(corpus_id, question_id)
        await self._questions.set_verification(corpus_id, question_id, verification, retrieved)

    async def delete(self, corpus_id: str, question_id: str) -> None:
        await self.get(corpus_id, question_id)
        await self._questions.delete(corpus_id, question_id)

    async def prune(self, *, after_seconds: float) -> int:
        return await self._questions.prune(after_seconds=after_seconds)

    async def export(self, corpus_id: str) -> Sequence[tuple[AskedQuestion, Sequence[QuestionSource]]]:
        """Returns nothing: a backup is not made for the holder of a key."""
        del corpus_id
        return ()

    async def adopt(self, corpus_id: str, questions: Sequence[tuple[AskedQuestion, Sequence[QuestionSource]]]) -> None:
        own = [(replace(question, asked_by=self._asker), sources) for question, sources in questions]
        await self._questions.adopt(corpus_id, own)
