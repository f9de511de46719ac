"""Indexes a dataset into a corpus of its own with the worker that serves everyone, timed by the record's clock."""

import asyncio
import re
import time
from collections.abc import Callable, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from app.container import Container
from app.services import corpora, ingestion
from app.services.estimates import ModelEstimate, estimate
from app.services.summary_tree import build_tree, estimate_tree
from app.supervision.supervision import JobWatch
from core.corpora import NO_GRAPH, Corpus
from core.documents import OnConflict, Submission
from core.errors import InvalidInput, LoadFailed, NotFound, Unavailable
from core.ids import digest
from core.jobs import Job, JobState
from evaluation.datasets.dataset import CORPUS_FILE, Dataset
from indexer import Rejection, read_paths
from indexer.summary_tree.summarizing import TREE_ROLE

ReportProgress = Callable[[str, int, int], None]
"""Called with the name of the activity, how much of it is done, and how much there is."""

_LONGEST_NAME = 40
_POLL_SECONDS = 0.1
_READY_SECONDS = 60.0
_SLOW_SECONDS = 60.0
_STALL_SECONDS = 600.0


class WorkerWatch(Protocol):
    """What indexing needs to know of the worker; `app.supervision.supervision.Supervision` implements it."""

    @property
    def log(self) -> Path: ...

    def worker_pid(self) -> int | None: ...

    def wait_ready(self, timeout: float) -> bool: ...

    def watch_job(self) -> JobWatch: ...


@dataclass(frozen=True, kw_only=True)
class IndexReport:
    """The result of indexing a dataset.

    `seconds` is the time from the first claim to the last commit (None: nothing was new). `peak_rss_mb` is the worker's
    peak memory so far.
    """

    passages: int
    indexed: int
    unchanged: int
    seconds: float | None
    peak_rss_mb: float | None

    @property
    def passages_per_second(self) -> float | None:
        return self.indexed / self.seconds if self.seconds else None


def corpus_name(dataset: Dataset, *, chunker: str, extractor: str, model: str) -> str:
    """Returns a name that changes with all that decides what the corpus contains, so that it can be used again."""
    readable = re.sub(r"[^a-z0-9_-]+", "-", dataset.name.lower())[:_LONGEST_NAME].strip("-") or "dataset"
    return f"eval-{readable}-{digest('eval', [dataset.fingerprint, chunker, extractor, model])[:8]}"


async def index_dataset(
    container: Container,
    supervision: WorkerWatch,
    dataset: Dataset,
    *,
    chunker: str,
    extractor: str,
    progress: ReportProgress,
) -> tuple[Corpus, IndexReport]:
    """Indexes the passages that the corpus lacks and waits for the job.

    Raises `LoadFailed` if a passage could not be indexed, and `Unavailable` if no worker starts or nothing progresses.
    """
    name = corpus_name(dataset, chunker=chunker, extractor=extractor, model=container.embedder.model)
    corpus = await corpora.ensure(container, name, chunker=chunker, extractor=extractor)
    if not await asyncio.to_thread(supervision.wait_ready, _READY_SECONDS):
        raise Unavailable(
            f"no worker started within {_READY_SECONDS:.0f} s; {supervision.log} says why. Then run the command again"
        )
    with_given = _takes_given(extractor)
    _check_submissions(dataset, with_given=with_given)
    passages = _read_submissions(dataset, with_given=with_given)
    job_id = ""
    async with aclosing(ingestion.submit_all(container, corpus, passages, OnConflict.REPLACE)) as parts:
        async for handed in parts:
            job_id = handed.job.id
    job = await _wait_for_job(container, supervision, job_id, dataset.passages, progress)
    return corpus, _make_report(job, dataset.passages, supervision.worker_pid())


async def estimate_indexing(
    container: Container, dataset: Dataset, *, chunker: str, extractor: str
) -> ModelEstimate | None:
    """Returns what the language model of an extractor costs for all passages; None if the extractor calls none."""
    passages = _read_submissions(dataset, with_given=_takes_given(extractor))
    return (await estimate(container, None, chunker, extractor, passages)).model


async def index_tree(
    container: Container, supervision: WorkerWatch, source: Corpus, progress: ReportProgress
) -> Corpus:
    """Returns the tree of summaries over a corpus as it is now, and makes it if there is none by the configured model.

    Raises what `build_tree` raises.
    """
    source = await container.record.corpora.get(source.name)
    model = container.models.of(TREE_ROLE).model if container.models else ""
    name = f"eval-tree-{digest('tree', [source.id, str(source.generation), model])[:12]}"
    try:
        return await container.record.corpora.get(name)
    except NotFound:
        pass

    async def complete(job: Job) -> Job:
        return await _wait_for_job(container, supervision, job.id, sum(job.counts.values()), progress)

    return (await build_tree(container, source, name, complete, progress)).corpus


