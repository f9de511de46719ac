"""A worker's shift over the real embedded stores: what it leaves is as if only the survivors had ever been there."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.corpora import CorpusSettings, Fine
from core.documents import OnConflict, RevisionState
from core.errors import Unavailable
from core.ids import document_id
from core.jobs import JobState
from core.ports.record import NewRevision
from core.ports.views import TextEntry, VectorKind
from core.text.query import any_of
from indexer import Worker
from stores.tantivy import TantivyTextIndex
from testing.graph_rows import told
from tests.desk import DOCUMENTS, OPTIONS, CountingEmbedder, Desk


async def test_documents_become_chunks_vectors_text_and_graph(desk: Desk) -> None:
    corpus = await desk.corpus()
    job = await desk.ingest(corpus, *DOCUMENTS)
    done = await desk.record.jobs.get(job)
    assert (done.state, done.counts) == (JobState.DONE, {"indexed": len(DOCUMENTS)})
    counts = await desk.record.corpora.count(corpus.id)
    text, chunk, entity, fact = await desk.view_ids(corpus)
    assert (len(text), text, entity, fact) == (counts.chunks, chunk, set(), set())
    [hit] = await desk.text.search(corpus.id, any_of(("Analytical",)), 5)
    [found] = (await desk.record.contents.get_chunks_by_view(corpus.id, [hit.id])).values()
    assert found.document_id == document_id("babbage")


@pytest.mark.parametrize("fine", [Fine.OFF, Fine.ON])
async def test_history_leaves_no_trace(desk: Desk, fine: Fine) -> None:
    clean = await desk.corpus("clean", fine=fine)
    await desk.ingest(clean, *DOCUMENTS[:3])
    lived = await desk.corpus("lived", fine=fine)
    await desk.ingest(lived, *DOCUMENTS[::-1])
    changed = {**DOCUMENTS[0], "text": "Ada Byron was born in Marylebone. She knew Charles Babbage."}
    await desk.ingest(lived, changed)
    await desk.delete(lived, "soren", "moskva")
    await desk.ingest(lived, {**DOCUMENTS[1], "title": "Babbage"})
    await desk.ingest(lived, DOCUMENTS[0], DOCUMENTS[1])
    assert await desk.export(lived) == await desk.export(clean)
    assert await desk.view_ids(lived) == await desk.view_ids(clean)
    assert await desk.backends.files.names(lived.id) == await desk.backends.files.names(clean.id)
    histories = [told((await desk.record.graph.graph(one.id))[1]).synonyms for one in (lived, clean)]
    assert [pair[:2] for pair in histories[0]] == [pair[:2] for pair in histories[1]]


async def test_the_fine_store_holds_entities_facts_and_synonyms(desk: Desk) -> None:
    corpus = await desk.corpus(extractor="pattern+given")
    triples = [["Ada Lovelace", "knew", "Charles Babbage"], ["Ada  lovelace", "knew", "Charles Babbage"], ["broken"]]
    document = {**DOCUMENTS[0], "triples": triples, "entities": ["Charles-Babbage"]}
    job = await desk.ingest(corpus, document)
    counts = await desk.record.corpora.count(corpus.id)
    _, _, entity, fact = await desk.view_ids(corpus)
    assert (counts.facts, len(fact), len(entity)) == (1, 1, counts.entities)
    assert (await desk.record.jobs.get(job)).malformed_triples == 1
    _, rows = await desk.record.graph.graph(corpus.id)
    names = dict(told(rows).entities)
    synonyms = [{names[a], names[b]} for a, b, _ in told(rows).synonyms]
    assert synonyms == [{"charles babbage", "charles-babbage"}]


async def test_only_what_changed_is_embedded_again(desk: Desk) -> None:
    corpus = await desk.corpus()
    long = " ".join(f"Sentence number {n} tells about the river Thames and the city of London." for n in range(60))
    await desk.ingest(corpus, {"id": "long", "title": "London", "text": long})
    whole, desk.embedder.embedded = desk.embedder.embedded, 0
    await desk.ingest(corpus, {"id": "long", "title": "London", "text": long + " One more sentence about Paris."})
    assert whole > 3
    assert 0 < desk.embedder.embedded <= 2
    desk.embedder.embedded = 0
    await desk.ingest(corpus, {"id": "long", "title": "London", "text": long, "metadata": {"year": 1900}})
    assert desk.embedder.embedded <= 2
    desk.embedder.embedded = 0
    await desk.ingest(corpus, {"id": "long", "title": "London", "text": long, "metadata": {"year": 1901}})
    assert desk.embedder.embedded == 0, "metadata is not embedded"


async def test_a_document_that_cannot_be_read_fails_alone(desk: Desk) -> None:
    corpus = await desk.corpus()
    job = await desk.queue(corpus, DOCUMENTS[0])
    [stored] = await desk.backends.files.put(corpus.id, [b"\xff\xfe\xff"])
    bad = NewRevision(
        key="bad.txt", media_type="text/plain", content_hash=stored, size=3, fingerprint="bad", title=None, metadata={}
    )
    unknown = replace(bad, key="x.exe", media_type="application/x-msdownload")
    gone = replace(bad, key="gone.txt", content_hash="0" * 64)
    enqueued = await desk.record.submissions.enqueue(corpus.id, [bad, unknown, gone], OnConflict.REPLACE)
    await desk.worker.work(corpus.id)
    assert (await desk.record.jobs.get(job)).state is JobState.DONE
    failed = await desk.record.jobs.get(enqueued.job.id)
    assert failed.counts == {"failed": 3}
    reasons = dict(failed.failures)
    assert "application/x-msdownload" in reasons["x.exe"]
    assert "hand the document in again" in reasons["gone.txt"]
    assert len(reasons["bad.txt"]) > 20


async def test_another_embedding_model_is_refused(desk: Desk) -> None:
    settings = CorpusSettings(
        chunker="passage", extractor="pattern", fine=Fine.AUTO, embedding_model="another", dimension=3
    )
    corpus = await desk.record.corpora.create("other", settings)
    job = await desk.ingest(corpus, DOCUMENTS[0])
    [(_, reason)] = (await desk.record.jobs.get(job)).failures
    assert "'another'" in reason
    assert await desk.vectors.count(corpus.id, VectorKind.CHUNK) == 0


async def test_a_dropped_corpus_leaves_nothing(desk: Desk) -> None:
    corpus = await desk.corpus(fine=Fine.ON)
    await desk.ingest(corpus, *DOCUMENTS)
    job = await desk.record.corpora.delete("people")
    await desk.worker.work(corpus.id)
    assert await desk.view_ids(corpus) == (set(), set(), set(), set())
    assert await desk.backends.files.names(corpus.id) == []
    assert (await desk.record.jobs.get(job.id)).state is JobState.DONE


async def test_an_unavailable_store_is_no_documents_failure(desk: Desk) -> None:
    class Down(TantivyTextIndex):
        async def write(self, corpus_id: str, entries: Sequence[TextEntry]) -> None:
            raise Unavailable("the text index is away")

    corpus = await desk.corpus()
    job = await desk.queue(corpus, *DOCUMENTS)
    worker = Worker("w", replace(desk.backends, text=Down(Path("unused"))), OPTIONS)
    with pytest.raises(Unavailable):
        await worker.work(corpus.id)
    assert (await desk.record.jobs.get(job)).counts == {"queued": len(DOCUMENTS)}
    await desk.worker.work(corpus.id)
    assert (await desk.record.jobs.get(job)).state is JobState.DONE


async def test_a_fault_of_ours_ends_after_some_attempts(desk: Desk) -> None:
    class Faulty(CountingEmbedder):
        async def embed_passages(self, texts: Sequence[str]) -> Any:
            raise ZeroDivisionError

    corpus = await desk.corpus()
    job = await desk.queue(corpus, DOCUMENTS[0])
    worker = Worker("w", replace(desk.backends, embedder=Faulty()), OPTIONS)
    for _ in range(8):
        with pytest.raises(ZeroDivisionError):
            await worker.work(corpus.id)
        await asyncio.sleep(0.01)
    await worker.work(corpus.id)
    assert (await desk.record.jobs.get(job)).state is JobState.FAILED


async def test_leases_are_renewed_while_embedding_takes_long(desk: Desk) -> None:
    class Slow(CountingEmbedder):
        async def embed_passages(self, texts: Sequence[str]) -> Any:
            await asyncio.sleep(0.6)
            return await super().embed_passages(texts)

    corpus = await desk.corpus()
    await desk.queue(corpus, DOCUMENTS[0])
    options = replace(OPTIONS, lease_seconds=0.2, renew_seconds=0.05)
    worker = Worker("w", replace(desk.backends, embedder=Slow()), options)
    await worker.work(corpus.id)
    document = await desk.record.documents.get(corpus.id, document_id("ada"))
    assert document.state is RevisionState.INDEXED


async def test_a_stopping_worker_hands_back_at_once(desk: Desk) -> None:
    class Endless(CountingEmbedder):
        async def embed_passages(self, texts: Sequence[str]) -> Any:
            await asyncio.sleep(3600)

    corpus = await desk.corpus()
    job = await desk.queue(corpus, *DOCUMENTS)
    worker = Worker("w", replace(desk.backends, embedder=Endless()), OPTIONS, is_stopping=lambda: True)
    assert await worker.work(corpus.id)
    assert (await desk.record.jobs.get(job)).counts == {"queued": len(DOCUMENTS)}
    assert len(await desk.record.claims.claim(corpus.id, "next", lease_seconds=60, max_bytes=10**6)) == len(DOCUMENTS)
