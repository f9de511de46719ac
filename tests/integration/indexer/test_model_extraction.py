"""Extraction by a language model through the whole worker: what is asked, paid for, kept, and told when it fails."""

import asyncio
import itertools
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.documents import RevisionState
from core.errors import ModelUnavailable, Unavailable
from core.ids import document_id
from core.jobs import Job, JobState
from indexer import Worker, WorkerOptions
from tests.desk import DOCUMENTS, OPTIONS, CountingEmbedder, Desk
from tests.openie import chat_models, openie, passage_of
from tests.twins.chat_server import Call, ChatServer, Reply

SENTENCES = [f"Ada Lovelace met Person Number{n} in the town of Place{n}." for n in range(24)]
LONG = {"id": "long", "title": "Ada Lovelace", "chunks": [{"text": text} for text in SENTENCES]}


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer(respond=openie) as server:
        yield server


@pytest.fixture
async def desk(tmp_path: Path, server: ChatServer) -> AsyncIterator[Desk]:
    desk = Desk(tmp_path)
    async with chat_models(server, concurrency=4) as models:
        desk.backends = replace(desk.backends, models=models)
        desk.worker = Worker("w", desk.backends, OPTIONS)
        yield desk
    await desk.close()


async def _job(desk: Desk, id: str) -> Job:
    return await desk.record.jobs.get(id)


async def test_a_passage_is_one_call_and_becomes_entities_and_facts(desk: Desk, server: ChatServer) -> None:
    corpus = await desk.corpus(extractor="llm")
    job = await desk.ingest(corpus, *DOCUMENTS[:2])
    done = await _job(desk, job)
    assert (done.state, done.calls) == (JobState.DONE, 2)
    assert done.prompt_tokens > 0
    assert done.completion_tokens > 0
    assert [call.role for call in server.calls] == ["extract"] * 2
    [chunk] = await desk.record.contents.get_chunks_of(corpus.id, document_id("ada"))
    facts = await desk.record.contents.get_facts_of(corpus.id, [chunk.id])
    assert ("Ada Lovelace", "is named before", "Charles Babbage") in {(f.subject, f.predicate, f.object) for f in facts}
    _, _, entity, fact = await desk.view_ids(corpus)
    assert entity
    assert len(fact) == (await desk.record.corpora.count(corpus.id)).facts


async def test_the_model_is_told_the_schema_that_the_corpus_has_now(desk: Desk, server: ChatServer) -> None:
    corpus = await desk.corpus(extractor="llm")
    await desk.ingest(corpus, LONG)
    plain = len(server.calls)
    await desk.record.graph_schemas.set(corpus.id, '[relations.met]\nsynonyms = ["is named before"]')
    job = await desk.ingest(corpus, {**LONG, "title": "Ada King"})
    told = ["- met (any -> any)" in call.messages[0]["content"] for call in server.calls]
    assert told == [False] * plain + [True] * len(SENTENCES)
    fits = (await _job(desk, job)).fits
    assert fits is not None
    assert fits.within == (await desk.record.corpora.count(corpus.id)).facts
    before = len(server.calls)
    await desk.record.graph_schemas.set(corpus.id, "[relations.met]\nfrom = ['person']")
    await desk.ingest(corpus, {**LONG, "title": "Ada King"})
    assert len(server.calls) == before, "what is indexed is not asked again"


async def test_extractors_combine(desk: Desk, server: ChatServer) -> None:
    corpus = await desk.corpus(extractor="pattern+given+llm")
    server.respond = lambda _: Reply.json({"entities": ["first program"], "triples": [["only", "two"]]})
    document = {**DOCUMENTS[0], "triples": [["Ada Lovelace", "knew", "Charles Babbage"]]}
    job = await desk.ingest(corpus, document)
    _, rows = await desk.record.graph.graph(corpus.id)
    assert {"first program", "ada lovelace", "charles babbage"} <= set(rows.names)
    assert len(rows.facts) == 1
    assert (await _job(desk, job)).malformed_triples == 1


