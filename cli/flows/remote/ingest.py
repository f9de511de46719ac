"""Runs `hopweave ingest --server`: reads files here, uploads them to a server, follows its jobs, prunes there.

Only the modules of this folder use the Python API.
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import PurePath

import hopweave
from app.services.corpora import other_schema
from app.services.scripts import LOOKED_AT, MOST_DOCUMENTS, may_be_foreign
from cli.flows.ingest import Summary, check_corpus
from cli.flows.reading import GIVEN, PathsReading, Pruning, Reading, Request, Server, check_paths, make_reading
from cli.output.console import print_status
from cli.output.progress import FinishedDocuments, Progress
from core import errors
from core.corpora import NO_EMBEDDING, Corpus, CorpusSettings, Fine
from core.documents import LOADER_NOTES, Submission
from core.graph import Fit, FitTally
from core.jobs import Job, JobKind, JobProgress, JobState, derive_job_state
from core.ports.embedding_form import EmbeddingForm, split_form
from indexer import Rejection

_UPLOAD_DOCUMENTS = 200
_UPLOAD_BYTES = 8_000_000
_DELETE_DOCUMENTS = 1000
_UNAUTHORIZED = 401
_GIVE_KEY = "this command sends the key of --api-key, or of the environment variable HOPWEAVE_API_KEY"
_LOOK_UPS = 50
"""For more keys than these, all documents are listed."""
_ERRORS: tuple[tuple[type[hopweave.HopweaveError], type[errors.HopweaveError]], ...] = (
    (hopweave.AuthenticationError, errors.InvalidSettings),
    (hopweave.ConflictError, errors.Conflict),
    (hopweave.NotFoundError, errors.NotFound),
    (hopweave.InvalidRequestError, errors.InvalidInput),
    (hopweave.HopweaveError, errors.Unavailable),
)


def run_remote(request: Request, server: Server) -> Summary:
    """Indexes everything in the server and returns when its jobs are over or paused.

    A token budget is for all uploads together; each upload then waits for the previous upload. Errors of the Python API
    are raised as errors of `core.errors`.
    """
    check_paths(request)
    progress = Progress()
    try:
        with (
            translate_errors(),
            hopweave.connect(server.url, api_key=server.api_key) as client,
            progress,
        ):
            return _Ingest(client, request, make_reading(request), progress).run()
    except KeyboardInterrupt:
        print_status(f"interrupted; nothing is lost: what was sent goes on in the server{progress.left}")
        raise


def ingest_remote(request: Request, reading: Reading, server: Server, progress: Progress) -> Summary:
    """Does what `run_remote` does, with what the reading yields. Raises `OtherCorpus` if it is for another corpus."""
    with translate_errors(), hopweave.connect(server.url, api_key=server.api_key) as client:
        return _Ingest(client, request, reading, progress).run()


@contextmanager
def translate_errors() -> Iterator[None]:
    """Raises errors of the Python API as errors of `core.errors`."""
    try:
        yield
    except hopweave.HopweaveError as error:
        kind = next(ours for theirs, ours in _ERRORS if isinstance(error, theirs))
        is_unknown = isinstance(error, hopweave.AuthenticationError) and error.status == _UNAUTHORIZED
        raise kind(f"{error}; {_GIVE_KEY}" if is_unknown else str(error)) from error


class _Ingest:
    def __init__(self, client: hopweave.Client, request: Request, reading: Reading, progress: Progress) -> None:
        self._client = client
        self._request = request
        self._reading = reading
        self._progress = progress
        self._finished = FinishedDocuments(reading.keys)
        self._jobs: list[hopweave.Job] = []
        self._rejected: list[Rejection] = []
        self._sent = 0

    def run(self) -> Summary:
        corpus = self._open_corpus()
        calls_model = "llm" in [part.partition(":")[0] for part in corpus.extractor.split("+")]
        if calls_model and isinstance(self._reading, PathsReading):
            print_status(
                f"extractor {corpus.extractor}: the server calls a language model for each new passage; --dry-run "
                "estimates the cost, --budget-tokens limits it, and a corpus with --extractor pattern has none"
            )
        self._send_all(self._reading.read(with_given=GIVEN in corpus.extractor.split("+")))
        self._follow()
        job = _merge_jobs(corpus, self._jobs)
        pruning = self._reading.plan_pruning(self._rejected)
        deleted: tuple[str, ...] | None = None
        if pruning is not None and not pruning.refused and job.state is not JobState.PAUSED:
            deleted = self._prune(pruning)
        indexed, notes = self._read_outcome(corpus, job)
        paused = [one.id for one in self._jobs if one.state == "paused"]
        return Summary(
            corpus=_to_corpus(corpus),
            job=job,
            handed_in=self._sent,
            rejected=tuple(self._rejected),
            seconds=0.0 if job.finished_at is None else (job.finished_at - job.created_at).total_seconds(),
            deleted=deleted,
            prune_refused=pruning.refused if pruning else "",
            notes=notes,
            paused=self._find_pause_reason() if paused else "",
            resume_with=", ".join(f"POST /v1/jobs/{id}/resume" for id in paused),
            indexed=indexed,
            chunks=sum(chunks for _, chunks in indexed),
            shown=frozenset(self._finished.shown),
            shown_rejected=self._finished.shown_rejected,
        )

    def _open_corpus(self) -> hopweave.Corpus:
        """Returns the corpus, which is created if it is missing. Raises `InvalidInput` if it cannot have what is read,
        and then leaves no new corpus behind: only the server knows the dimension of a new corpus.
        """
        corpus, is_new = self._ensure_corpus()
        check_corpus(self._reading, corpus.id)
        try:
            self._reading.fit(_to_corpus(corpus).settings, corpus.name)
        except errors.InvalidInput:
            if is_new:
                self._client.delete_corpus(corpus.name)
            raise
        return corpus

    def _ensure_corpus(self) -> tuple[hopweave.Corpus, bool]:
        """Returns the corpus, and whether it was created now. Raises `Conflict` if an existing corpus differs from an
        option that was given.
        """
        request = self._request
        fine: hopweave.Fine | None = None if request.fine is None else request.fine.value
        try:
            created = self._client.create_corpus(
                request.corpus,
                chunker=request.chunker,
                extractor=request.extractor,
                fine=fine,
                embedding=request.embedding,
                schema=request.schema,
            )
        except hopweave.ConflictError as error:
            conflict = error
        else:
            return created, True
        try:
            corpus = self._client.get_corpus(request.corpus)
        except hopweave.NotFoundError:
            raise conflict from None
        check_settings(corpus, request)
        if request.schema is not None and self._read_schema() != request.schema:
            raise other_schema(request.corpus)
        return corpus, False

    def _read_schema(self) -> str | None:
        try:
            return self._client.get_schema(self._request.corpus, check=False).text
        except hopweave.NotFoundError:
            return None

    def _send_all(self, found: Iterable[Submission | Rejection]) -> None:
        """Uploads the files. With a token budget, each upload gets what earlier uploads have left, at least one token:
        what is over the budget is queued and paused, as in a local ingest.
        """
        left = self._request.budget_tokens
        for batch in _batches(found, self._rejected):
            sent = self._client.ingest(
                self._request.corpus,
                documents=[to_file(one) for one in batch],
                on_conflict=self._request.on_conflict.value,
                budget_tokens=left,
                wait=left is not None,
            )
            self._jobs += sent.jobs
            self._sent += len(sent.documents)
            for document in sent.documents:  # also attachments of mails
                self._reading.keys.add(document.key)
            self._rejected += [Rejection(source=one.source, reason=one.reason, key=one.source) for one in sent.rejected]
            self._progress.show_submitted(self._sent, self._reading.share)
            if self._request.verbose:
                self._finished.show_rejected(self._rejected)
            if left is not None:
                left = max(1, left - sum(job.tokens for job in sent.jobs))

    def _follow(self) -> None:
        for number, job in enumerate(self._jobs):
            self._finished.begin(job.created_at)
            for state in self._client.follow_job(job.id):
                self._jobs[number] = state
                self._progress.watch_counts(_add_counts(self._jobs), _add_progress(self._jobs))
                self._show_finished(is_due=self._finished.is_due)
        self._show_finished(is_due=bool(self._jobs))

    def _show_finished(self, *, is_due: bool) -> None:
        if not self._request.verbose or not is_due:
            return
        began = time.monotonic()
        listed = self._list_documents()
        self._finished.show(listed, time.monotonic() - began)

    def _list_documents(self) -> list[hopweave.Document]:
        """Returns the documents that were read."""
        corpus, keys = self._request.corpus, self._reading.keys
        if len(keys) <= _LOOK_UPS:
            return [one for key in sorted(keys) for one in self._client.list_documents(corpus, key=key, limit=1)]
        return [one for one in self._client.list_documents(corpus) if one.key in keys]

    def _prune(self, pruning: Pruning) -> tuple[str, ...]:
        """Deletes what is gone here, as a local ingest does."""
        corpus, gone = self._request.corpus, pruning.gone
        if gone is None:
            gone = [one.key for one in self._client.list_documents(corpus) if pruning.is_gone(one.key)]
        keys, deleted = list(gone), list[str]()
        for first in range(0, len(keys), _DELETE_DOCUMENTS):
            some = keys[first : first + _DELETE_DOCUMENTS]
            deletion = self._client.delete_documents(corpus, some)
            self._client.wait_for_job(deletion.job.id)
            absent = set(deletion.missing)
            deleted += [key for key in some if key not in absent]
        return tuple(deleted)

    def _read_outcome(
        self, corpus: hopweave.Corpus, job: Job
    ) -> tuple[tuple[tuple[str, int], ...], tuple[tuple[str, str], ...]]:
        """Returns the documents of the jobs with their numbers of passages, and the notes on them."""
        if not job.counts.get("indexed"):
            return (), ()
        documents = [
            one for one in self._list_documents() if one.state == "indexed" and one.updated_at >= job.created_at
        ]
        notes = [(one.key, one.metadata.get(LOADER_NOTES)) for one in documents]
        told = [(key, str(note)) for key, found in notes if isinstance(found, list) for note in found]
        if corpus.embedding.dimension:
            told += self._note_scripts(documents[:MOST_DOCUMENTS])
        return tuple((one.key, one.chunks) for one in documents), tuple(told)

    def _note_scripts(self, documents: Sequence[hopweave.Document]) -> list[tuple[str, str]]:
        """Returns the note on documents whose script the embedding model does not know, if there are some.

        The server has the model, and tells of its scripts in estimates; passages that are Latin are not sent to it.
        """
        corpus, foreign = self._request.corpus, list[hopweave.NewDocument]()
        for one in documents:
            texts = [chunk.text for chunk in self._client.list_chunks(corpus, one.id, limit=LOOKED_AT)]
            if may_be_foreign(texts):
                foreign.append(hopweave.NewDocument(key=one.key, text="\n\n".join(texts)))
        if not foreign:
            return []
        return [(one.key, one.note) for one in self._client.estimate(corpus, documents=foreign).notes]

    def _find_pause_reason(self) -> str:
        found = self._client.list_documents(self._request.corpus, state="paused", limit=1)
        return found[0].reason or "" if found else ""


def check_settings(corpus: hopweave.Corpus, request: Request) -> None:
    """Raises `Conflict` if the corpus differs from an option that was given."""
    for name, requested in (("chunker", request.chunker), ("extractor", request.extractor), ("fine", request.fine)):
        present = getattr(corpus, name)
        if requested is not None and requested != present:
            raise errors.Conflict(
                f"corpus {corpus.name!r} has {name} {present}, not {requested}: leave the option out, or use a new "
                "corpus"
            )
    if request.embedding is not None and not _is_named(request.embedding, corpus.embedding.model):
        option = "--no-embedding" if request.embedding == NO_EMBEDDING else f"--embedding {request.embedding}"
        raise errors.Conflict(
            f"corpus {corpus.name!r} has {_describe_vectors(corpus)}: leave {option} out, or use a new corpus"
        )


def _is_named(embedding: str, model: str) -> bool:
    """Whether `KIND:MODEL` may name the model of a corpus, which is called `FOLDER@HASH` if it is a folder's model."""
    stated, form = split_form(embedding.partition(":")[2] or embedding)
    weights, built = split_form(model)
    if form != EmbeddingForm() and form != built:
        return False
    return stated == weights or PurePath(stated).name == weights.partition("@")[0]


