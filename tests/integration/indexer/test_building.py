"""A corpus is indexed anew beside the one that readers use, and takes its name when it is whole."""

from dataclasses import replace

import pytest

from core.corpora import Corpus, CorpusSettings, Fine
from core.errors import Unavailable
from core.ids import content_hash, document_id
from core.jobs import JobState
from core.ports.record import Reindex
from indexer import submission_from_json
from tests.desk import DOCUMENTS, Desk


def _anew(corpus: Corpus) -> CorpusSettings:
    return replace(corpus.settings, chunker="passage", fine=Fine.ON)


async def _work_off(desk: Desk, built: Reindex) -> None:
    """As the doorbell would have it: the corpora that wait, until none does."""
    for _ in range(10):
        for corpus_id in await desk.record.maintenance.list_corpora_with_work():
            await desk.worker.work(corpus_id)
    assert (await desk.record.jobs.get(built.job_id)).state.final


async def test_it_is_as_if_it_had_been_indexed_so_from_the_first(desk: Desk) -> None:
    fresh = await desk.record.corpora.create("fresh", _anew(await desk.corpus("model")))
    await desk.ingest(fresh, *DOCUMENTS[1:])
    corpus = await desk.corpus()
    await desk.ingest(corpus, *DOCUMENTS)
    built = await desk.record.reindexing.start(corpus.id, _anew(corpus))
    before = await desk.export(corpus)
    await desk.worker.work(built.shadow_id)
    assert (await desk.record.corpora.get("people")).id == corpus.id, "readers keep the old one until then"
    assert await desk.export(corpus) == before
    await desk.delete(corpus, DOCUMENTS[0]["id"])
    await _work_off(desk, built)
    now = await desk.record.corpora.get("people")
    assert now.id == built.shadow_id
    assert (await desk.record.jobs.get(built.job_id)).state is JobState.DONE
    assert await desk.export(now) == await desk.export(fresh)
    assert await desk.view_ids(now) == await desk.view_ids(fresh)
    assert await desk.view_ids(corpus) == (set(), set(), set(), set()), "nothing is left of the old one"
    assert await desk.backends.files.names(corpus.id) == []
    assert await desk.backends.files.names(now.id) == await desk.backends.files.names(fresh.id)


async def test_a_document_that_cannot_be_indexed_anew_keeps_the_old_corpus(desk: Desk) -> None:
    corpus = await desk.corpus()
    await desk.ingest(corpus, *DOCUMENTS)
    lost = submission_from_json({"key": "ada", **{k: v for k, v in DOCUMENTS[0].items() if k != "id"}})
    await desk.backends.files.delete(corpus.id, [content_hash(lost.content)])
    built = await desk.record.reindexing.start(corpus.id, _anew(corpus))
    await _work_off(desk, built)
    job = await desk.record.jobs.get(built.job_id)
    assert job.state is JobState.FAILED
    assert [key for key, _ in job.failures] == ["ada"]
    assert (await desk.record.corpora.get("people")).id == corpus.id
    assert (await desk.record.documents.get(corpus.id, document_id("ada"))).readable
    assert await desk.record.reindexing.list() == []
    assert await desk.backends.files.names(built.shadow_id) == []


async def test_a_cancelled_one_is_discarded(desk: Desk) -> None:
    corpus = await desk.corpus()
    await desk.ingest(corpus, *DOCUMENTS)
    built = await desk.record.reindexing.start(corpus.id, _anew(corpus))
    await desk.worker.work(built.shadow_id)
    await desk.record.jobs.cancel(built.job_id)
    await _work_off(desk, built)
    assert (await desk.record.jobs.get(built.job_id)).state is JobState.CANCELLED
    assert await desk.record.reindexing.list() == []
    assert (await desk.record.corpora.get("people")).id == corpus.id


async def test_a_store_that_is_away_hands_it_to_a_later_round(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = await desk.corpus()
    await desk.ingest(corpus, *DOCUMENTS)
    built = await desk.record.reindexing.start(corpus.id, _anew(corpus))

    async def away(*_: str) -> bytes:
        raise Unavailable("the bucket is away")

    with monkeypatch.context() as patch:
        patch.setattr(desk.backends.files, "get", away)
        with pytest.raises(Unavailable):
            await desk.worker.work(built.shadow_id)
    await _work_off(desk, built)
    assert (await desk.record.corpora.get("people")).id == built.shadow_id
