"""Ingestion: files, folders and documents sent in calls of a size that the server takes."""

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from hopweave._errors import InvalidRequestError, QueueFullError
from hopweave._files import read_documents
from hopweave._operations.jobs import wait_for_job
from hopweave._steps import Pause, Read, Request, Steps, call, decode, path
from hopweave._values import Ingestion, NewDocument, NewFile, OnConflict
from hopweave.wire.documents import Enqueued, Estimate, ModelEstimate, Rejection

__all__ = ["estimate", "ingest"]

T = TypeVar("T")

_MAX_DOCUMENTS = 1000
_BATCH_BYTES = 8_000_000
_REJECTED = "rejected"
_TOO_LARGE, _UNSUPPORTED = 413, 415
_FULL_PAUSES = (5.0,) * 120
"""Seconds between attempts while the server's queue is full."""


def ingest(
    corpus: str,
    *paths: str | os.PathLike[str],
    documents: Iterable[NewDocument | NewFile] = (),
    on_conflict: OnConflict = "replace",
    budget_tokens: int | None = None,
    wait: bool = True,
    gitignore: bool = True,
    follow_links: bool = False,
) -> Steps[Ingestion]:
    """Sends files, the files of folders, and documents to a corpus, and waits until they are indexed.

    The server loads files by their suffix, as the command `hopweave ingest` does; a `.jsonl` file has a document in
    each line, and a file without a suffix is text in UTF-8. Hidden files are passed over, and of folders only files
    are sent that the server reads; files that a `.gitignore` in them names are not sent, unless `gitignore=False`, and
    links that lead out of the folder are not followed, unless `follow_links=True`.
    Files that are not used are in `rejected`, documents that cannot be indexed in `failures`. A paused job is not
    waited for. With `wait=False` it returns once all is sent, with the jobs as they are then.

    `budget_tokens` is for each job, which has up to 1,000 documents or 8 MB: a job pauses once language models have
    used so many tokens. `on_conflict` is for keys that are there with other content.

    The command `hopweave ingest` does more: it joins the `openie.jsonl` beside a `corpus.jsonl`, reads exported
    corpora, creates a missing corpus, and deletes what a folder no longer holds.

    Raises `FileNotFoundError` for a path that does not exist, before anything is sent.
    """
    suffixes = yield from _find_suffixes(paths)
    found = yield Read(
        function=lambda: read_documents(paths, documents, suffixes, gitignore=gitignore, follow_links=follow_links)
    )
    rejected: list[Rejection] = []
    sent = yield from _send_all(
        found, rejected, lambda batch: _send(corpus, batch, on_conflict, budget_tokens), on_conflict
    )
    jobs = [one.job for one in sent]
    queued = [document for one in sent for document in one.documents]
    rejected += [rejection for one in sent for rejection in one.rejected]
    if wait:
        for number, job in enumerate(jobs):
            jobs[number] = yield from wait_for_job(job.id)
    return Ingestion(jobs=tuple(jobs), documents=tuple(queued), rejected=tuple(rejected))


def estimate(
    corpus: str,
    *paths: str | os.PathLike[str],
    documents: Iterable[NewDocument | NewFile] = (),
    gitignore: bool = True,
    follow_links: bool = False,
) -> Steps[Estimate]:
    """Sends what `ingest` would send, and returns what it would cost. The server writes nothing, and calls no model.

    Raises `FileNotFoundError` for a path that does not exist, before anything is sent.
    """
    suffixes = yield from _find_suffixes(paths)
    found = yield Read(
        function=lambda: read_documents(paths, documents, suffixes, gitignore=gitignore, follow_links=follow_links)
    )
    rejected: list[Rejection] = []
    parts = yield from _send_all(found, rejected, lambda batch: _send_estimate(corpus, batch), "replace")
    models = [one.model for one in parts if one.model is not None]
    return Estimate(
        documents=sum(one.documents for one in parts),
        unchanged=sum(one.unchanged for one in parts),
        bytes=sum(one.bytes for one in parts),
        chunks=sum(one.chunks for one in parts),
        tokens=sum(one.tokens for one in parts),
        model=_add_models(models) if models else None,
        rejected=(*rejected, *(rejection for one in parts for rejection in one.rejected)),
        notes=tuple(note for one in parts for note in one.notes),
    )