def _describe_vectors(corpus: hopweave.Corpus) -> str:
    return f"vectors of {corpus.embedding.model!r}" if corpus.embedding.dimension else "no vectors"


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


def to_file(submission: Submission) -> hopweave.NewFile:
    return hopweave.NewFile(
        name=submission.key,
        content=submission.content,
        title=submission.title,
        metadata=submission.metadata,
        media_type=submission.media_type,
        access=submission.access,
    )


def _merge_jobs(corpus: hopweave.Corpus, jobs: Sequence[hopweave.Job]) -> Job:
    """Returns the sum of the jobs as one, with the id of the first."""
    counts = _add_counts(jobs)
    is_cancelled = any(job.state == "cancelled" for job in jobs)
    ends = [job.finished_at for job in jobs if job.finished_at is not None]
    return Job(
        id=jobs[0].id if jobs else "",
        corpus_id=corpus.id,
        corpus_name=corpus.name,
        kind=JobKind.INGEST,
        state=derive_job_state(JobKind.INGEST, counts, cancelled=is_cancelled),
        counts=counts,
        progress=_add_progress(jobs),
        malformed_triples=sum(job.malformed_triples for job in jobs),
        fits=_add_fits(jobs),
        created_at=min((job.created_at for job in jobs), default=corpus.created_at),
        started_at=min((job.started_at for job in jobs if job.started_at is not None), default=None),
        finished_at=max(ends, default=None),
        calls=sum(job.usage.calls for job in jobs),
        prompt_tokens=sum(job.usage.prompt_tokens for job in jobs),
        completion_tokens=sum(job.usage.completion_tokens for job in jobs),
        failures=tuple(islice(((one.key, one.reason) for job in jobs for one in job.failures), _SHOWN_FAILURES)),
    )


