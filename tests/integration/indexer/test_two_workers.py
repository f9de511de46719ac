"""Two workers on one corpus, of which one is held up at the worst moment: nothing is lost, and nothing left behind.

What one removes, the other may be bringing back: ids of chunks, entities, facts and originals are digests.
"""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from core.corpora import Corpus, Fine
from core.documents import OnConflict
from core.ids import content_hash, document_id
from core.ports.record import NewRevision
from core.ports.views import VectorKind
from indexer import Backends, Pace, Worker
from tests.desk import PACE, Desk
from tests.graph_rows import told
from tests.stores import server_stores

ADA = {"id": "ada", "text": "Ada Lovelace knew Charles Babbage.", "triples": [["Ada Lovelace", "knew", "Babbage"]]}
AGAIN = {**ADA, "id": "again"}
NEAR = [
    {"id": "one", "text": "Charles-Babbage designed engines.", "entities": ["Charles-Babbage"]},
    {"id": "two", "text": "Charles Babbage designed engines.", "entities": ["Charles Babbage"]},
]


class _Brief(Pace):
    """What a worker leaves is taken up soon after it dies, though its lease is long enough for it to be held up."""

    @property
    def grace(self) -> float:
        return 0.1


_BRIEF = _Brief(**asdict(PACE))


class Held:
    """A port of which one method waits, before or after it does its work, until it is let go."""

    def __init__(self, port: Any, method: str, *, after: bool = False, kind: VectorKind | None = None) -> None:
        self._port = port
        self._method = method
        self._after = after
        self._kind = kind
        self._reached = asyncio.Event()
        self.go = asyncio.Event()

    async def reached_by(self, worker: asyncio.Task[Any]) -> None:
        """Until the worker waits here; where it ends instead, what ended it is raised."""
        reached = asyncio.create_task(self._reached.wait())
        await asyncio.wait({reached, worker}, return_when=asyncio.FIRST_COMPLETED)
        assert reached.done(), f"the worker has ended before: {worker.result()}"

    def __getattr__(self, name: str) -> Any:
        real = getattr(self._port, name)
        return self._waiting(real) if name == self._method else real

    def _waiting(self, real: Any) -> Any:
        async def held(*args: Any, **named: Any) -> Any:
            is_meant = self._kind is None or self._kind in args
            if is_meant and not self._after:
                await self._wait()
            answer = await real(*args, **named)
            if is_meant and self._after:
                await self._wait()
            return answer

        return held

    async def _wait(self) -> None:
        self._reached.set()
        await self.go.wait()


ALSO_ON_SERVERS = pytest.mark.parametrize(
    "desk", ["embedded", pytest.param("servers", marks=pytest.mark.servers)], indirect=True
)


@pytest.fixture
async def desk(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Desk]:
    is_embedded = getattr(request, "param", "embedded") == "embedded"
    desk = Desk(tmp_path) if is_embedded else _on_servers(request, tmp_path)
    yield desk
    for corpus in await desk.record.corpora.all():
        await desk.vectors.drop(corpus.id)
    await desk.close()


def _on_servers(request: pytest.FixtureRequest, folder: Path) -> Desk:
    neo4j, milvus = request.getfixturevalue("clean_neo4j"), request.getfixturevalue("milvus_server")
    return Desk(folder, server_stores(neo4j, milvus, folder))


async def corpus_of(desk: Desk, name: str) -> Corpus:
    return await desk.corpus(name, extractor="given", fine=Fine.ON)


def worker(backends: Backends) -> Worker:
    return Worker("other", backends, PACE)


async def synonyms(desk: Desk, corpus: Corpus) -> list[tuple[str, str]]:
    _, rows = await desk.record.graph.graph(corpus.id)
    return [pair[:2] for pair in told(rows).synonyms]


async def until_there_is_work(desk: Desk, corpus: Corpus) -> None:
    while corpus.id not in await desk.record.work.waiting():  # noqa: ASYNC110 - the store's clock tells, no event
        await asyncio.sleep(0.05)


async def is_as_if_alone(desk: Desk, lived: Corpus, folder: Path, *documents: dict[str, Any]) -> None:
    alone = Desk(folder / "alone")
    clean = await corpus_of(alone, "clean")
    await alone.ingest(clean, *documents)
    assert await desk.export(lived) == await alone.export(clean)
    assert await desk.view_ids(lived) == await alone.view_ids(clean)
    assert await desk.backends.files.names(lived.id) == await alone.backends.files.names(clean.id)
    assert await synonyms(desk, lived) == await synonyms(alone, clean)
    await alone.close()


