"""Rows of a record as values: the columns have the same names in every record.

Each function takes `get`, which returns the value of a column, or None where the column is not set.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from core.corpora import Corpus
from core.documents import Chunk, Document, RevisionState, Span
from core.jobs import Job, JobKind, JobState
from core.ports.record import Claim, NewRevision
from core.record_policy.jobs import state_of_job
from core.record_policy.progress import MeasuredJob, measure_progress
from stores.payloads import load_settings, moment

__all__ = ["load_chunk", "load_claim", "load_corpus", "load_document", "load_job", "load_new_revision"]

Get = Callable[[str], Any]


def load_corpus(get: Get) -> Corpus:
    """A corpus without a name gets the empty one."""
    return Corpus(
        id=get("id"),
        name=get("name") or "",
        settings=load_settings(get("settings")),
        generation=get("generation"),
        created_at=datetime.fromtimestamp(get("created_at"), UTC),
    )


def load_document(get: Get) -> Document:
    """From the columns of a document, with `reason`, `media_type`, `size`, `content_hash` and `updated_at` of its
    newest revision.
    """
    return Document(
        id=get("id"),
        key=get("key"),
        title=get("title"),
        metadata=json.loads(get("metadata")),
        state=RevisionState(get("state")),
        reason=get("reason"),
        readable=get("current") is not None,
        chunks=get("chunks"),
        malformed_triples=get("malformed"),
        media_type=get("media_type"),
        size=get("size"),
        content_hash=get("content_hash"),
        updated_at=datetime.fromtimestamp(get("updated_at"), UTC),
        enabled=not get("disabled"),
    )


def load_chunk(get: Get) -> Chunk:
    start, end = get("span_start"), get("span_end")
    return Chunk(
        id=get("id"),
        document_id=get("document_id"),
        view_id=get("view_id"),
        position=get("position"),
        text=get("text"),
        heading=get("heading"),
        page=get("page"),
        span=None if start is None or end is None else Span(start=start, end=end),
    )


def load_new_revision(get: Get) -> NewRevision:
    """From the columns of a revision, with the `key` of its document."""
    return NewRevision(
        key=get("key"),
        media_type=get("media_type"),
        content_hash=get("content_hash"),
        size=get("size"),
        fingerprint=get("fingerprint"),
        title=get("title"),
        metadata=json.loads(get("metadata")),
    )


def load_claim(get: Get) -> Claim:
    """From the columns of a revision, with `key` of its document, and `token_budget` and `tokens_spent` of its job."""
    return Claim(
        corpus_id=get("corpus_id"),
        document_id=get("document_id"),
        key=get("key"),
        revision=get("number"),
        epoch=get("epoch"),
        deletion=bool(get("deletion")),
        media_type=get("media_type"),
        content_hash=get("content_hash"),
        size=get("size"),
        title=get("title"),
        metadata=json.loads(get("metadata")),
        job_id=get("job_id"),
        token_budget=get("token_budget"),
        tokens_spent=get("tokens_spent"),
    )


def load_job(
    get: Get, counts: Mapping[str, int], failures: Sequence[tuple[str, str]], measured: MeasuredJob, now: float
) -> Job:
    """`counts` are by state, without zeros; `failures` are pairs of key and reason. `now` is by the record's clock."""
    started_at = get("started_at")
    kind = JobKind(get("kind"))
    state = state_of_job(
        kind, counts, cancelled=bool(get("cancelled")), is_open=bool(get("open")), is_started=bool(started_at)
    )
    return Job(
        id=get("id"),
        corpus_id=get("corpus_id"),
        corpus_name=get("corpus_name"),
        kind=kind,
        state=state,
        counts=counts,
        malformed_triples=get("malformed"),
        created_at=datetime.fromtimestamp(get("created_at"), UTC),
        started_at=moment(started_at),
        finished_at=moment(get("finished_at")),
        token_budget=get("token_budget"),
        calls=get("calls"),
        prompt_tokens=get("prompt_tokens"),
        completion_tokens=get("completion_tokens"),
        submitted_by=get("submitted_by"),
        progress=measure_progress(measured, started_at=started_at if state is JobState.RUNNING else None, now=now),
        failures=tuple(failures),
    )