async def test_many_small_documents_keep_the_model_busy(desk: Desk, server: ChatServer) -> None:
    """No answer comes before four calls are in flight, over several batches of one-passage documents."""
    corpus = await desk.corpus(extractor="llm")
    documents = [{"id": f"d{n}", "title": f"Person {n}", "text": SENTENCES[n] * 8} for n in range(24)]
    left = len(documents)

    def in_fours(call: Call) -> Reply:
        return replace(openie(call), until=lambda: server.in_flight >= 4 or len(server.calls) == left)

    server.respond = in_fours
    job = await desk.ingest(corpus, *documents)
    assert (await _job(desk, job)).state is JobState.DONE
    assert server.most_in_flight == 4


async def test_what_is_paid_for_is_kept_when_the_worker_is_stopped(desk: Desk, server: ChatServer) -> None:
    corpus = await desk.corpus(extractor="llm")
    job = await desk.queue(corpus, LONG)
    server.respond = lambda call: openie(call) if call.number < 12 else Reply(stall=True)

    asked_while_it_waits = itertools.count()

    def is_stopping() -> bool:
        """Sixteen calls, of which four wait, are twelve that have ended; their worker notes them before it is asked for
        the fifth time.
        """
        return len(server.calls) >= 16 and next(asked_while_it_waits) >= 5

    worker = Worker("w", desk.backends, OPTIONS, is_stopping=is_stopping)
    assert await worker.work(corpus.id), "it is not finished"
    stopped = await _job(desk, job)
    assert (stopped.counts, stopped.calls >= 12) == ({"queued": 1}, True)
    paid = {passage_of(call) for call in server.calls[:12]}
    server.respond = openie
    before = len(server.calls)
    assert not await desk.worker.work(corpus.id)
    again = {passage_of(call) for call in server.calls[before:]}
    assert again == set(SENTENCES) - paid


async def test_a_failed_chunk_is_asked_again_after_the_others(desk: Desk, server: ChatServer) -> None:
    asked: Counter[str] = Counter()

    def flaky(call: Call) -> Reply:
        text = passage_of(call)
        asked[text] += 1
        # structured answers are repaired once, so two malformed ones are one failed attempt
        return Reply(text="I cannot.") if text == SENTENCES[3] and asked[text] <= 2 else openie(call)

    server.respond = flaky
    corpus = await desk.corpus(extractor="llm")
    job = await desk.ingest(corpus, LONG)
    assert (await _job(desk, job)).state is JobState.DONE
    assert passage_of(server.calls[-1]) == SENTENCES[3]
    assert asked == Counter({text: 3 if text == SENTENCES[3] else 1 for text in SENTENCES})


async def test_a_chunk_that_keeps_failing_is_named_and_only_it_is_paid_for_again(
    desk: Desk, server: ChatServer
) -> None:
    bad = {SENTENCES[3], SENTENCES[7]}
    server.respond = lambda call: Reply(text="I cannot.") if passage_of(call) in bad else openie(call)
    corpus = await desk.corpus(extractor="llm")
    job = await desk.ingest(corpus, LONG, DOCUMENTS[0])
    failed = await _job(desk, job)
    assert failed.counts == {"failed": 1, "indexed": 1}
    [(key, reason)] = failed.failures
    assert key == "long"
    assert "2 of 24 passages" in reason
    assert "position 3, 7" in reason
    assert "'extract'" in reason
    assert "hopweave documents retry" in reason
    before = len(server.calls)
    assert before == 1 + 22 + 2 * 3 * 2
    server.respond = openie
    await desk.record.submissions.retry(corpus.id, document_id("long"))
    await desk.worker.work(corpus.id)
    assert (await desk.record.documents.get(corpus.id, document_id("long"))).state is RevisionState.INDEXED
    assert {passage_of(call) for call in server.calls[before:]} == bad


