"""The tools that write: `ingest` and `delete_document`.

- `ingest`: documents as texts, and over stdio as files; waits until they can be searched.
- `delete_document`: one document with everything that only it states.
"""

import asyncio
from collections.abc import Iterable
from contextlib import aclosing
from itertools import chain
from typing import Any

from pydantic import Field

from api.mcp.tool import Hints, Reference, Tool, ToolCall, choose_corpus, parse_reference
from api.schemas.base import In, Out, Text
from api.schemas.documents import AccessIn
from app.services.corpora import ensure
from app.services.documents import list_those
from app.services.ingestion import delete_one_document, submit_all
from core.corpora import NO_EMBEDDING, NO_GRAPH, Corpus
from core.documents import MAX_KEY_LENGTH, MAX_TITLE_LENGTH, Document, OnConflict, Submission
from core.errors import InvalidInput, Unavailable
from core.jobs import Job
from core.keys import Scope
from core.principals import check_access
from indexer import AccessRules, Rejection, read_within, submission_from_json

_MAX_DOCUMENTS = 100
_MAX_PATHS = 100
_SHOWN = 100
_POLL_SECONDS = 0.25


class DocumentArgument(In):
    key: Text = Field(
        min_length=1,
        max_length=MAX_KEY_LENGTH,
        description="Names the document in its corpus, such as 'notes/2026-03-01'. A document of this key is replaced.",
    )
    text: Text = Field(min_length=1, description="The text, plain or in Markdown.")
    title: Text = Field(default="", max_length=MAX_TITLE_LENGTH)
    metadata: dict[str, Any] = Field(
        default_factory=dict,
        description="Facts to filter by, such as {'year': 2026}; 'url' is the address that citations link to.",
    )
    access: AccessIn = None


class _Target(In):
    corpus: Text = Field(default="", max_length=63, description="The corpus; leave it out if there is only one.")
    no_embedding: bool = Field(
        default=False, description="Creates a missing corpus without vectors: it is searched by words and names only."
    )
    no_graph: bool = Field(
        default=False,
        description="Creates a missing corpus without entities: it is searched by vectors and words.",
    )
    wait_seconds: int = Field(
        default=45,
        ge=0,
        le=3600,
        description="How long to wait until the documents can be searched. They are indexed anyway.",
    )


class TextsArguments(_Target):
    documents: list[DocumentArgument] = Field(min_length=1, max_length=_MAX_DOCUMENTS)


class FilesArguments(_Target):
    documents: list[DocumentArgument] = Field(default_factory=list, max_length=_MAX_DOCUMENTS)
    paths: list[Text] = Field(
        default_factory=list,
        max_length=_MAX_PATHS,
        description="Files and folders, relative to the folder that the user permits. Folders are read with all below.",
    )
    access: AccessIn = Field(
        default=None,
        description="Who may see what is read from `paths`, such as ['group:legal']; `access` of `documents` is their "
        "own.",
    )


class IngestedOut(Out):
    id: str = Field(description="Give it to `fetch`, or to `delete_document`.")
    key: str
    state: str
    reason: str = Field(description="Why it failed; empty if it did not.")


class RejectedOut(Out):
    source: str
    reason: str


class IngestResult(Out):
    corpus: str
    job: str
    state: str = Field(
        description="`done`: the documents can be searched. `queued`, `running`: indexing goes on; the same call again "
        "waits further, and costs nothing for documents that are indexed. `failed`: none can be searched."
    )
    counts: dict[str, int] = Field(description="Documents by state; `unchanged` were there already.")
    documents: list[IngestedOut] = Field(description="The first documents.")
    rejected: list[RejectedOut] = Field(description="What could not be read, with the reason; tell the user.")


async def _ingest(call: ToolCall, arguments: TextsArguments | FilesArguments) -> IngestResult:
    found = _read(call, arguments)
    name = await choose_corpus(call, arguments.corpus)
    corpus = await _open_corpus(call, name, arguments)
    keys = list[str]()
    stop = asyncio.Event()
    submitting = asyncio.create_task(_submit(call, corpus, found, keys, stop))
    try:
        job, rejected = await asyncio.shield(submitting)  # cancelled itself, it would leave a job that nobody knows
        call.progress(f"submitted {len(keys):,} documents")
        job = await _follow(call, job, arguments.wait_seconds)
    except asyncio.CancelledError:  # what is finished stays
        stop.set()
        await asyncio.shield(_cancel(call, submitting))
        raise
    shown = keys[:_SHOWN]
    documents = [document async for document in list_those(call.container, corpus, shown)]
    return IngestResult(
        corpus=corpus.name,
        job=job.id,
        state=job.state,
        counts={name: count for name, count in job.counts.items() if count},
        documents=[_show(corpus, document) for document in documents],
        rejected=[RejectedOut(source=rejection.source, reason=rejection.reason) for rejection in rejected[:_SHOWN]],
    )


