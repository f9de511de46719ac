"""Runs `hopweave ingest`: reads files, submits documents, waits for the job, prunes."""

from collections.abc import Iterable, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

from app.composition import choose_composition
from app.container import Container
from app.services.corpora import ensure
from app.services.documents import list_documents, prune
from app.services.estimates import Estimate, estimate
from app.services.ingestion import submit_all
from app.supervision.supervision import Supervision
from cli.flows.jobs import read_after_job, wait_for_job
from cli.output.console import print_status
from cli.output.progress import Progress
from cli.runtime import run_with_container
from core.corpora import Corpus, Fine
from core.documents import OnConflict, RevisionState, Submission, loader_notes
from core.errors import NotFound
from core.jobs import Job, JobState
from core.settings import Settings, read_settings
from indexer import EVERYTHING, Rejection, Selection, known_suffixes, read_paths

__all__ = [
    "GIVEN",
    "Request",
    "Summary",
    "check_paths",
    "collect_keys",
    "estimate_ingest",
    "find_prune_obstacle",
    "read_files",
    "run",
]

GIVEN = "given"
"""The extractor that takes the graph of a file beside the documents."""


@dataclass(frozen=True, kw_only=True)
class Request:
    """The options of the command."""

    paths: tuple[Path, ...]
    corpus: str
    extractor: str | None
    chunker: str | None
    fine: Fine | None
    on_conflict: OnConflict
    prune: bool
    budget_tokens: int | None = None
    selection: Selection = EVERYTHING


@dataclass(frozen=True, kw_only=True)
class Summary:
    """The outcome. `pruned` is None if pruning was not requested or not possible; `prune_refused` is why.

    `paused` is why the job paused, and `resume_with` resumes it. `notes` are what loaders tell of documents, by key.
    """

    corpus: Corpus
    job: Job
    handed_in: int
    rejected: tuple[Rejection, ...]
    chunks: int
    seconds: float
    pruned: int | None
    prune_refused: str = ""
    paused: str = ""
    notes: tuple[tuple[str, str], ...] = ()
    resume_with: str = ""

    def succeeded(self, *, strict: bool) -> bool:
        """Whether nothing is left to be done. With `strict`, nothing may be rejected or fail, else not everything."""
        refused = bool(self.rejected or self.job.counts.get("failed"))
        used = any(self.job.counts.get(name) for name in ("indexed", "unchanged", "skipped"))
        return self.job.state is not JobState.PAUSED and not (refused and (strict or not used))


def run(request: Request) -> Summary:
    """Indexes everything and returns when the last document is final.

    A worker process runs meanwhile, unless workers run on servers.
    """
    settings = read_settings()
    check_paths(request)
    composition = choose_composition(settings)
    with composition.supervise() as supervision:
        try:
            with Progress() as progress:
                return run_with_container(lambda c: _ingest(c, request, supervision, progress), settings)
        except KeyboardInterrupt:
            print_status(f"interrupted; nothing is lost: what is queued goes on {composition.next_worker}")
            raise


def estimate_ingest(request: Request) -> Estimate:
    """Reads and chunks everything as an ingest does, and writes nothing."""
    settings = read_settings()
    check_paths(request)

    async def work(container: Container) -> Estimate:
        exists = container.composition.exists()
        corpus = await _find_corpus(container, request.corpus) if exists else None
        found = read_files(request, with_given=_reads_given_graph(request, corpus, settings))
        chunker = request.chunker or (corpus.settings.chunker if corpus else settings.chunker)
        extractor = request.extractor or (corpus.settings.extractor if corpus else settings.extractor)
        return await estimate(container, corpus, chunker, extractor, found)

    return run_with_container(work, settings)


async def _ingest(container: Container, request: Request, supervision: Supervision, progress: Progress) -> Summary:
    existing = await _find_corpus(container, request.corpus)
    found = read_files(request, with_given=_reads_given_graph(request, existing, container.settings))
    corpus = await ensure(
        container, request.corpus, chunker=request.chunker, extractor=request.extractor, fine=request.fine
    )
    keys: set[str] = set()
    job, handed_in, rejected = await _submit(container, corpus, collect_keys(found, keys), request, progress)
    job = await wait_for_job(container, supervision, job, progress.watch)
    pruned, refused = None, find_prune_obstacle(rejected) if request.prune else ""
    if request.prune and not refused and job.state is not JobState.PAUSED:
        keep = keys | {one.key for one in rejected if one.key is not None}
        pruned = await _prune(container, corpus, keep, request.selection, supervision)
    chunks, notes = await read_after_job(supervision, lambda: _read_outcome(container, corpus, job, keys))
    return Summary(
        corpus=corpus,
        job=job,
        handed_in=handed_in,
        rejected=rejected,
        chunks=chunks,
        seconds=_seconds(job),
        pruned=pruned,
        prune_refused=refused,
        notes=notes,
        paused=await read_after_job(supervision, lambda: _find_pause_reason(container, corpus, job)),
        resume_with=f"hopweave jobs resume {job.id}",
    )


