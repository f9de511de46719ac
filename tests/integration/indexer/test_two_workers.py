"""Two workers on one corpus, of which one is held up at the worst moment: nothing is lost, and nothing left behind.

What one removes, the other may be bringing back: ids of chunks, entities, facts and originals are digests.
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from app.container import Container
from app.doctor.consistency import examine_views, read_record_ids, repair
from core.ids import document_id, entity_id
from core.ports.views import VectorKind
from indexer import ViewRepairer, Worker
from tests.desk import OPTIONS, Desk
from tests.integration.indexer.meetings import (
    ADA,
    AGAIN,
    NEAR,
    Held,
    corpus_of,
    is_as_if_alone,
    synonyms,
    time_passes,
    worker,
)  # fmt: skip
from tests.stores import server_stores
from tests.twins.embedder import TwinEmbedder

ALSO_ON_SERVERS = pytest.mark.parametrize(
    "desk", ["embedded", pytest.param("servers", marks=pytest.mark.servers)], indirect=True
)


@pytest.fixture
async def desk(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Desk]:
    is_embedded = getattr(request, "param", "embedded") == "embedded"
    desk = Desk(tmp_path) if is_embedded else _on_servers(request, tmp_path)
    yield desk
    for corpus in await desk.record.corpora.list():
        await desk.vectors.delete_corpus(corpus.id)
    await desk.close()


def _on_servers(request: pytest.FixtureRequest, folder: Path) -> Desk:
    neo4j, milvus = request.getfixturevalue("clean_neo4j"), request.getfixturevalue("milvus_server")
    return Desk(folder, server_stores(neo4j, milvus, folder))


@pytest.mark.parametrize("kind", [VectorKind.ENTITY, VectorKind.FACT])
async def test_a_sweep_that_comes_late_spares_what_another_document_brought_back(
    desk: Desk, tmp_path: Path, kind: VectorKind
) -> None:
    corpus = await corpus_of(desk, "lived")
    await desk.ingest(corpus, ADA)
    held = Held(desk.backends.vectors, "delete", kind=kind)
    await desk.record.submissions.delete_documents(corpus.id, [document_id("ada")])
    slow = asyncio.create_task(worker(replace(desk.backends, vectors=held)).work(corpus.id))
    await held.reached_by(slow)
    await desk.ingest(corpus, AGAIN)  # it finds the vectors there, and commits
    held.go.set()
    await slow
    await is_as_if_alone(desk, corpus, tmp_path, AGAIN)


@ALSO_ON_SERVERS
async def test_what_a_sweep_took_before_the_commit_is_written_after_it(desk: Desk, tmp_path: Path) -> None:
    corpus = await corpus_of(desk, "lived")
    await desk.ingest(corpus, ADA)
    await desk.record.submissions.delete_documents(corpus.id, [document_id("ada")])
    sweeping = Held(desk.backends.vectors, "delete", kind=VectorKind.ENTITY)
    deleting = asyncio.create_task(worker(replace(desk.backends, vectors=sweeping)).work(corpus.id))
    await sweeping.reached_by(deleting)
    await desk.queue(corpus, AGAIN)
    committing = Held(desk.backends.record.commits, "commit")
    writing = asyncio.create_task(worker(desk.with_ports(commits=committing)).work(corpus.id))
    await committing.reached_by(writing)  # its vectors were found there
    sweeping.go.set()
    await deleting
    committing.go.set()
    await writing
    await is_as_if_alone(desk, corpus, tmp_path, AGAIN)


async def test_the_same_document_comes_back_while_its_chunks_are_swept(desk: Desk, tmp_path: Path) -> None:
    corpus = await corpus_of(desk, "lived")
    await desk.ingest(corpus, ADA)
    await desk.record.submissions.delete_documents(corpus.id, [document_id("ada")])
    held = Held(desk.backends.text, "delete")
    slow = asyncio.create_task(worker(replace(desk.backends, text=held)).work(corpus.id))
    await held.reached_by(slow)
    await desk.ingest(corpus, ADA)
    held.go.set()
    await slow
    await is_as_if_alone(desk, corpus, tmp_path, ADA)


@ALSO_ON_SERVERS
@pytest.mark.parametrize("method", ["commit", "within"])
async def test_two_new_names_of_one_thing_are_joined_whoever_is_first(desk: Desk, tmp_path: Path, method: str) -> None:
    """The first looks before the second has written its name, or is found by it before it is there."""
    corpus = await corpus_of(desk, "lived")
    await desk.queue(corpus, NEAR[0])
    if method == "commit":
        held = Held(desk.backends.record.commits, "commit")
        slow = worker(desk.with_ports(commits=held))
    else:
        held = Held(desk.backends.vectors, "within", after=True)
        slow = worker(replace(desk.backends, vectors=held))
    first = asyncio.create_task(slow.work(corpus.id))
    await held.reached_by(first)
    await desk.ingest(corpus, NEAR[1])
    held.go.set()
    await first
    await is_as_if_alone(desk, corpus, tmp_path, *NEAR)
    assert await synonyms(desk, corpus)


async def test_what_a_dead_worker_left_unsettled_is_settled_by_the_next(desk: Desk, tmp_path: Path) -> None:
    corpus = await corpus_of(desk, "lived")
    await desk.queue(corpus, NEAR[0])
    committing = Held(desk.backends.record.commits, "commit")
    settling = Held(committing, "link_synonyms")
    dying = asyncio.create_task(worker(desk.with_ports(commits=settling)).work(corpus.id))
    await committing.reached_by(dying)
    await desk.ingest(corpus, NEAR[1])
    committing.go.set()
    await settling.reached_by(dying)
    assert not await synonyms(desk, corpus)
    assert corpus.id not in await desk.record.maintenance.list_corpora_with_work()
    time_passes(tmp_path)
    assert corpus.id in await desk.record.maintenance.list_corpora_with_work()
    await desk.worker.work(corpus.id)
    await is_as_if_alone(desk, corpus, tmp_path, *NEAR)
    assert await synonyms(desk, corpus)
    settling.go.set()
    await dying


async def test_a_worker_that_is_told_to_stop_looks_after_its_commit_first(desk: Desk, tmp_path: Path) -> None:
    corpus = await corpus_of(desk, "lived")
    await desk.queue(corpus, NEAR[0])
    committing = Held(desk.backends.record.commits, "commit")
    stopping = False
    slow = worker(desk.with_ports(commits=committing), is_stopping=lambda: stopping)
    first = asyncio.create_task(slow.work(corpus.id))
    await committing.reached_by(first)
    await desk.ingest(corpus, NEAR[1])
    stopping = True
    await asyncio.sleep(0.5)  # it looks a few times a second whether to stop
    committing.go.set()
    assert await first
    await is_as_if_alone(desk, corpus, tmp_path, *NEAR)


async def _mended_for_another(desk: Desk, corpus_id: str) -> tuple[asyncio.Task[bool], Held]:
    """A worker deletes the only document with a name, whose vector it takes late: another has come and is there, and a
    third with a name near it looked while the vector was missing. The worker writes it again, and comes no further.
    """
    deleting = Held(desk.backends.vectors, "delete", kind=VectorKind.ENTITY)
    deleted = Held(deleting, "delete", after=True, kind=VectorKind.ENTITY)
    settling = Held(desk.backends.record.commits, "link_synonyms")
    await desk.record.submissions.delete_documents(corpus_id, [document_id("one")])
    slow = asyncio.create_task(worker(replace(desk.with_ports(commits=settling), vectors=deleted)).work(corpus_id))
    await deleting.reached_by(slow)
    corpus = await desk.record.corpora.get_by_id(corpus_id)
    await desk.ingest(corpus, {**NEAR[0], "id": "one again"})
    deleting.go.set()
    await deleted.reached_by(slow)
    await desk.ingest(corpus, NEAR[1])
    assert not await synonyms(desk, corpus)
    deleted.go.set()
    await settling.reached_by(slow)
    return slow, settling


async def test_who_mends_a_vector_looks_for_its_synonyms(desk: Desk, tmp_path: Path) -> None:
    corpus = await corpus_of(desk, "lived")
    await desk.ingest(corpus, NEAR[0])
    slow, settling = await _mended_for_another(desk, corpus.id)
    settling.go.set()
    await slow
    await is_as_if_alone(desk, corpus, tmp_path, {**NEAR[0], "id": "one again"}, NEAR[1])
    assert await synonyms(desk, corpus)


async def test_who_goes_through_a_due_tombstone_does_if_the_mender_died(desk: Desk, tmp_path: Path) -> None:
    corpus = await corpus_of(desk, "lived")
    await desk.ingest(corpus, NEAR[0])
    slow, _ = await _mended_for_another(desk, corpus.id)
    time_passes(tmp_path)
    await desk.worker.work(corpus.id)
    await is_as_if_alone(desk, corpus, tmp_path, {**NEAR[0], "id": "one again"}, NEAR[1])
    assert await synonyms(desk, corpus)
    slow.cancel()


async def test_a_worker_with_another_model_leaves_what_is_to_be_embedded(desk: Desk, tmp_path: Path) -> None:
    corpus = await corpus_of(desk, "lived")
    await desk.ingest(corpus, ADA)
    await desk.record.submissions.delete_documents(corpus.id, [document_id("ada")])
    await desk.worker.work(corpus.id)
    await desk.ingest(corpus, AGAIN)
    names = [entity_id("ada lovelace"), entity_id("babbage")]
    await desk.vectors.delete(corpus.id, VectorKind.ENTITY, names)  # as a sweep does that came late, and died
    time_passes(tmp_path)
    await Worker("another", replace(desk.backends, embedder=TwinEmbedder(model="another")), OPTIONS).work(corpus.id)
    assert await desk.record.tombstones.list_due(corpus.id)
    await desk.worker.work(corpus.id)
    assert not await desk.record.tombstones.list_due(corpus.id)
    await is_as_if_alone(desk, corpus, tmp_path, AGAIN)


async def test_what_a_fenced_worker_wrote_goes(desk: Desk, tmp_path: Path) -> None:
    corpus = await corpus_of(desk, "lived")
    await desk.queue(corpus, ADA)
    held = Held(desk.backends.record.commits, "commit")
    slow = asyncio.create_task(worker(desk.with_ports(commits=held)).work(corpus.id))
    await held.reached_by(slow)
    new = {"id": "ada", "text": "Nothing of it.", "entities": ["Nothing"]}
    await desk.queue(corpus, new)
    held.go.set()
    await slow
    await desk.worker.work(corpus.id)  # the newer revision, until which nothing is swept of the document
    time_passes(tmp_path)
    await desk.worker.work(corpus.id)
    await is_as_if_alone(desk, corpus, tmp_path, new)


async def test_a_corpus_that_is_forgotten_while_it_is_written_leaves_nothing(desk: Desk) -> None:
    corpus = await corpus_of(desk, "lived")
    await desk.queue(corpus, ADA)
    held = Held(desk.backends.vectors, "write", kind=VectorKind.FACT)
    slow = asyncio.create_task(worker(replace(desk.backends, vectors=held)).work(corpus.id))
    await held.reached_by(slow)
    await desk.record.corpora.delete("lived")
    other = await corpus_of(desk, "other")
    await desk.worker.work(other.id)  # it forgets whatever was dropped
    assert await desk.record.maintenance.list_deleted_corpora() == []
    held.go.set()
    assert not await slow
    assert await desk.view_ids(corpus) == (set(), set(), set(), set())


async def test_a_fact_of_which_the_document_goes_is_not_mended(desk: Desk) -> None:
    corpus = await corpus_of(desk, "lived")
    await desk.ingest(corpus, ADA)
    facts = await desk.vectors.ids(corpus.id, VectorKind.FACT)
    await desk.vectors.delete(corpus.id, VectorKind.FACT, facts)
    held = Held(desk.backends.record.contents, "get_entities")
    mending = asyncio.create_task(ViewRepairer(corpus, desk.with_ports(contents=held)).write_facts(facts))
    await held.reached_by(mending)
    await desk.delete(corpus, "ada")
    held.go.set()
    assert await mending == []


async def test_repairing_spares_what_was_indexed_after_the_look(desk: Desk, tmp_path: Path) -> None:
    corpus = await corpus_of(desk, "lived")
    await desk.ingest(corpus, NEAR[0])
    parts: Any = SimpleNamespace(
        record=desk.record, vectors=desk.vectors, text=desk.text, files=desk.backends.files, indexing=desk.backends
    )
    container = cast("Container", parts)
    named = await read_record_ids(container, corpus)
    await desk.ingest(corpus, ADA)
    states = await examine_views(container, corpus, named, busy=False)
    assert any(state.orphans for state in states)
    assert [line async for line in repair(container, corpus, states)]
    await is_as_if_alone(desk, corpus, tmp_path, NEAR[0], ADA)