def _read(call: ToolCall, arguments: TextsArguments | FilesArguments) -> Iterable[Submission | Rejection]:
    """Returns the documents. Raises `InvalidInput` if there is none, or if files may not be read."""
    texts = [_submission(document) for document in arguments.documents]
    paths = arguments.paths if isinstance(arguments, FilesArguments) else []
    if paths and call.root is None:
        raise InvalidInput(
            "no folder is permitted, so no file can be read; ask the user to start `hopweave mcp` with `--root FOLDER` "
            "or give the texts as `documents`"
        )
    if not texts and not paths:
        raise InvalidInput("there is nothing to ingest; give `documents` with texts, or `paths`")
    read = read_within(call.root, paths) if call.root is not None and paths else ()
    access = check_access(arguments.access, "`access`") if isinstance(arguments, FilesArguments) else None
    return chain(texts, AccessRules(others=access).apply(read))


async def _open_corpus(call: ToolCall, name: str, arguments: _Target) -> Corpus:
    """Returns the corpus, which is created if it is missing and the caller may do that."""
    if not call.creates_corpora:
        return await call.container.record.corpora.get(name)
    extractor = NO_GRAPH if arguments.no_graph else None
    embedding = NO_EMBEDDING if arguments.no_embedding else None
    return await ensure(call.container, name, extractor=extractor, embedding=embedding)


def _submission(document: DocumentArgument) -> Submission:
    given = {"key": document.key, "text": document.text, "metadata": document.metadata, "access": document.access}
    return submission_from_json({**given, "title": document.title} if document.title else given)


async def _submit(
    call: ToolCall, corpus: Corpus, found: Iterable[Submission | Rejection], keys: list[str], stop: asyncio.Event
) -> tuple[Job, tuple[Rejection, ...]]:
    """Returns the job and what was rejected. The keys of all documents are appended to `keys`.

    After `stop` is set, it submits nothing more.
    """

    def noted() -> Iterable[Submission | Rejection]:
        for submission in found:
            if isinstance(submission, Submission):
                keys.append(submission.key)
            yield submission

    parts = submit_all(call.container, corpus, noted(), OnConflict.REPLACE)
    async with aclosing(parts):
        async for part in parts:
            last = part
            if stop.is_set():
                break
    return last.job, last.rejected


async def _cancel(call: ToolCall, submitting: "asyncio.Task[tuple[Job, tuple[Rejection, ...]]]") -> None:
    job, _ = await submitting
    await call.container.record.jobs.cancel(job.id)


async def _follow(call: ToolCall, job: Job, seconds: float) -> Job:
    """Returns the job when it has ended or is paused, or after so many seconds; reports its progress."""
    ends = asyncio.get_running_loop().time() + seconds
    while not job.settled and asyncio.get_running_loop().time() < ends:
        await asyncio.sleep(_POLL_SECONDS)
        try:
            job = await call.container.record.jobs.get(job.id)
        except Unavailable:
            continue  # workers wait for the record, too
        done, total = job.progress.bytes, job.progress.bytes_total
        call.progress(f"{done:,} of {total:,} bytes are indexed", done=done, total=total or None)
    return job


def _show(corpus: Corpus, document: Document) -> IngestedOut:
    return IngestedOut(
        id=str(Reference(corpus=corpus.name, kind="documents", id=document.id)),
        key=document.key,
        state=document.state,
        reason=document.reason or "",
    )


_HINTS = Hints(read_only=False, destructive=True)  # a document with the same key is replaced

INGEST_TEXTS = Tool(
    name="ingest",
    title="Add documents",
    description="Adds texts to a corpus so that they can be searched, and replaces documents with the same keys. "
    "Documents that did not change cost nothing.",
    arguments=TextsArguments,
    result=IngestResult,
    hints=_HINTS,
    scope=Scope.WRITE,
    run=_ingest,
)

INGEST_FILES = Tool(
    name="ingest",
    title="Add documents",
    description="Adds files (PDF, Office, HTML, Markdown, e-mail, code and others), folders or texts to a corpus so "
    "that they can be searched, and replaces documents with the same keys. The key of a file is its path. A corpus "
    "that is missing is made. Documents that did not change cost nothing.",
    arguments=FilesArguments,
    result=IngestResult,
    hints=_HINTS,
    scope=Scope.WRITE,
    run=_ingest,
)


class DeleteArguments(In):
    id: Text = Field(
        min_length=1,
        max_length=200,
        description="The id of the document: `document` of the metadata that `fetch` returns, or `id` of a document of "
        "`ingest`, such as 'people/documents/4b0d…'.",
    )


class DeleteResult(Out):
    id: str
    job: str
    state: str = Field(description="The document is found no more, whatever the state of the job that deletes it.")


async def _delete(call: ToolCall, arguments: DeleteArguments) -> DeleteResult:
    wanted = parse_reference(arguments.id)
    if wanted.kind != "documents":
        raise InvalidInput(
            f"{arguments.id!r} is a passage, and only whole documents are deleted; `fetch` it, and give the `document` "
            "of its metadata"
        )
    corpus = await call.container.record.corpora.get(wanted.corpus)
    job = await delete_one_document(call.container, corpus, wanted.id)
    return DeleteResult(id=arguments.id, job=job.id, state=job.state)


DELETE_DOCUMENT = Tool(
    name="delete_document",
    title="Delete a document",
    description="Deletes a document from its corpus, with its passages and the facts that only it states. This cannot "
    "be undone: do it only if the user asked for this document to be deleted.",
    arguments=DeleteArguments,
    result=DeleteResult,
    hints=Hints(read_only=False, destructive=True),
    scope=Scope.WRITE,
    run=_delete,
)
