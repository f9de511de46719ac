"""The course of an ingest: read, hand in, wait, prune."""

from collections.abc import Iterable, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

from app.container import Container
from app.services.corpora import ensure
from app.services.estimates import Estimate, estimate
from app.services.ingestion import hand_in_all
from app.services.pruning import documents_of, prune
from app.worker.supervision import Supervision
from cli.output.console import say
from cli.output.progress import Progress
from cli.running import run_with_container
from cli.waiting import finished
from core.corpora import Corpus, Fine
from core.documents import OnConflict, RevisionState, Submission
from core.errors import NotFound
from core.jobs import Job, JobState
from core.settings import Settings, read_settings
from indexer import Rejected, known_suffixes, read_paths

__all__ = ["Request", "Summary", "dry", "run"]

_GIVEN = "given"


@dataclass(frozen=True, kw_only=True)
class Request:
    """What the command line asks for."""

    paths: tuple[Path, ...]
    corpus: str
    extractor: str | None
    chunker: str | None
    fine: Fine | None
    on_conflict: OnConflict
    prune: bool
    budget_tokens: int | None = None


@dataclass(frozen=True, kw_only=True)
class Summary:
    """How it went. `pruned` is None where nothing was to be pruned, or could not be told; `paused` is why it paused."""

    corpus: Corpus
    job: Job
    handed_in: int
    rejected: tuple[Rejected, ...]
    chunks: int
    seconds: float
    pruned: int | None
    paused: str = ""

    @property
    def succeeded(self) -> bool:
        return not self.rejected and not self.job.counts.get("failed") and self.job.state is not JobState.PAUSED


def run(request: Request) -> Summary:
    """Index everything, with a worker beside, or those over servers; returns when the last document is final."""
    settings = read_settings()
    _check_paths(request)
    with Supervision(settings) as supervision:
        try:
            with Progress() as progress:
                return run_with_container(lambda c: _ingest(c, request, supervision, progress), settings)
        except KeyboardInterrupt:
            when = "with the workers" if settings.on_servers else "with the next `hopweave ingest` or `serve`"
            say(f"interrupted; nothing is lost: what is queued goes on {when}")
            raise


def dry(request: Request) -> Estimate:
    """Read and cut everything as an ingest would, and write nothing."""
    settings = read_settings()
    _check_paths(request)

    async def work(container: Container) -> Estimate:
        is_made = settings.on_servers or settings.data_dir.exists()
        corpus = await _existing(container, request.corpus) if is_made else None
        found = read_paths(request.paths, with_given=_with_given(request, corpus, settings))
        chunker = request.chunker or (corpus.settings.chunker if corpus else settings.chunker)
        extractor = request.extractor or (corpus.settings.extractor if corpus else settings.extractor)
        return await estimate(container, corpus, chunker, extractor, found)

    return run_with_container(work, settings)


async def _ingest(container: Container, request: Request, supervision: Supervision, progress: Progress) -> Summary:
    existing = await _existing(container, request.corpus)
    found = read_paths(request.paths, with_given=_with_given(request, existing, container.settings))
    corpus = await ensure(
        container, request.corpus, chunker=request.chunker, extractor=request.extractor, fine=request.fine
    )
    keys: set[str] = set()
    job, handed_in, rejected = await _hand_in(container, corpus, _noting(found, keys), request, progress)
    job = await finished(container, supervision, job, progress.watch)
    pruned = None
    if request.prune and not rejected and job.state is not JobState.PAUSED:
        pruned = await _prune(container, corpus, keys, supervision)
    return Summary(
        corpus=corpus,
        job=job,
        handed_in=handed_in,
        rejected=rejected,
        chunks=await _chunks_of(container, corpus, job, keys),
        seconds=_seconds(job),
        pruned=pruned,
        paused=await _why_paused(container, corpus, job),
    )


async def _why_paused(container: Container, corpus: Corpus, job: Job) -> str:
    """The reason that a paused job's documents carry; '' for any other job."""
    if job.state is not JobState.PAUSED:
        return ""
    page = await container.record.documents.list(corpus.id, limit=1, state=RevisionState.PAUSED)
    return page.data[0].reason or "" if page.data else ""


async def _hand_in(
    container: Container,
    corpus: Corpus,
    found: Iterable[Submission | Rejected],
    request: Request,
    progress: Progress,
) -> tuple[Job, int, tuple[Rejected, ...]]:
    """Queue everything as one job."""
    job: Job | None = None
    handed_in, rejected = 0, tuple[Rejected, ...]()
    all_of_it = hand_in_all(container, corpus, found, request.on_conflict, token_budget=request.budget_tokens)
    async with aclosing(all_of_it) as parts:
        async for part in parts:
            job, handed_in, rejected = part.job, part.handed_in, part.rejected
            progress.handing_in(handed_in)
    if job is None:  # not reached: `hand_in_all` ends with the closed job
        raise NotFound("no job was made")
    return job, handed_in, rejected


async def _prune(container: Container, corpus: Corpus, keys: set[str], supervision: Supervision) -> int:
    job = await prune(container, corpus, keys)
    if job is None:
        return 0
    job = await finished(container, supervision, job)
    return job.counts.get("deleted", 0)


def _check_paths(request: Request) -> None:
    """Before anything is made: a path that does not exist, or holds nothing, is a mistake."""
    first = next(read_paths(request.paths, with_given=False), None)
    if first is None:
        named = ", ".join(map(str, request.paths))
        suffixes = ", ".join(sorted([*known_suffixes(), ".jsonl"]))
        raise NotFound(f"there is no document in {named}; what can be read: {suffixes}")


def _with_given(request: Request, corpus: Corpus | None, settings: Settings) -> bool:
    """Whether what lies beside the documents (`openie.jsonl`) is to be read with them."""
    extractor = request.extractor or (corpus.settings.extractor if corpus else settings.extractor)
    return _GIVEN in extractor.split("+")


async def _existing(container: Container, name: str) -> Corpus | None:
    try:
        return await container.record.corpora.get(name)
    except NotFound:
        return None


def _noting(found: Iterable[Submission | Rejected], keys: set[str]) -> Iterator[Submission | Rejected]:
    """The stream as it is; the keys that pass are noted."""
    for one in found:
        if isinstance(one, Submission):
            keys.add(one.key)
        yield one


async def _chunks_of(container: Container, corpus: Corpus, job: Job, keys: set[str]) -> int:
    """The passages of those documents that this job indexed."""
    if not job.counts.get("indexed"):
        return 0
    chunks = 0
    async for document in documents_of(container, corpus):
        new = document.updated_at >= job.created_at and document.state is RevisionState.INDEXED
        chunks += document.chunks if new and document.key in keys else 0
    return chunks


def _seconds(job: Job) -> float:
    """From the moment of handing in to the last document: what the user waited for."""
    return 0.0 if job.finished_at is None else max(0.0, (job.finished_at - job.created_at).total_seconds())
