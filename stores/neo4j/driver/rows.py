"""Rows of the database as values: corpora, documents, chunks and claims.

A property that is not set is missing from its row.
"""

import json
from datetime import UTC, datetime

from core.corpora import Corpus
from core.documents import Chunk, Document, RevisionState, Span
from core.ports.record import Claim
from stores.neo4j.driver.transaction import Row
from stores.payloads import load_settings

__all__ = ["chunk_from_row", "claim_from_row", "corpus_from_row", "document_from_row"]


def corpus_from_row(row: Row) -> Corpus:
    """Takes a corpus' properties."""
    return Corpus(
        id=row["id"],
        name=row.get("name") or "",
        settings=load_settings(row["settings"]),
        generation=row["generation"],
        created_at=datetime.fromtimestamp(row["created_at"], UTC),
    )


def document_from_row(row: Row) -> Document:
    """Takes a document's properties, with `reason` and `updated_at` of its newest revision.

    `media_type`, `size` and `content_hash` are of the current revision, or of the newest one if none is current.
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
    """Takes a chunk's properties."""
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
    """Takes a revision's properties, with the document's `key` and the job's `token_budget` and `tokens_spent`."""
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
