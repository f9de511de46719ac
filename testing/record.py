"""Revisions, commits and whole documents of a made-up corpus, for tests of a record and of what builds on one."""

from collections.abc import Sequence
from typing import Any

import pytest

from core import ids
from core.corpora import Corpus, CorpusSettings, Fine
from core.documents import Chunk, OnConflict, Span
from core.graph import Fact, Mention
from core.ports.record import ChunkRow, Claim, Commit, GraphChunk, NewRevision, Record
from core.text.names import normalise
from core.text.terms import extract_terms

__all__ = [
    "LEASE",
    "SETTINGS",
    "RecordFixtures",
    "claim_all",
    "commit_of",
    "delete",
    "export",
    "graph_chunk",
    "put",
    "revision",
]

SETTINGS = CorpusSettings(chunker="passage", extractor="pattern", fine=Fine.AUTO, embedding_model="twin", dimension=8)
LEASE = 60.0


class RecordFixtures:
    """The fixtures of every contract of the record; subclasses give `record` and `other`.

    `other` is a second connection to the same database, as another process has one. Each test starts with an empty
    record.
    """

    @pytest.fixture
    async def corpus(self, record: Record) -> Corpus:
        return await record.corpora.create("books", SETTINGS)


def revision(key: str, text: str = "", *, size: int | None = None, **metadata: Any) -> NewRevision:
    content = (text or key).encode()
    return NewRevision(
        key=key,
        media_type="text/plain",
        content_hash=ids.content_hash(content),
        size=len(content) if size is None else size,
        fingerprint=ids.digest("fingerprint", [key, text, repr(sorted(metadata.items()))]),
        title=None,
        metadata=metadata,
    )


def commit_of(
    claim: Claim, passages: Sequence[tuple[str, Sequence[str]]], facts: Sequence[Sequence[str]] = ()
) -> Commit:
    """A commit of passages, each with the names that it mentions; the facts belong to the first passage."""
    chunks, mentions = [], []
    seen: dict[str, int] = {}
    for position, (text, names) in enumerate(passages):
        occurrence = seen.setdefault(text, 0)
        seen[text] += 1
        id = ids.chunk_id(claim.key, text, occurrence)
        embedded = ids.embed_hash(claim.key, "", text, "twin")
        chunk = Chunk(
            id=id,
            document_id=claim.document_id,
            view_id=ids.view_id(id, embedded),
            position=position,
            text=text,
            heading="",
            page=None,
            span=Span(start=0, end=len(text)),
        )
        chunks.append(
            ChunkRow(
                chunk=chunk,
                extract_hash=ids.digest("extract", [text, *names]),
                tokens=len(text.split()),
                terms=extract_terms([claim.key], text).tobytes(),
                title_names=(ids.entity_id(normalise(claim.key)), ids.entity_id(normalise(text))),
            )
        )
        for name in names:
            entity = normalise(name)
            mentions.append(Mention(chunk_id=id, entity_id=ids.entity_id(entity), name=entity, form=name, count=1))
    rows = []
    for subject, predicate, object_ in facts:
        s, o = ids.entity_id(normalise(subject)), ids.entity_id(normalise(object_))
        triple = ids.triple_id(s, predicate, o)
        first = chunks[0].chunk.id
        rows.append(
            Fact(
                id=ids.assertion_id(triple, first),
                triple_id=triple,
                chunk_id=first,
                subject_id=s,
                predicate=predicate,
                object_id=o,
            )
        )
    return Commit(claim=claim, title=claim.key, chunks=tuple(chunks), mentions=tuple(mentions), facts=tuple(rows))


async def claim_all(record: Record, corpus: Corpus, worker: str = "w", lease: float = LEASE) -> list[Claim]:
    return await record.claims.claim(corpus.id, worker, lease_seconds=lease, max_bytes=10**9, max_documents=10**6)


async def put(
    record: Record, corpus: Corpus, key: str, passages: Sequence[tuple[str, Sequence[str]]], **more: Any
) -> None:
    """Ingest one document whole, as the pipeline does."""
    facts = more.pop("facts", ())
    await record.submissions.enqueue(corpus.id, [revision(key, repr((passages, facts)), **more)], OnConflict.REPLACE)
    claims = await claim_all(record, corpus)
    await record.commits.commit([commit_of(claim, passages, facts) for claim in claims], grace=0)


async def delete(record: Record, corpus: Corpus, key: str) -> None:
    await record.submissions.delete_documents(corpus.id, [ids.document_id(key)])
    claims = await claim_all(record, corpus)
    await record.commits.commit([Commit(claim=claim) for claim in claims], grace=0)


async def export(record: Record, corpus: Corpus) -> list[Any]:
    return [row async for row in record.exporter.rows(corpus.id, canonical=True)]


def graph_chunk(row: ChunkRow) -> GraphChunk:
    chunk = row.chunk
    return GraphChunk(chunk.id, chunk.document_id, chunk.view_id, chunk.position, " ".join(row.title_names), row.terms)