def _add_models(models: Sequence[ModelEstimate]) -> ModelEstimate:
    return ModelEstimate(
        calls=sum(one.calls for one in models),
        prompt_tokens=sum(one.prompt_tokens for one in models),
        completion_tokens=sum(one.completion_tokens for one in models),
        seconds=round(sum(one.seconds for one in models), 1),
        assumptions=models[0].assumptions,
    )


def _send_all(
    found: Iterable[NewDocument | NewFile | Rejection],
    rejected: list[Rejection],
    send: "Callable[[_Batch], Steps[T]]",
    on_conflict: OnConflict,
) -> Steps[list[T]]:
    """Sends all in batches, and returns the answers. Adds to `rejected` what is rejected as a whole batch.

    While the server's queue is full, it waits for ten minutes; then it raises `QueueFullError`.
    """
    batches = _batches(found, rejected)
    answers: list[T] = []
    pending: list[_Batch] = []
    pauses = [*_FULL_PAUSES]
    while batch := pending.pop() if pending else (yield Read(function=lambda: next(batches, None))):
        try:
            answers.append((yield from send(batch)))
            pauses = [*_FULL_PAUSES]
        except QueueFullError:
            if not pauses:
                raise
            yield Pause(seconds=pauses.pop())
            pending.append(batch)
        except InvalidRequestError as error:
            if error.status == _TOO_LARGE and len(batch.files) > 1 and on_conflict != "error":
                pending += reversed(_halve(batch))  # one of the files, or all of them together, are too large
            else:
                rejected += _read_rejections(batch, error, on_conflict)
    return answers


@dataclass(frozen=True, kw_only=True)
class _Strategy:
    """A strategy of the server. An older server does not list loaders."""

    kind: str
    suffixes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class _StrategyList:
    data: tuple[_Strategy, ...]


def _find_suffixes(paths: Iterable[str | os.PathLike[str]]) -> Steps[frozenset[str] | None]:
    """Returns the suffixes that the server reads: it may be newer than this client, or have other loaders.

    Returns None if no path is a folder, or if the server does not tell.
    """
    if not (yield Read(function=lambda: any(Path(path).is_dir() for path in paths))):
        return None
    listed = yield from call(_StrategyList, "GET", path("strategies"))
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
    fields = {"on_conflict": str(on_conflict)}
    if budget_tokens is not None:
        fields["budget_tokens"] = str(budget_tokens)
    return decode(Enqueued, (yield _make_upload(at, batch.files, fields)))


def _send_estimate(corpus: str, batch: _Batch) -> Steps[Estimate]:
    at = path("corpora", corpus, "estimates")
    if not batch.files:
        return (yield from call(Estimate, "POST", at, {"documents": batch.documents}))
    return decode(Estimate, (yield _make_upload(at, batch.files, {})))


def _make_upload(at: str, files: Sequence[NewFile], fields: Mapping[str, str]) -> Request:
    # The names of the parts are numbers: quotation marks and line breaks of a file's name cannot be written there.
    names = [f"{number}{PurePosixPath(file.name).suffix}" for number, file in enumerate(files)]
    manifest = {name: _describe(file) for name, file in zip(names, files, strict=True)}
    body = {"manifest": json.dumps(manifest, allow_nan=False), **fields}
    parts = tuple((name, file.content) for name, file in zip(names, files, strict=True))
    return Request(method="POST", path=at, params={}, body=body, files=parts)


def _describe(file: NewFile) -> Mapping[str, Any]:
    stated = {"title": file.title, "media_type": file.media_type}
    known: dict[str, Any] = {name: value for name, value in stated.items() if value is not None}
    if file.access is not None:
        known["access"] = list(file.access)
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
    """Parts that fit in one call; what is rejected is put aside. A larger document or file goes alone."""
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
    body = {name: value for name, value in asdict(document).items() if value or value == ""}
    if document.access is not None:  # nobody is another access than everyone
        body["access"] = list(document.access)
    return body
