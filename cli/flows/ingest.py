"""Runs `hopweave ingest`: reads files, submits documents, waits for the job, prunes."""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial

from app.composition import choose_composition
from app.container import Container
from app.services.corpora import describe_new, ensure, find_corpus
from app.services.documents import delete_by_keys, list_documents, list_those
from app.services.estimates import Estimate, estimate
from app.services.ingestion import submit_all
from app.services.scripts import LOOKED_AT, MOST_DOCUMENTS, ScriptCheck
from app.supervision.supervision import Supervision
from cli.flows.jobs import read_after_job, wait_for_job
from cli.flows.reading import GIVEN, PathsReading, Pruning, Reading, Request, check_paths, make_reading
from cli.output.console import counted, print_status
from cli.output.progress import FinishedDocuments, Progress, follow_documents
from cli.runtime import run_with_container
from core.corpora import Corpus
from core.documents import RevisionState, Submission, loader_notes
from core.errors import HopweaveError, NotFound
from core.jobs import Job, JobState
from core.settings import Settings, read_settings
from indexer import KeySet, Rejection, make_extractor

_MOST_LISTED = 10_000
_SILENT_SECONDS = 2.0


class OtherCorpus(Exception):
    """The reading belongs to another corpus: the corpus was deleted or reindexed, and may lack what was read before."""


@dataclass(frozen=True, kw_only=True)
class Summary:
    """The outcome. `deleted` are the keys of pruned documents, None if pruning was not requested or not possible;
    `prune_refused` is why.

    `paused` is why the job paused, and `resume_with` resumes it. `notes` are what loaders tell of documents, by key,
    and of scripts that the embedding model does not know. `indexed` are the documents of the job that were indexed,
    with their numbers of passages, at most the first ten thousand; `chunks` are the passages of all of them. With `-v`,
    the documents `shown` have a line already, and so have the first `shown_rejected` of `rejected`.
    """

    corpus: Corpus
    job: Job
    handed_in: int
    rejected: tuple[Rejection, ...]
    seconds: float
    deleted: tuple[str, ...] | None
    prune_refused: str = ""
    paused: str = ""
    notes: tuple[tuple[str, str], ...] = ()
    resume_with: str = ""
    indexed: tuple[tuple[str, int], ...] = ()
    chunks: int = 0
    shown: frozenset[str] = frozenset()
    shown_rejected: int = 0

    @property
    def pruned(self) -> int | None:
        return None if self.deleted is None else len(self.deleted)

    def succeeded(self, *, strict: bool) -> bool:
        """Whether nothing is left to be done. With `strict`, nothing may be rejected or fail; else not all."""
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
    progress = Progress()
    with composition.supervise() as supervision:
        try:
            with progress:
                reading = make_reading(request)

                async def work(container: Container) -> Summary:
                    return await ingest(container, request, reading, supervision, progress, tell_cost=True)

                return run_with_container(work, settings, creates=True)
        except KeyboardInterrupt:
            print_status(
                f"interrupted; nothing is lost: what is queued goes on {composition.next_worker}{progress.left}"
            )
            raise


def estimate_ingest(request: Request) -> Estimate:
    """Reads and chunks everything as an ingest does, and writes nothing."""
    settings = read_settings()
    check_paths(request)

    async def work(container: Container) -> Estimate:
        exists = container.composition.exists()
        corpus = await find_corpus(container, request.corpus) if exists else None
        found = PathsReading(request).read(with_given=_reads_given_graph(request, corpus, settings))
        chunker = request.chunker or (corpus.settings.chunker if corpus else settings.chunker)
        extractor = request.extractor or (corpus.settings.extractor if corpus else settings.extractor)
        return await estimate(
            container, corpus, chunker, extractor, found, embedding=request.embedding, schema=request.schema
        )

    return run_with_container(work, settings)


