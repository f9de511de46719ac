"""What tests of an installation do with its corpora: submit, work, reindex, and search by one searcher."""

from collections.abc import Mapping
from typing import Any

from app.container import Container
from app.services import corpora
from app.services.ingestion import submit
from app.services.questions import SearchRequest, search
from core.corpora import Corpus
from core.documents import OnConflict
from core.ports.retrieval import SearchResult
from core.strategies import parse_spec
from core.trace import Trace
from indexer import Worker, WorkerOptions, submission_from_json

__all__ = ["find", "ingest", "keys", "reindex", "work"]

_OPTIONS = WorkerOptions(lease_seconds=60, renew_seconds=15, batch_bytes=64_000, task_seconds=60, retry_seconds=0)


async def work(container: Container, *corpus_ids: str) -> None:
    worker = Worker("test", container.indexing, _OPTIONS)
    for corpus_id in corpus_ids:
        while await worker.work(corpus_id):
            pass


async def ingest(container: Container, name: str, *documents: Mapping[str, Any], **settings: str | None) -> Corpus:
    """Returns a new corpus with the documents."""
    corpus = await corpora.create(container, name, **settings)  # type: ignore[arg-type] # passed on
    await submit(container, corpus, [submission_from_json(one) for one in documents], OnConflict.REPLACE)
    await work(container, corpus.id)
    return await container.record.corpora.get(name)


async def reindex(container: Container, name: str, **settings: str) -> Corpus:
    """Returns the corpus that has taken the place of the one with this name."""
    corpus = await container.record.corpora.get(name)
    job = await corpora.reindex(container, name, **settings)  # type: ignore[arg-type] # passed on
    [reindexing] = await container.record.reindexing.list()
    await work(container, reindexing.shadow_id, corpus.id, reindexing.shadow_id)
    assert (await container.record.jobs.get(job.id)).state == "done"
    return await container.record.corpora.get(name)


async def find(
    container: Container, *names: str, question: str, searcher: str, least: float | None = None
) -> SearchResult:
    found = [await container.record.corpora.get(name) for name in names]
    request = SearchRequest(query=question, searcher=parse_spec(searcher), min_similarity=least)
    return await search(container, found, request, Trace())


def keys(result: SearchResult) -> list[str]:
    """Returns the keys of the documents of the hits."""
    return [hit.document.key for hit in result.hits]