async def estimate_summaries(container: Container, dataset: Dataset, *, chunker: str) -> ModelEstimate:
    """Returns what the language model costs that summarizes all passages of a dataset in a tree."""
    counted = await estimate(container, None, chunker, NO_GRAPH, _read_submissions(dataset, with_given=False))
    return estimate_tree(container, counted.chunks, counted.tokens)


def _takes_given(extractor: str) -> bool:
    """Returns whether an extractor takes the entities and triples that the dataset brings."""
    return "given" in re.split(r"[+:]", extractor)


def read_peak_memory_mb(pid: int | None) -> float | None:
    """Returns the peak resident memory of a process in MB; None if the system does not provide it."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return None
    found = re.search(r"^VmHWM:\s+(\d+) kB", status, re.MULTILINE)
    return int(found[1]) / 1024 if found else None


def _check_submissions(dataset: Dataset, *, with_given: bool) -> None:
    """Raises `InvalidInput` if a line cannot be used, before anything is written."""
    count, first = 0, None
    for passage in read_paths([dataset.folder / CORPUS_FILE], with_given=with_given):
        if isinstance(passage, Rejection):
            count, first = count + 1, first or passage
    if first is not None:
        raise InvalidInput(f"{dataset.folder}: {count} lines cannot be used, {first.source}: {first.reason}")


def _read_submissions(dataset: Dataset, *, with_given: bool) -> Iterator[Submission]:
    """Yields the passages that are indexed, one after another."""
    for passage in read_paths([dataset.folder / CORPUS_FILE], with_given=with_given):
        if isinstance(passage, Submission) and (dataset.kept is None or passage.key in dataset.kept):
            yield passage


async def _wait_for_job(
    container: Container, supervision: WorkerWatch, job_id: str, passages: int, progress: ReportProgress
) -> Job:
    """Returns the job when it has ended; waits as long as it makes progress, and reports why it makes none.

    Raises `LoadFailed` if a document failed or the job was cancelled, and `Unavailable` if no worker starts, the record
    does not answer, or nothing has changed for ten minutes.
    """
    watch, stall = supervision.watch_job(), _Stall(supervision.log)
    done, reason = 0, ""
    while True:
        try:
            job = await container.record.jobs.get(job_id)
        except Unavailable as error:
            reason = watch.handle_outage(error) or reason
        else:
            done = sum(job.counts.get(state, 0) for state in ("indexed", "unchanged", "failed"))
            if job.state is JobState.DONE and not job.failures:
                progress("indexing", done, passages)
                return job
            if job.state.final:
                key, failure = job.failures[0] if job.failures else ("", "it was cancelled")
                raise LoadFailed(f"the passages could not all be indexed (job {job.id} {job.state}): {key} {failure}")
            if stall.has_moved(done, job.progress.passages):
                reason = ""
            slow = stall.find_reason()
            reason = watch.handle_state(job) or reason or slow
        progress(f"indexing ({reason})" if reason else "indexing", done, passages)
        await asyncio.sleep(_POLL_SECONDS)


class _Stall:
    """Notices that a job makes no progress, such as when its worker dies again and again."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._best = (-1, -1)
        self._moved = time.monotonic()

    def has_moved(self, documents: int, passages: int) -> bool:
        """Returns whether more is done than ever before: what a worker has done of a document ends with the worker."""
        if (documents, passages) <= self._best:
            return False
        self._best, self._moved = (documents, passages), time.monotonic()
        return True

    def find_reason(self) -> str:
        """Returns a message for the user; '' if there was progress in the last minute. Raises `Unavailable` after ten
        minutes without progress.
        """
        seconds = time.monotonic() - self._moved
        if seconds <= _SLOW_SECONDS:
            return ""
        cure = f"see {self._log}" if self._log.exists() else "if no worker runs, start one with `hopweave worker`"
        if seconds > _STALL_SECONDS:
            raise Unavailable(
                f"no worker makes progress, nothing was indexed for {_STALL_SECONDS:.0f} s: {cure}. What is queued "
                "stays queued, and the same command goes on"
            )
        return f"no progress for a minute: {cure}; waiting"


def _make_report(job: Job, passages: int, worker: int | None) -> IndexReport:
    seconds = None
    if job.started_at is not None and job.finished_at is not None:
        seconds = (job.finished_at - job.started_at).total_seconds()
    return IndexReport(
        passages=passages,
        indexed=job.counts.get("indexed", 0),
        unchanged=job.counts.get("unchanged", 0),
        seconds=seconds,
        peak_rss_mb=read_peak_memory_mb(worker),
    )
