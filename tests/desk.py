"""A worker in this process over real stores, embedded in a folder unless told otherwise, and the embedder's twin."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from core.corpora import Corpus, CorpusSettings, Fine
from core.documents import OnConflict, Submission
from core.execution.shared_secrets import SharedSecret
from core.ids import content_hash, document_id
from core.ports.record import NewRevision
from core.ports.views import VectorKind
from indexer import IndexingBackends, Worker, WorkerOptions, fingerprint, submission_from_json
from tests.stores import Stores, embedded_stores
from tests.twins.embedder import TwinEmbedder

OPTIONS = WorkerOptions(lease_seconds=60, renew_seconds=15, batch_bytes=2_000, task_seconds=60, retry_seconds=0)
DOCUMENTS: Sequence[Mapping[str, Any]] = [
    {"id": "ada", "title": "Ada Lovelace", "text": "Ada Lovelace wrote the first program. She knew Charles Babbage."},
    {"id": "babbage", "title": "Charles Babbage", "text": "Charles Babbage designed the Analytical Engine in London."},
    {"id": "beida", "title": "北京大学", "text": "北京大学位于北京。《红楼梦》的研究在这里很有名。"},
    {"id": "moskva", "title": "Москва", "text": "Москва — столица России. В ней жил Лев Толстой."},
    {
        "id": "soren",
        "title": "Søren Kierkegaard",
        "text": "Søren Kierkegaard lived in København. C++ and C# came later.",
    },
]


class CountingEmbedder(TwinEmbedder):
    """The twin, with a count of what it was asked to embed."""

    embedded = 0

    async def embed_passages(self, texts: Sequence[str]) -> Any:
        self.embedded += len(texts)
        return await super().embed_passages(texts)


class Desk:
    """One data folder with a worker and what a test does with it."""

    def __init__(self, folder: Path, stores: Stores | None = None, options: WorkerOptions = OPTIONS) -> None:
        self._stores = stores or embedded_stores(folder)
        self.record = self._stores.record
        self.vectors = self._stores.vectors
        self.text = self._stores.text
        self.embedder = CountingEmbedder()
        self.backends = IndexingBackends(
            record=self.record,
            certificate_secret=SharedSecret("c" * 32, Path(), what="it", setting="it"),
            vectors=self.vectors,
            text=self.text,
            files=self._stores.files,
            embedder=self.embedder,
        )
        self.worker = Worker("w", self.backends, options)

    def with_ports(self, **ports: object) -> IndexingBackends:
        """Returns the backends over a record with other ports under these names."""
        return replace(self.backends, record=self.record.with_ports(**ports))

    async def corpus(self, name: str = "people", *, extractor: str = "pattern", fine: Fine = Fine.AUTO) -> Corpus:
        settings = CorpusSettings(
            chunker="sentences",
            extractor=extractor,
            fine=fine,
            embedding_model=self.embedder.model,
            dimension=self.embedder.dimension,
        )
        return await self.record.corpora.create(name, settings)

    async def queue(self, corpus: Corpus, *documents: Mapping[str, Any], tokens: int | None = None) -> str:
        revisions = []
        for document in documents:
            submission = submission_from_json(
                {"key": document["id"], **{k: v for k, v in document.items() if k != "id"}}
            )
            await self.backends.files.put(corpus.id, [submission.content])
            revisions.append(_make_revision(submission))
        enqueue = self.record.submissions.enqueue
        return (await enqueue(corpus.id, revisions, OnConflict.REPLACE, token_budget=tokens)).job.id

    async def submit(self, corpus: Corpus, *submissions: Submission) -> None:
        await self.backends.files.put(corpus.id, [one.content for one in submissions])
        revisions = [_make_revision(one) for one in submissions]
        await self.record.submissions.enqueue(corpus.id, revisions, OnConflict.REPLACE)

    async def ingest(self, corpus: Corpus, *documents: Mapping[str, Any]) -> str:
        job = await self.queue(corpus, *documents)
        assert not await self.worker.work(corpus.id)
        return job

    async def delete(self, corpus: Corpus, *keys: str) -> None:
        await self.record.submissions.delete_documents(corpus.id, [document_id(key) for key in keys])
        await self.worker.work(corpus.id)

    async def export(self, corpus: Corpus) -> str:
        rows = [row async for row in self.record.exporter.rows(corpus.id, canonical=True)]
        return "\n".join(json.dumps(row, sort_keys=True, ensure_ascii=False) for row in rows)

    async def view_ids(self, corpus: Corpus) -> tuple[set[str], ...]:
        kinds = [set(await self.vectors.ids(corpus.id, kind)) for kind in VectorKind]
        return set(await self.text.ids(corpus.id)), *kinds

    async def close(self) -> None:
        await self.backends.loaders.close()
        await self._stores.close()


def _make_revision(submission: Submission) -> NewRevision:
    return NewRevision(
        key=submission.key,
        media_type=submission.media_type,
        content_hash=content_hash(submission.content),
        size=len(submission.content),
        fingerprint=fingerprint(submission),
        title=submission.title,
        metadata=submission.metadata,
    )
