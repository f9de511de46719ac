"""Runs `hopweave ingest --server`: reads files here, uploads them to a server, follows its jobs, prunes there.

Only this module and `remote_import` use the Python API.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice

import hopweave
from cli.flows.ingest import (
    GIVEN,
    Request,
    Summary,
    check_paths,
    collect_keys,
    find_prune_obstacle,
    read_files,
)
from cli.output.console import print_status
from cli.output.progress import Progress
from core import errors
from core.corpora import Corpus, CorpusSettings, Fine
from core.documents import LOADER_NOTES, Submission
from core.jobs import Job, JobKind, JobState
from indexer import Rejection

__all__ = ["Server", "run_remote", "translate_errors"]

_UPLOAD_DOCUMENTS = 200
_UPLOAD_BYTES = 8_000_000
_DELETE_DOCUMENTS = 1000
_UNFINISHED = (JobState.PAUSED, JobState.FAILED, JobState.CANCELLED)
"""The states that tell most of several jobs, the most important first."""
_ERRORS: tuple[tuple[type[hopweave.HopweaveError], type[errors.HopweaveError]], ...] = (
    (hopweave.AuthenticationError, errors.InvalidSettings),
    (hopweave.ConflictError, errors.Conflict),
    (hopweave.NotFoundError, errors.NotFound),
    (hopweave.InvalidRequestError, errors.InvalidInput),
    (hopweave.HopweaveError, errors.Unavailable),
)


@dataclass(frozen=True, kw_only=True)
class Server:
    """The address of a server, and one of its keys."""

    url: str
    api_key: str | None = field(default=None, repr=False)


def run_remote(request: Request, server: Server) -> Summary:
    """Indexes everything in the server and returns when its jobs are over or paused.

    A token budget is for all uploads together; then each waits for the one before. Raises the errors of `core.errors`
    for those of the Python API.
    """
    check_paths(request)
    try:
        with (
            translate_errors(),
            hopweave.connect(server.url, api_key=server.api_key) as client,
            Progress() as progress,
        ):
            return _Ingest(client, request, progress).run()
    except KeyboardInterrupt:
        print_status("interrupted; nothing is lost: what was sent goes on in the server")
        raise


@contextmanager
def translate_errors() -> Iterator[None]:
    """Raises the errors of `core.errors` for those of the Python API."""
    try:
        yield
    except hopweave.HopweaveError as error:
        kind = next(ours for theirs, ours in _ERRORS if isinstance(error, theirs))
        raise kind(str(error)) from error


class _Ingest:
    def __init__(self, client: hopweave.Client, request: Request, progress: Progress) -> None:
        self._client = client
        self._request = request
        self._progress = progress
        self._keys: set[str] = set()
        self._jobs: list[hopweave.Job] = []
        self._rejected: list[Rejection] = []
        self._sent = 0

    def run(self) -> Summary:
        corpus = self._ensure_corpus()
        found = collect_keys(read_files(self._request, with_given=GIVEN in corpus.extractor.split("+")), self._keys)
        self._send_all(found)
        self._follow()
        job = _merge_jobs(corpus, self._jobs)
        obstacle = find_prune_obstacle(self._rejected) if self._request.prune else ""
        pruned = None
        if self._request.prune and not obstacle and job.state is not JobState.PAUSED:
            pruned = self._prune()
        chunks, notes = self._read_outcome(job)
        paused = [one.id for one in self._jobs if one.state == "paused"]
        return Summary(
            corpus=_to_corpus(corpus),
            job=job,
            handed_in=self._sent,
            rejected=tuple(self._rejected),
            chunks=chunks,
            seconds=0.0 if job.finished_at is None else (job.finished_at - job.created_at).total_seconds(),
            pruned=pruned,
            prune_refused=obstacle,
            notes=notes,
            paused=self._find_pause_reason() if paused else "",
            resume_with=", ".join(f"POST /v1/jobs/{id}/resume" for id in paused),
        )

    def _ensure_corpus(self) -> hopweave.Corpus:
        """Creates a missing corpus. Raises `Conflict` if one that exists differs from an option that was given."""
        request = self._request
        fine: hopweave.Fine | None = None if request.fine is None else request.fine.value
        corpus = self._client.create_corpus(
            request.corpus, chunker=request.chunker, extractor=request.extractor, fine=fine, exist_ok=True
        )
        for name, requested in (("chunker", request.chunker), ("extractor", request.extractor), ("fine", fine)):
            present = getattr(corpus, name)
            if requested is not None and requested != present:
                raise errors.Conflict(
                    f"corpus {corpus.name!r} has {name} {present}, not {requested}: leave the option out, or use a new "
                    "corpus"
                )
        return corpus

    def _send_all(self, found: Iterable[Submission | Rejection]) -> None:
        """Uploads the files. With a token budget, each upload gets what those before it have left, at least one token:
        what is over the budget is queued and paused, as in a local ingest.
        """
        left = self._request.budget_tokens
        for batch in _batches(found, self._rejected):
            sent = self._client.ingest(
                self._request.corpus,
                documents=[_to_file(one) for one in batch],
                on_conflict=self._request.on_conflict.value,
                budget_tokens=left,
                wait=left is not None,
            )
            self._jobs += sent.jobs
            self._sent += len(sent.documents)
            self._rejected += [Rejection(source=one.source, reason=one.reason, key=one.source) for one in sent.rejected]
            self._progress.show_submitted(self._sent)
            if left is not None:
                left = max(1, left - sum(job.tokens for job in sent.jobs))

    def _follow(self) -> None:
        for number, job in enumerate(self._jobs):
            for state in self._client.follow_job(job.id):
                self._jobs[number] = state
                self._progress.watch_counts(_add_counts(self._jobs))

    def _prune(self) -> int:
        """Deletes what is gone here from where was looked, as a local ingest does."""
        keep = self._keys | {one.key for one in self._rejected if one.key is not None}
        documents = self._client.list_documents(self._request.corpus)
        covers = self._request.selection.covers
        gone = [one.key for one in documents if one.key not in keep and covers(one.key)]
        deleted = 0
        for first in range(0, len(gone), _DELETE_DOCUMENTS):
            deletion = self._client.delete_documents(self._request.corpus, gone[first : first + _DELETE_DOCUMENTS])
            deleted += self._client.wait_for_job(deletion.job.id).counts.get("deleted", 0)
        return deleted

    def _read_outcome(self, job: Job) -> tuple[int, tuple[tuple[str, str], ...]]:
        """Returns how many passages the documents of the jobs have, and the notes of their loaders."""
        if not job.counts.get("indexed"):
            return 0, ()
        documents = [
            one
            for one in self._client.list_documents(self._request.corpus, state="indexed")
            if one.key in self._keys and one.updated_at >= job.created_at
        ]
        notes = [(one.key, one.metadata.get(LOADER_NOTES)) for one in documents]
        told = tuple((key, str(note)) for key, found in notes if isinstance(found, list) for note in found)
        return sum(one.chunks for one in documents), told

    def _find_pause_reason(self) -> str:
        found = self._client.list_documents(self._request.corpus, state="paused", limit=1)
        return found[0].reason or "" if found else ""


def _batches(found: Iterable[Submission | Rejection], rejected: list[Rejection]) -> Iterator[Sequence[Submission]]:
    """Yields parts of a size for one upload, and puts rejections aside. A larger document goes alone."""
    batch: list[Submission] = []
    size = 0
    for one in found:
        if isinstance(one, Rejection):
            rejected.append(one)
            continue
        if batch and (len(batch) == _UPLOAD_DOCUMENTS or size + len(one.content) > _UPLOAD_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(one)
        size += len(one.content)
    if batch:
        yield batch


def _to_file(submission: Submission) -> hopweave.NewFile:
    return hopweave.NewFile(
        name=submission.key,
        content=submission.content,
        title=submission.title,
        metadata=submission.metadata,
        media_type=submission.media_type,
    )


def _merge_jobs(corpus: hopweave.Corpus, jobs: Sequence[hopweave.Job]) -> Job:
    """Returns the sum of the jobs as one, with the id of the first."""
    states = {JobState(job.state) for job in jobs}
    ends = [job.finished_at for job in jobs if job.finished_at is not None]
    return Job(
        id=jobs[0].id if jobs else "",
        corpus_id=corpus.id,
        corpus_name=corpus.name,
        kind=JobKind.INGEST,
        state=next((state for state in _UNFINISHED if state in states), JobState.DONE),
        counts=_add_counts(jobs),
        malformed_triples=sum(job.malformed_triples for job in jobs),
        created_at=min((job.created_at for job in jobs), default=corpus.created_at),
        started_at=min((job.started_at for job in jobs if job.started_at is not None), default=None),
        finished_at=max(ends, default=None),
        calls=sum(job.usage.calls for job in jobs),
        prompt_tokens=sum(job.usage.prompt_tokens for job in jobs),
        completion_tokens=sum(job.usage.completion_tokens for job in jobs),
        failures=tuple(islice(((one.key, one.reason) for job in jobs for one in job.failures), _SHOWN_FAILURES)),
    )


_SHOWN_FAILURES = 20


def _add_counts(jobs: Sequence[hopweave.Job]) -> dict[str, int]:
    names = sorted({name for job in jobs for name in job.counts})
    return {name: sum(job.counts.get(name, 0) for job in jobs) for name in names}


def _to_corpus(corpus: hopweave.Corpus) -> Corpus:
    return Corpus(
        id=corpus.id,
        name=corpus.name,
        settings=CorpusSettings(
            chunker=corpus.chunker,
            extractor=corpus.extractor,
            fine=Fine(corpus.fine),
            embedding_model=corpus.embedding.model,
            dimension=corpus.embedding.dimension,
        ),
        generation=corpus.generation,
        created_at=corpus.created_at,
    )