async def ingest(
    container: Container,
    request: Request,
    reading: Reading,
    supervision: Supervision,
    progress: Progress,
    *,
    tell_cost: bool = False,
) -> Summary:
    """Does what `run` does, with a worker that runs already. Raises `OtherCorpus` if the reading is for another corpus.

    With `tell_cost`, what a language model would cost is printed before it is called.
    """
    corpus = await _open_corpus(container, request, reading)
    if tell_cost:
        await _tell_cost(container, corpus, request)
    found = reading.read(with_given=_reads_given_graph(request, corpus, container.settings))
    finished = FinishedDocuments(reading.keys)
    async with follow_documents(lambda: list_those(container, corpus, reading.keys), finished, request.verbose):
        show = partial(_show_submitted, progress, reading)
        job, handed_in, rejected = await _submit(container, corpus, found, request, show, finished, reading.keys)
        job = await wait_for_job(container, supervision, job, progress.watch)
    pruning = reading.plan_pruning(rejected)
    deleted: tuple[str, ...] | None = None
    if pruning is not None and not pruning.refused and job.state is not JobState.PAUSED:
        deleted = await _prune(container, corpus, pruning, supervision)
    await _prepare_searches(container, corpus)
    indexed, chunks, notes = await read_after_job(supervision, lambda: _read_outcome(container, corpus, job, reading))
    return Summary(
        corpus=corpus,
        job=job,
        handed_in=handed_in,
        rejected=rejected,
        seconds=_seconds(job),
        deleted=deleted,
        prune_refused=pruning.refused if pruning else "",
        notes=notes,
        paused=await read_after_job(supervision, lambda: _find_pause_reason(container, corpus, job)),
        resume_with=f"hopweave jobs resume {job.id}",
        indexed=indexed,
        chunks=chunks,
        shown=frozenset(finished.shown),
        shown_rejected=finished.shown_rejected,
    )


async def _tell_cost(container: Container, corpus: Corpus, request: Request) -> None:
    """Prints the calls and tokens that the extractor of a corpus needs, if it calls a language model.

    Reads and chunks the documents for it, which takes a small part of the time of the calls.
    """
    chosen = corpus.settings
    if make_extractor(chosen.extractor, container.models).model_calls is None:
        return
    found = PathsReading(request).read(with_given=_reads_given_graph(request, corpus, container.settings))
    cost = (await estimate(container, corpus, chosen.chunker, chosen.extractor, found)).model
    if cost is not None and cost.calls:
        print_status(
            f"extractor {chosen.extractor}: about {counted(cost.calls, 'call')} of the language model, one a passage, "
            f"with {cost.prompt_tokens:,} prompt and {cost.completion_tokens:,} completion tokens, {cost.seconds:,.0f} "
            "s; --budget-tokens limits them, and a corpus with --extractor pattern needs none"
        )


async def _prepare_searches(container: Container, corpus: Corpus) -> None:
    """Waits until the worker of a data folder has written a large corpus' search files: it ends with this command."""
    if container.composition.worker != "embedded":
        return
    task = asyncio.create_task(container.snapshots.prepare(corpus.id))
    await asyncio.wait([task], timeout=_SILENT_SECONDS)
    if not task.done():
        print_status(
            f"writing the graph of {corpus.name} to a file, for fast searches; Ctrl-C leaves it to the first one"
        )
    try:
        await task
    except HopweaveError as error:
        print_status(f"the graph of {corpus.name} is left to the first search: {error}")


async def _open_corpus(container: Container, request: Request, reading: Reading) -> Corpus:
    await _check_embeddings(container, request, reading)
    corpus = await ensure(
        container,
        request.corpus,
        chunker=request.chunker,
        extractor=request.extractor,
        fine=request.fine,
        embedding=request.embedding,
        schema=request.schema,
    )
    check_corpus(reading, corpus.id)
    reading.fit(corpus.settings, corpus.name)
    return corpus


async def _check_embeddings(container: Container, request: Request, reading: Reading) -> None:
    """Raises `InvalidInput` for embeddings that do not fit, before a corpus is created for them."""
    if request.embeddings is None or await find_corpus(container, request.corpus) is not None:
        return
    reading.fit(await describe_new(container, embedding=request.embedding), request.corpus)