@pytest.mark.parametrize("kind", [VectorKind.ENTITY, VectorKind.FACT])
async def test_a_sweep_that_comes_late_spares_what_another_document_brought_back(
    desk: Desk, tmp_path: Path, kind: VectorKind
) -> None:
    corpus = await corpus_of(desk, "lived")
    await desk.ingest(corpus, ADA)
    held = Held(desk.backends.vectors, "delete", kind=kind)
    await desk.record.intake.delete_documents(corpus.id, [document_id("ada")])
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
    await desk.record.intake.delete_documents(corpus.id, [document_id("ada")])
    [deletion] = await desk.record.work.claim(corpus.id, "slow", lease_seconds=60, max_bytes=10**6)
    await desk.record.work.release([deletion])
    sweeping = Held(desk.backends.vectors, "delete", kind=VectorKind.ENTITY)
    deleting = asyncio.create_task(worker(replace(desk.backends, vectors=sweeping)).work(corpus.id))
    await sweeping.reached_by(deleting)
    await desk.queue(corpus, AGAIN)
    committing = Held(desk.backends.work, "commit")
    writing = asyncio.create_task(worker(replace(desk.backends, work=committing)).work(corpus.id))
    await committing.reached_by(writing)  # its vectors were found there
    sweeping.go.set()
    await deleting
    committing.go.set()
    await writing
    await is_as_if_alone(desk, corpus, tmp_path, AGAIN)


async def test_the_same_document_comes_back_while_its_chunks_are_swept(desk: Desk, tmp_path: Path) -> None:
    corpus = await corpus_of(desk, "lived")
    await desk.ingest(corpus, ADA)
    await desk.record.intake.delete_documents(corpus.id, [document_id("ada")])
    held = Held(desk.backends.text, "delete")
    slow = asyncio.create_task(worker(replace(desk.backends, text=held)).work(corpus.id))
    await held.reached_by(slow)
    await desk.ingest(corpus, ADA)
    held.go.set()
    await slow
    await is_as_if_alone(desk, corpus, tmp_path, ADA)


async def test_originals_that_are_handed_in_while_they_are_swept_stay(desk: Desk) -> None:
    corpus = await corpus_of(desk, "lived")
    await desk.ingest(corpus, ADA)
    [name] = await desk.backends.files.names(corpus.id)
    content = await desk.backends.files.get(corpus.id, name)
    await desk.record.intake.delete_documents(corpus.id, [document_id("ada")])
    held = Held(desk.backends.files, "delete")
    slow = asyncio.create_task(worker(replace(desk.backends, files=held)).work(corpus.id))
    await held.reached_by(slow)
    await desk.backends.files.put(corpus.id, [content])
    again = NewRevision(
        key="again",
        media_type="application/json",
        content_hash=content_hash(content),
        size=len(content),
        fingerprint="again",
        title=None,
        metadata={},
    )
    await desk.record.intake.enqueue(corpus.id, [again], OnConflict.REPLACE)
    await desk.backends.files.put(corpus.id, [content])
    held.go.set()
    await slow
    assert await desk.backends.files.get(corpus.id, name) == content


@ALSO_ON_SERVERS
@pytest.mark.parametrize("method", ["commit", "within"])
async def test_two_new_names_of_one_thing_are_joined_whoever_is_first(desk: Desk, tmp_path: Path, method: str) -> None:
    """The first looks before the second has written its name, or is found by it before it is there."""
    corpus = await corpus_of(desk, "lived")
    await desk.queue(corpus, NEAR[0])
    if method == "commit":
        held = Held(desk.backends.work, "commit")
        slow = worker(replace(desk.backends, work=held))
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
    committing = Held(desk.backends.work, "commit")
    settling = Held(committing, "settle")
    dying = asyncio.create_task(Worker("dying", replace(desk.backends, work=settling), _BRIEF).work(corpus.id))
    await committing.reached_by(dying)
    await desk.ingest(corpus, NEAR[1])
    committing.go.set()
    await settling.reached_by(dying)
    dying.cancel()
    await asyncio.wait([dying])
    assert not await synonyms(desk, corpus)
    await until_there_is_work(desk, corpus)
    await desk.worker.work(corpus.id)
    await is_as_if_alone(desk, corpus, tmp_path, *NEAR)
