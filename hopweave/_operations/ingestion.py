"""Ingestion: files, folders and documents sent in calls of a size that the server takes."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from hopweave._errors import InvalidRequestError
from hopweave._files import read_documents
from hopweave._operations.jobs import wait_for_job
from hopweave._steps import Page, Read, Request, Steps, call, decode, path
from hopweave._values.documents import NewDocument, NewFile, OnConflict, Queued, Rejection
from hopweave._values.ingestion import Ingestion
from hopweave._values.jobs import Job

__all__ = ["Enqueued", "ingest"]

_MAX_DOCUMENTS = 1000
_BATCH_BYTES = 8_000_000
_REJECTED = "rejected"
_TOO_LARGE, _UNSUPPORTED = 413, 415


@dataclass(frozen=True, kw_only=True)
class Enqueued:
    """The answer to a call with documents."""

    job: Job
    documents: tuple[Queued, ...]
    rejected: tuple[Rejection, ...]


def ingest(
    corpus: str,
    *paths: str | os.PathLike[str],
    documents: Iterable[NewDocument | NewFile] = (),
    on_conflict: OnConflict = "replace",
    budget_tokens: int | None = None,
    wait: bool = True,
    gitignore: bool = True,
) -> Steps[Ingestion]:
    """Sends files, the files of folders, and documents to a corpus, and waits until they are indexed.

    The server loads files by their suffix, as the command `hopweave ingest` does; a `.jsonl` file has a document in
    each line. Hidden files are passed over, and of folders only files are sent whose suffix the server reads; files
    that a `.gitignore` in them names are not sent, unless `gitignore=False`. Files that are not used are in `rejected`,
    documents that cannot be indexed in `failures`. A paused job is not waited for. With `wait=False` it returns once
    all is sent, with the jobs as they are then.

    `budget_tokens` is for each job, which has up to 1,000 documents or 8 MB: a job pauses once language models have
    used so many tokens. `on_conflict` is for keys that are there with other content.

    The command `hopweave ingest` does more: it joins the `openie.jsonl` beside a `corpus.jsonl`, reads exported
    corpora, creates a missing corpus, and deletes what a folder no longer holds.

    Raises `FileNotFoundError` for a path that does not exist, before anything is sent.
    """
    suffixes = yield from _find_suffixes(paths)
    found = yield Read(function=lambda: read_documents(paths, documents, suffixes, gitignore=gitignore))
    rejected: list[Rejection] = []
    batches = _batches(found, rejected)
    jobs: list[Job] = []
    queued: list[Queued] = []
    pending: list[_Batch] = []
    while batch := pending.pop() if pending else (yield Read(function=lambda: next(batches, None))):
        try:
            sent = yield from _send(corpus, batch, on_conflict, budget_tokens)
        except InvalidRequestError as error:
            if error.status == _TOO_LARGE and len(batch.files) > 1 and on_conflict != "error":
                pending += reversed(_halve(batch))  # one of the files, or all of them together, are too large
            else:
                rejected += _read_rejections(batch, error, on_conflict)
            continue
        jobs.append(sent.job)
        queued += sent.documents
        rejected += sent.rejected
    if wait:
        for number, job in enumerate(jobs):
            jobs[number] = yield from wait_for_job(job.id)
    return Ingestion(jobs=tuple(jobs), documents=tuple(queued), rejected=tuple(rejected))


@dataclass(frozen=True, kw_only=True)
class _Strategy:
    """A strategy of the server. An older one does not tell of loaders."""

    kind: str
    suffixes: tuple[str, ...] = ()


def _find_suffixes(paths: Iterable[str | os.PathLike[str]]) -> Steps[frozenset[str] | None]:
    """Returns the suffixes that the server reads: it may be newer than this client, or have other loaders.

    Returns None if no path is a folder, or if the server does not tell.
    """
    if not (yield Read(function=lambda: any(Path(path).is_dir() for path in paths))):
        return None
    listed = yield from call(Page[_Strategy], "GET", path("strategies"))
    return frozenset(suffix for one in listed.data if one.kind == "loader" for suffix in one.suffixes) or None


@dataclass(frozen=True, kw_only=True)
class _Batch:
    """The documents of one call, or its files."""

    documents: tuple[Mapping[str, Any], ...] = ()
    files: tuple[NewFile, ...] = ()


def _halve(batch: _Batch) -> tuple[_Batch, _Batch]:
    middle = len(batch.files) // 2
    return _Batch(files=batch.files[:middle]), _Batch(files=batch.files[middle:])


def _send(corpus: str, batch: _Batch, on_conflict: OnConflict, budget_tokens: int | None) -> Steps[Enqueued]:
    at = path("corpora", corpus, "documents")
    if not batch.files:
        body: dict[str, Any] = {"documents": batch.documents, "on_conflict": on_conflict}
        if budget_tokens is not None:
            body["budget"] = {"tokens": budget_tokens}
        return (yield from call(Enqueued, "POST", at, body))
    # The names of the parts are numbers: quotation marks and line breaks of a file's name cannot be written there.
    names = [f"{number}{PurePosixPath(file.name).suffix}" for number, file in enumerate(batch.files)]
    manifest = {name: _describe(file) for name, file in zip(names, batch.files, strict=True)}
    fields = {"manifest": json.dumps(manifest, allow_nan=False), "on_conflict": on_conflict}
    if budget_tokens is not None:
        fields["budget_tokens"] = str(budget_tokens)
    files = tuple((name, file.content) for name, file in zip(names, batch.files, strict=True))
    return decode(Enqueued, (yield Request(method="POST", path=at, params={}, body=fields, files=files)))


def _describe(file: NewFile) -> Mapping[str, Any]:
    stated = {"title": file.title, "media_type": file.media_type}
    known = {name: value for name, value in stated.items() if value is not None}
    return {"key": file.key or file.name, "metadata": file.metadata, **known}


def _read_rejections(batch: _Batch, error: InvalidRequestError, on_conflict: OnConflict) -> Sequence[Rejection]:
    """Returns the files that the server rejected. Raises `error` again if it is about something else."""
    if batch.files and on_conflict != "error":
        named = [one for one in error.errors if one.get("type") == _REJECTED]
        if named:
            return [Rejection(source=str(one["field"]), reason=str(one["message"])) for one in named]
        if len(batch.files) == 1 and error.status in (_TOO_LARGE, _UNSUPPORTED):
            [file] = batch.files
            return [Rejection(source=file.key or file.name, reason=error.detail)]
    raise error


def _batches(found: Iterable[NewDocument | NewFile | Rejection], rejected: list[Rejection]) -> Iterator[_Batch]:
    """Parts that one call takes; what is rejected is put aside. A larger document or file goes alone."""
    documents: list[Mapping[str, Any]] = []
    files: list[NewFile] = []
    size = 0
    for one in found:
        if isinstance(one, Rejection):
            rejected.append(one)
            continue
        body = None if isinstance(one, NewFile) else _body(one)
        length = len(one.content) if isinstance(one, NewFile) else len(json.dumps(body))
        count = len(documents) + len(files)
        other_kind = files if body is not None else documents
        if count and (other_kind or count == _MAX_DOCUMENTS or size + length > _BATCH_BYTES):
            yield _Batch(documents=tuple(documents), files=tuple(files))
            documents, files, size = [], [], 0
        if isinstance(one, NewFile):
            files.append(one)
        elif body is not None:
            documents.append(body)
        size += length
    if documents or files:
        yield _Batch(documents=tuple(documents), files=tuple(files))


def _body(document: NewDocument) -> Mapping[str, Any]:
    return {name: value for name, value in asdict(document).items() if value or value == ""}