async def test_a_passage_too_long_for_the_model_is_named_and_not_asked_again(desk: Desk, server: ChatServer) -> None:
    server.respond = lambda call: (
        Reply(status=400, text="maximum context length is 10 tokens", code="context_length_exceeded")
        if passage_of(call) == SENTENCES[0]
        else openie(call)
    )
    corpus = await desk.corpus(extractor="llm")
    job = await desk.ingest(corpus, LONG)
    [(_, reason)] = (await _job(desk, job)).failures
    assert "1 of 24 passages" in reason
    assert "position 0" in reason
    assert [passage_of(call) for call in server.calls].count(SENTENCES[0]) == 1


async def test_nothing_found_in_real_text_is_a_failure_that_says_so(desk: Desk, server: ChatServer) -> None:
    server.respond = lambda _: Reply.json({"entities": [], "triples": []})
    corpus = await desk.corpus(extractor="llm")
    job = await desk.ingest(corpus, LONG, {"id": "short", "title": "Short", "text": "nothing here"})
    failed = await _job(desk, job)
    assert failed.counts == {"failed": 1, "indexed": 1}
    [(key, reason)] = failed.failures
    assert key == "long"
    assert "no entity in any of its 24 passages" in reason
    assert "HOPWEAVE_LLM__ROLES__EXTRACT__MODEL" in reason


async def test_an_endpoint_that_is_down_is_no_documents_failure(desk: Desk, server: ChatServer) -> None:
    server.respond = lambda call: openie(call) if call.number < 6 else Reply(status=503, text="away")
    corpus = await desk.corpus(extractor="llm")
    job = await desk.queue(corpus, LONG)
    with pytest.raises(ModelUnavailable):
        await desk.worker.work(corpus.id)
    assert (await _job(desk, job)).counts == {"queued": 1}
    paid = {passage_of(call) for call in server.calls[:6]}
    server.respond = openie
    before = len(server.calls)
    await desk.worker.work(corpus.id)
    assert (await _job(desk, job)).state is JobState.DONE
    assert {passage_of(call) for call in server.calls[before:]} == set(SENTENCES) - paid


async def test_without_a_model_documents_fail_with_the_remedy(desk: Desk) -> None:
    corpus = await desk.corpus(extractor="llm")
    job = await desk.queue(corpus, DOCUMENTS[0])
    await Worker("w", replace(desk.backends, models=None), OPTIONS).work(corpus.id)
    [(_, reason)] = (await _job(desk, job)).failures
    assert "HOPWEAVE_LLM__MODEL" in reason
    await desk.record.submissions.retry(corpus.id, document_id("ada"))
    await desk.worker.work(corpus.id)
    assert (await desk.record.documents.get(corpus.id, document_id("ada"))).state is RevisionState.INDEXED


async def test_a_used_up_budget_pauses_and_resuming_pays_only_for_the_rest(desk: Desk, server: ChatServer) -> None:
    corpus = await desk.corpus(extractor="llm")
    await desk.ingest(corpus, {**LONG, "id": "probe", "chunks": LONG["chunks"][:1]})
    [probe] = await desk.record.jobs.list()
    budget, before = 6 * probe.tokens, len(server.calls)
    job = await desk.queue(corpus, LONG, DOCUMENTS[1], tokens=budget)
    assert not await desk.worker.work(corpus.id)
    paused = await _job(desk, job)
    assert paused.state is JobState.PAUSED
    assert paused.counts["paused"] >= 1
    calls = len(server.calls) - before
    assert budget <= paused.tokens <= budget + 4 * 2 * probe.tokens, "no more than what was in flight"
    assert paused.calls == calls
    document = await desk.record.documents.get(corpus.id, document_id("long"))
    assert document.reason is not None
    assert str(budget) in document.reason
    await desk.record.jobs.resume(job, tokens=10**6)
    await desk.worker.work(corpus.id)
    done = await _job(desk, job)
    assert (done.state, done.counts) == (JobState.DONE, {"indexed": 2})
    assert done.calls == len(SENTENCES) + 1
    counts = Counter(passage_of(call) for call in server.calls[before:])
    assert set(counts.values()) == {1}


