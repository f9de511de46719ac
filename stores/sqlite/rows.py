"""The named doors through which rows become values, and values rows."""

import json
import sqlite3
from collections.abc import Collection
from datetime import UTC, datetime

from core.corpora import Corpus
from core.documents import Chunk, Document, RevisionState, Span
from core.ports.record import Claim
from stores.payloads import load_settings

__all__ = ["chunk_from_row", "claim_from_row", "corpus_from_row", "document_from_row", "id_list"]


def id_list(ids: Collection[str]) -> str:
    """Ids as one bound parameter, for `IN (SELECT value FROM json_each(?))`."""
    return json.dumps(list(ids))


def corpus_from_row(row: sqlite3.Row) -> Corpus:
    return Corpus(
        id=row["id"],
        name=row["name"] or "",
        settings=load_settings(row["settings"]),
        generation=row["generation"],
        created_at=datetime.fromtimestamp(row["created_at"], UTC),
    )


def document_from_row(row: sqlite3.Row) -> Document:
    return Document(
        id=row["id"],
        key=row["key"],
        title=row["title"],
        metadata=json.loads(row["metadata"]),
        state=RevisionState(row["state"]),
        reason=row["reason"],
        readable=row["current"] is not None,
        chunks=row["chunks"],
        malformed_triples=row["malformed"],
        media_type=row["media_type"],
        size=row["size"],
        content_hash=row["content_hash"],
        updated_at=datetime.fromtimestamp(row["updated_at"], UTC),
    )


def chunk_from_row(row: sqlite3.Row) -> Chunk:
    start, end = row["span_start"], row["span_end"]
    return Chunk(
        id=row["id"],
        document_id=row["document_id"],
        view_id=row["view_id"],
        position=row["position"],
        text=row["text"],
        heading=row["heading"],
        page=row["page"],
        span=None if start is None else Span(start=start, end=end),
    )


def claim_from_row(row: sqlite3.Row) -> Claim:
    return Claim(
        corpus_id=row["corpus_id"],
        document_id=row["document_id"],
        key=row["key"],
        revision=row["number"],
        epoch=row["epoch"],
        deletion=bool(row["deletion"]),
        media_type=row["media_type"],
        content_hash=row["content_hash"],
        size=row["size"],
        title=row["title"],
        metadata=json.loads(row["metadata"]),
        job_id=row["job_id"],
        token_budget=row["token_budget"],
        tokens_spent=row["tokens_spent"],
    )