def check_corpus(reading: Reading, corpus_id: str) -> None:
    """Raises `OtherCorpus` if the reading belongs to another corpus."""
    if reading.corpus_id is not None and reading.corpus_id != corpus_id:
        raise OtherCorpus


async def _find_pause_reason(container: Container, corpus: Corpus, job: Job) -> str:
    """Returns the reason that the documents of a paused job carry; '' for any other job."""
    if job.state is not JobState.PAUSED:
        return ""
    page = await container.record.documents.list(corpus.id, limit=1, state=RevisionState.PAUSED)
    return page.data[0].reason or "" if page.data else ""


def _show_submitted(progress: Progress, reading: Reading, documents: int) -> None:
    progress.show_submitted(documents, reading.share)


async def _submit(
    container: Container,
    corpus: Corpus,
    found: Iterable[Submission | Rejection],
    request: Request,
    show: Callable[[int], None],
    finished: FinishedDocuments,
    keys: KeySet,
) -> tuple[Job, int, tuple[Rejection, ...]]:
    """Queues everything as one job, and adds the keys of attachments to `keys`.

    Returns the job, the number submitted, and the rejections.
    """
    job: Job | None = None
    handed_in, rejected = 0, tuple[Rejection, ...]()
    all_of_it = submit_all(container, corpus, found, request.on_conflict, token_budget=request.budget_tokens)
    async with aclosing(all_of_it) as parts:
        async for part in parts:
            job, handed_in, rejected = part.job, part.submitted, part.rejected
            for key in part.attached:
                keys.add(key)
            finished.begin(job.created_at)
            show(handed_in)
            if request.verbose:
                finished.show_rejected(rejected)
    if job is None:  # not reached: `submit_all` always ends with the closed job
        raise NotFound("no job was made")
    return job, handed_in, rejected


async def _prune(container: Container, corpus: Corpus, pruning: Pruning, supervision: Supervision) -> tuple[str, ...]:
    """Returns the keys of the documents that are deleted."""
    gone = pruning.gone
    if gone is None:
        gone = [one.key async for one in list_documents(container, corpus) if pruning.is_gone(one.key)]
    if not gone:
        return ()
    job, missing = await delete_by_keys(container, corpus, list(gone))
    await wait_for_job(container, supervision, job)
    absent = set(missing)
    return tuple(key for key in gone if key not in absent)


def _reads_given_graph(request: Request, corpus: Corpus | None, settings: Settings) -> bool:
    """Returns whether a graph file beside the documents (`openie.jsonl`) is read with them."""
    extractor = request.extractor or (corpus.settings.extractor if corpus else settings.extractor)
    return GIVEN in extractor.split("+")


async def _read_outcome(
    container: Container, corpus: Corpus, job: Job, reading: Reading
) -> tuple[tuple[tuple[str, int], ...], int, tuple[tuple[str, str], ...]]:
    """Returns documents of this job with their numbers of passages, the passages of all, and the notes on them."""
    if not job.counts.get("indexed"):
        return (), 0, ()
    indexed, passages, notes = list[tuple[str, int]](), 0, list[tuple[str, str]]()
    scripts = ScriptCheck(container.indexing.for_corpus(corpus).embedder)
    async for document in list_those(container, corpus, reading.keys):
        if document.updated_at >= job.created_at and document.state is RevisionState.INDEXED:
            passages += document.chunks
            if len(indexed) < _MOST_LISTED:
                indexed.append((document.key, document.chunks))
            notes += [(document.key, note) for note in loader_notes(document.metadata)]
            if len(indexed) <= MOST_DOCUMENTS:
                chunks = await container.record.contents.get_chunks_of(corpus.id, document.id, limit=LOOKED_AT)
                scripts.add(document.key, [chunk.text for chunk in chunks])
    return tuple(indexed), passages, (*notes, *scripts.notes)


def _seconds(job: Job) -> float:
    """Returns the time from submission to the last document."""
    return 0.0 if job.finished_at is None else max(0.0, (job.finished_at - job.created_at).total_seconds())