async def test_a_model_that_refuses_every_call_pauses_the_job_and_nothing_has_failed(
    desk: Desk, server: ChatServer
) -> None:
    corpus = await desk.corpus(extractor="llm")
    server.api_key = "another"
    job = await desk.ingest(corpus, *DOCUMENTS, LONG)
    paused = await _job(desk, job)
    assert (paused.state, paused.counts) == (JobState.PAUSED, {"paused": len(DOCUMENTS) + 1})
    page = await desk.record.documents.list(corpus.id, limit=1, state=RevisionState.PAUSED)
    assert "HOPWEAVE_LLM__API_KEY" in (page.data[0].reason or "")
    assert len(server.calls) <= len(DOCUMENTS) + len(SENTENCES)  # none was asked again
    server.api_key = ""
    await desk.record.jobs.resume(job)
    await desk.worker.work(corpus.id)
    assert (await _job(desk, job)).state is JobState.DONE


async def test_cancelling_a_job_stops_paying_for_it(desk: Desk, server: ChatServer) -> None:
    corpus = await desk.corpus(extractor="llm")
    job = await desk.queue(corpus, LONG)
    server.respond = lambda call: openie(call) if call.number < 4 else Reply(stall=True)
    options = WorkerOptions(lease_seconds=60, renew_seconds=0.05, batch_bytes=2_000, task_seconds=60, retry_seconds=0)
    working = asyncio.create_task(Worker("w", desk.backends, options).work(corpus.id))
    await server.until(lambda: len(server.calls) == 8)
    await desk.record.jobs.cancel(job)
    await working
    assert len(server.calls) == 8
    await server.until(lambda: len(server.hung_up) == 4)  # also those in flight end
    assert (await _job(desk, job)).state is JobState.CANCELLED


async def test_extraction_goes_on_while_embedding_does(desk: Desk, server: ChatServer) -> None:
    """The embedder waits for calls that begin after it began, and would wait for ever if they waited for it."""
    corpus = await desk.corpus(extractor="llm")
    documents = [{"id": f"d{n}", "title": f"Person {n}", "text": SENTENCES[n] * 20} for n in range(24)]

    class Waiting(CountingEmbedder):
        first = True

        async def embed_passages(self, texts: Any) -> Any:
            if self.first:
                self.first = False
                began = len(server.calls)
                await server.until(lambda: len(server.calls) >= min(began + 3, len(documents)))
            return await super().embed_passages(texts)

    server.respond = lambda call: replace(openie(call), delay=0.01)
    job = await desk.queue(corpus, *documents)
    await Worker("w", replace(desk.backends, embedder=Waiting()), OPTIONS).work(corpus.id)
    assert (await _job(desk, job)).state is JobState.DONE


async def test_an_unchanged_document_costs_nothing(desk: Desk, server: ChatServer) -> None:
    corpus = await desk.corpus(extractor="llm")
    await desk.ingest(corpus, LONG)
    before = len(server.calls)
    changed = {**LONG, "chunks": [*LONG["chunks"], {"text": "Ada Lovelace died in London."}]}
    await desk.ingest(corpus, changed)
    assert [passage_of(call) for call in server.calls[before:]] == ["Ada Lovelace died in London."]
    await desk.ingest(corpus, changed)
    assert len(server.calls) == before + 1


async def test_an_embedding_model_that_cannot_be_loaded_is_found_out_before_anything_is_paid(
    desk: Desk, server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(text: str) -> None:
        raise Unavailable(f"no embedding of {text!r}")

    monkeypatch.setattr(desk.embedder, "embed_query", away)
    corpus = await desk.corpus(extractor="llm")
    job = await desk.queue(corpus, LONG)
    with pytest.raises(Unavailable, match="no embedding"):
        await Worker("w", desk.backends, replace(OPTIONS, retry_seconds=0)).work(corpus.id)
    assert server.calls == []
    assert (await _job(desk, job)).counts == {"queued": 1}
