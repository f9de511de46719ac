"""The named doors through which rows become values. A property that is not set is missing from its row."""

import json
from datetime import UTC, datetime

from core.corpora import Corpus
from core.documents import Chunk, Document, RevisionState, Span
from core.jobs import Job, JobKind, JobState, derive_job_state
from core.ports.record import Claim
from stores.neo4j.driver.database import Row
from stores.neo4j.leases.states import COUNTED
from stores.payloads import load_settings, moment

__all__ = ["chunk_from_row", "claim_from_row", "corpus_from_row", "document_from_row", "job_from_row"]


def corpus_from_row(row: Row) -> Corpus:
    """From a corpus' properties."""
    return Corpus(
        id=row["id"],
        name=row.get("name") or "",
        settings=load_settings(row["settings"]),
        generation=row["generation"],
        created_at=datetime.fromtimestamp(row["created_at"], UTC),
    )


def document_from_row(row: Row) -> Document:
    """From a document's properties with `reason`, `media_type`, `size`, `content_hash`, `updated_at` of the newest
    revision.
    """
    return Document(
        id=row["id"],
        key=row["key"],
        title=row["title"],
        metadata=json.loads(row["metadata"]),
        state=RevisionState(row["state"]),
        reason=row.get("reason"),
        readable=row.get("current") is not None,
        chunks=row["chunks"],
        malformed_triples=row["malformed"],
        media_type=row["media_type"],
        size=row["size"],
        content_hash=row["content_hash"],
        updated_at=datetime.fromtimestamp(row["updated_at"], UTC),
    )


def chunk_from_row(row: Row) -> Chunk:
    """From a chunk's properties."""
    start, end = row.get("span_start"), row.get("span_end")
    return Chunk(
        id=row["id"],
        document_id=row["document_id"],
        view_id=row["view_id"],
        position=row["position"],
        text=row["text"],
        heading=row["heading"],
        page=row.get("page"),
        span=None if start is None or end is None else Span(start=start, end=end),
    )


def claim_from_row(row: Row) -> Claim:
    """From a revision's properties with the document's `key` and the job's `token_budget` and `tokens_spent`."""
    return Claim(
        corpus_id=row["corpus_id"],
        document_id=row["document_id"],
        key=row["key"],
        revision=row["number"],
        epoch=row["epoch"],
        deletion=row["deletion"],
        media_type=row["media_type"],
        content_hash=row["content_hash"],
        size=row["size"],
        title=row.get("title"),
        metadata=json.loads(row["metadata"]),
        job_id=row["job_id"],
        token_budget=row.get("token_budget"),
        tokens_spent=row["tokens_spent"],
    )


def job_from_row(row: Row) -> Job:
    """From a job's properties with `failures`, pairs of key and reason."""
    counts = {state: row[f"n_{state}"] for state in sorted(COUNTED) if row[f"n_{state}"] > 0}
    state = derive_job_state(counts, cancelled=row["cancelled"])
    if row["open"] and state.final:
        state = JobState.RUNNING if row.get("started_at") else JobState.QUEUED
    return Job(
        id=row["id"],
        corpus_id=row["corpus_id"],
        corpus_name=row["corpus_name"],
        kind=JobKind(row["kind"]),
        state=state,
        counts=counts,
        malformed_triples=row["malformed"],
        created_at=datetime.fromtimestamp(row["created_at"], UTC),
        started_at=moment(row.get("started_at")),
        finished_at=moment(row.get("finished_at")),
        token_budget=row.get("token_budget"),
        calls=row["calls"],
        prompt_tokens=row["prompt_tokens"],
        completion_tokens=row["completion_tokens"],
        failures=tuple((key, reason) for key, reason in row["failures"]),
    )