_SHOWN_FAILURES = 20


def _add_fits(jobs: Sequence[hopweave.Job]) -> FitTally | None:
    fits = [job.fits for job in jobs if job.fits is not None]
    sums = {fit.value: sum(getattr(one, fit.value) for one in fits) for fit in Fit}
    return FitTally(**sums) if fits else None


def _add_counts(jobs: Sequence[hopweave.Job]) -> dict[str, int]:
    names = sorted({name for job in jobs for name in job.counts})
    return {name: sum(job.counts.get(name, 0) for job in jobs) for name in names}


def _add_progress(jobs: Sequence[hopweave.Job]) -> JobProgress:
    """Returns the sum. The jobs run one after the other, so the time that is left is estimated for all bytes."""
    progress = [job.progress for job in jobs]
    done, total = sum(one.bytes for one in progress), sum(one.bytes_total for one in progress)
    running = next((one for one in progress if one.seconds_left is not None and one.bytes < one.bytes_total), None)
    left = None
    if running is not None and running.seconds_left is not None:
        left = round(running.seconds_left * (total - done) / (running.bytes_total - running.bytes))
    return JobProgress(
        passages=sum(one.passages for one in progress),
        passages_total=sum(one.passages_total for one in progress),
        bytes=done,
        bytes_total=total,
        seconds_left=left,
    )


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
