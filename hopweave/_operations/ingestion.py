"""Ingestion: files, folders and documents sent in calls of a size that the server takes."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from hopweave._files import read_documents
from hopweave._operations.jobs import wait_for_job
from hopweave._steps import Read, Steps, call, path
from hopweave._values.documents import NewDocument, OnConflict, Queued, Rejection
from hopweave._values.ingestion import Ingestion
from hopweave._values.jobs import Job

__all__ = ["Enqueued", "ingest"]

_MAX_DOCUMENTS = 1000
_BATCH_BYTES = 8_000_000


@dataclass(frozen=True, kw_only=True)
class Enqueued:
    """The answer to a call with documents."""

    job: Job
    documents: tuple[Queued, ...]
    rejected: tuple[Rejection, ...]


def ingest(
    corpus: str,
    *paths: str | os.PathLike[str],
    documents: Iterable[NewDocument] = (),
    on_conflict: OnConflict = "replace",
    budget_tokens: int | None = None,
    wait: bool = True,
) -> Steps[Ingestion]:
    """Sends files, the files of folders, and documents to a corpus, and waits until they are indexed.

    Read are `.txt` and `.md` (as text), `.json` (a document each) and `.jsonl` (a document a line); hidden files are
    passed over. Files that cannot be read are in `rejected`, documents that cannot be indexed in `failures`. A paused
    job is not waited for. With `wait=False` it returns once all is sent, with the jobs as they are then.

    `budget_tokens` is for each job, which has up to 1,000 documents or 8 MB: a job pauses once language models have
    used so many tokens. `on_conflict` is for keys that are there with other content.

    The command `hopweave ingest` does more: it splits Markdown at its headings, joins the `openie.jsonl` beside a
    `corpus.jsonl`, reads exported corpora, creates a missing corpus, and deletes what a folder no longer holds.

    Raises `FileNotFoundError` for a path that does not exist, before anything is sent.
    """
    found = yield Read(function=lambda: read_documents(paths, documents))
    rejected: list[Rejection] = []
    batches = _batches(found, rejected)
    options: dict[str, Any] = {"on_conflict": on_conflict}
    if budget_tokens is not None:
        options["budget"] = {"tokens": budget_tokens}
    jobs: list[Job] = []
    queued: list[Queued] = []
    while batch := (yield Read(function=lambda: next(batches, None))):
        body = {"documents": batch, **options}
        sent = yield from call(Enqueued, "POST", path("corpora", corpus, "documents"), body)
        jobs.append(sent.job)
        queued += sent.documents
    if wait:
        for number, job in enumerate(jobs):
            jobs[number] = yield from wait_for_job(job.id)
    return Ingestion(jobs=tuple(jobs), documents=tuple(queued), rejected=tuple(rejected))


def _batches(found: Iterable[NewDocument | Rejection], rejected: list[Rejection]) -> Iterator[list[Mapping[str, Any]]]:
    """Parts that one call takes; what is rejected is put aside. A larger document goes alone."""
    batch: list[Mapping[str, Any]] = []
    size = 0
    for one in found:
        if isinstance(one, Rejection):
            rejected.append(one)
            continue
        body = {name: value for name, value in asdict(one).items() if value or value == ""}
        length = len(json.dumps(body))
        if batch and (len(batch) == _MAX_DOCUMENTS or size + length > _BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(body)
        size += length
    if batch:
        yield batch