async def _find_pause_reason(container: Container, corpus: Corpus, job: Job) -> str:
    """Returns the reason that the documents of a paused job carry; '' for any other job."""
    if job.state is not JobState.PAUSED:
        return ""
    page = await container.record.documents.list(corpus.id, limit=1, state=RevisionState.PAUSED)
    return page.data[0].reason or "" if page.data else ""


async def _submit(
    container: Container,
    corpus: Corpus,
    found: Iterable[Submission | Rejection],
    request: Request,
    progress: Progress,
) -> tuple[Job, int, tuple[Rejection, ...]]:
    """Queues everything as one job; returns the job, the number submitted, and those rejected."""
    job: Job | None = None
    handed_in, rejected = 0, tuple[Rejection, ...]()
    all_of_it = submit_all(container, corpus, found, request.on_conflict, token_budget=request.budget_tokens)
    async with aclosing(all_of_it) as parts:
        async for part in parts:
            job, handed_in, rejected = part.job, part.submitted, part.rejected
            progress.show_submitted(handed_in)
    if job is None:  # not reached: `submit_all` always ends with the closed job
        raise NotFound("no job was made")
    return job, handed_in, rejected


def find_prune_obstacle(rejected: Iterable[Rejection]) -> str:
    """Returns why nothing can be pruned, or ''. What is behind a folder that cannot be read may still be there."""
    hiding = [one for one in rejected if one.hides]
    return f"{hiding[0].source}: {hiding[0].reason}" if hiding else ""


async def _prune(
    container: Container, corpus: Corpus, keep: set[str], selection: Selection, supervision: Supervision
) -> int:
    job = await prune(container, corpus, keep, selection.covers)
    if job is None:
        return 0
    job = await wait_for_job(container, supervision, job)
    return job.counts.get("deleted", 0)


def check_paths(request: Request) -> None:
    """Raises `NotFound` if a path does not exist or nothing in the paths can be read."""
    first = next(read_files(request, with_given=False), None)
    if first is None:
        named = ", ".join(map(str, request.paths))
        raise NotFound(f"there is no document in {named}; what can be read: .jsonl, {', '.join(known_suffixes())}")


def read_files(request: Request, *, with_given: bool) -> Iterator[Submission | Rejection]:
    """Yields what the paths hold, as far as the request selects it."""
    return read_paths(request.paths, with_given=with_given, selection=request.selection)


def _reads_given_graph(request: Request, corpus: Corpus | None, settings: Settings) -> bool:
    """Returns whether a graph file beside the documents (`openie.jsonl`) is read with them."""
    extractor = request.extractor or (corpus.settings.extractor if corpus else settings.extractor)
    return GIVEN in extractor.split("+")


async def _find_corpus(container: Container, name: str) -> Corpus | None:
    try:
        return await container.record.corpora.get(name)
    except NotFound:
        return None


def collect_keys(found: Iterable[Submission | Rejection], keys: set[str]) -> Iterator[Submission | Rejection]:
    """Yields the stream unchanged and adds the keys of its submissions to `keys`."""
    for one in found:
        if isinstance(one, Submission):
            keys.add(one.key)
        yield one


async def _read_outcome(
    container: Container, corpus: Corpus, job: Job, keys: set[str]
) -> tuple[int, tuple[tuple[str, str], ...]]:
    """Returns how many passages the documents of this job have, and the notes of their loaders."""
    if not job.counts.get("indexed"):
        return 0, ()
    chunks, notes = 0, list[tuple[str, str]]()
    async for document in list_documents(container, corpus):
        if document.key in keys and document.updated_at >= job.created_at and document.state is RevisionState.INDEXED:
            chunks += document.chunks
            notes += [(document.key, note) for note in loader_notes(document.metadata)]
    return chunks, tuple(notes)


def _seconds(job: Job) -> float:
    """Returns the time from submission to the last document."""
    return 0.0 if job.finished_at is None else max(0.0, (job.finished_at - job.created_at).total_seconds())
