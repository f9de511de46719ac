"""Documents and corpora take turns: by the order of commits, and when workers stop, fail or die in between."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.corpora import Corpus
from core.errors import HopweaveError, Unavailable
from core.ids import document_id
from core.jobs import JobState
from core.ports.record import Commit, Outcome
from indexer import Worker
from tests.desk import OPTIONS, Desk

SMALL = 2_000
FAIR = replace(OPTIONS, small_bytes=SMALL, turn_seconds=0.0)


def text_of(key: str, passages: int) -> dict[str, Any]:
    return {"id": key, "chunks": [{"text": f"Part {n} of {key} is about the number {n}."} for n in range(passages)]}


LARGE, LARGER, HUGE = text_of("large", 40), text_of("larger", 60), text_of("huge", 700)
SMALL_ONES = [text_of(f"small-{n}", 2) for n in range(4)]


class Gate:
    """The vectors of a store, where the second part of the document `key` waits until the gate is open."""

    def __init__(self, vectors: Any, key: str) -> None:
        self._vectors = vectors
        self._id = document_id(key)
        self._parts = 0
        self.reached, self.open = asyncio.Event(), asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._vectors, name)

    async def write(self, corpus_id: str, kind: Any, batch: Any) -> None:
        if self._id in batch.documents:
            self._parts += 1
            if self._parts > 1:
                self.reached.set()
                await self.open.wait()
        await self._vectors.write(corpus_id, kind, batch)


class Mortal:
    """The claims of a record, for a worker that claims nothing more once it is dead."""

    def __init__(self, claims: Any) -> None:
        self._claims = claims
        self.is_dead = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._claims, name)

    async def claim(self, *args: Any, **named: Any) -> Any:
        return [] if self.is_dead else await self._claims.claim(*args, **named)


class CommitLog:
    """The commits of a record, with the keys in their order. `on_commit` is awaited after each."""

    def __init__(self, commits: Any) -> None:
        self._commits = commits
        self.keys: list[str] = []
        self.on_commit: Callable[[Sequence[str]], Any] | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._commits, name)

    async def commit(self, commits: Sequence[Commit], *args: Any, **named: Any) -> Outcome:
        outcome: Outcome = await self._commits.commit(commits, *args, **named)
        fenced = {claim.token for claim in outcome.fenced}
        keys = [one.claim.key for one in commits if one.claim.token not in fenced]
        self.keys += keys
        if self.on_commit is not None:
            await self.on_commit(keys)
        return outcome


@pytest.fixture
async def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Desk]:
    monkeypatch.setattr("indexer.views.writing._FIRST_PART", 4)
    desk = Desk(tmp_path)
    yield desk
    await desk.close()


def worker_of(desk: Desk, **given: Any) -> tuple[Worker, CommitLog]:
    names = {name: given.pop(name) for name in ("is_stopping", "report_failure") if name in given}
    options = given.pop("options", FAIR)
    log = CommitLog(desk.backends.record.commits)
    record = desk.record.with_ports(commits=log, claims=given.pop("claims", desk.record.claims))
    return Worker("w", replace(desk.backends, record=record, **given), options, **names), log


async def wait_for(desk: Desk, *jobs: str) -> None:
    """Waits until the jobs are done. Without turns they never are."""
    async with asyncio.timeout(60):
        for job in jobs:
            await _wait_for(desk, job)


async def _wait_for(desk: Desk, job: str) -> None:
    while True:
        if (await desk.record.jobs.get(job)).state is JobState.DONE:
            return
        await asyncio.sleep(0.01)


async def work_until_idle(desk: Desk, worker: Worker) -> None:
    while waiting := await desk.record.maintenance.list_corpora_with_work():
        for corpus_id in waiting:
            await worker.work(corpus_id)


async def test_small_documents_of_all_corpora_are_indexed_beside_a_large_one(desk: Desk) -> None:
    books, letters = await desk.corpus("books"), await desk.corpus("letters")
    gate = Gate(desk.vectors, "large")
    worker, log = worker_of(desk, vectors=gate)
    large = await desk.queue(books, LARGE)
    working = asyncio.create_task(worker.work(books.id))
    await gate.reached.wait()
    same, other = await desk.queue(books, *SMALL_ONES[:2]), await desk.queue(letters, *SMALL_ONES[2:])
    await wait_for(desk, same, other)
    assert (await desk.record.jobs.get(large)).counts == {"writing": 1}
    gate.open.set()
    await working
    assert sorted(log.keys[:-1]) == ["small-0", "small-1", "small-2", "small-3"]
    assert log.keys[-1] == "large"


async def test_a_document_waits_for_none_of_a_larger_class(desk: Desk) -> None:
    corpus = await desk.corpus()
    gate, second = Gate(desk.vectors, "huge"), Gate(desk.vectors, "large")
    second._vectors = gate
    worker, log = worker_of(desk, vectors=second)
    await desk.queue(corpus, HUGE)
    working = asyncio.create_task(worker.work(corpus.id))
    await gate.reached.wait()
    large = await desk.queue(corpus, LARGE)
    await second.reached.wait()
    await wait_for(desk, await desk.queue(corpus, SMALL_ONES[0]))
    second.open.set()
    await wait_for(desk, large)
    gate.open.set()
    await working
    assert log.keys == ["small-0", "large", "huge"]


async def test_small_documents_are_first_within_a_corpus(desk: Desk) -> None:
    corpus = await desk.corpus()
    worker, log = worker_of(desk)
    await desk.queue(corpus, LARGE, LARGER, *SMALL_ONES)
    await work_until_idle(desk, worker)
    assert log.keys == [*(one["id"] for one in SMALL_ONES), "large", "larger"]


async def test_a_stream_of_small_documents_keeps_no_large_one_waiting(desk: Desk) -> None:
    """Each commit of small documents brings more of them, until the large one is committed."""
    corpus = await desk.corpus()
    worker, log = worker_of(desk)

    async def submit_more(keys: Sequence[str]) -> None:
        if "large" not in log.keys:
            await desk.queue(corpus, text_of(f"{keys[0]}+", 1))

    log.on_commit = submit_more
    await desk.queue(corpus, SMALL_ONES[0], LARGE)
    async with asyncio.timeout(120):
        await work_until_idle(desk, worker)
    assert "large" in log.keys
    assert log.keys[0] == "small-0"


async def test_corpora_take_turns(desk: Desk) -> None:
    """A turn of a corpus ends while others wait, though it has more to do."""
    many, few = await desk.corpus("many"), await desk.corpus("few")
    worker, log = worker_of(desk, options=replace(FAIR, batch_bytes=1))
    await desk.queue(many, *[text_of(f"many-{n}", 1) for n in range(6)])
    await desk.queue(few, text_of("few", 1))
    assert await worker.work(many.id)
    assert log.keys == ["many-0"]
    assert not await worker.work(few.id) or log.keys[-1] == "few"
    assert not await worker.work(many.id)
    assert log.keys == ["many-0", "few", *(f"many-{n}" for n in range(1, 6))]


async def test_a_corpus_that_fails_harms_no_large_document_of_another(desk: Desk) -> None:
    books, broken = await desk.corpus("books"), await desk.corpus("broken")
    gate = Gate(desk.vectors, "large")
    failures = asyncio.Queue[tuple[str, HopweaveError]]()

    class Away(type(desk.embedder)):  # type: ignore[misc]
        async def embed_passages(self, texts: Sequence[str]) -> Any:
            raise Unavailable("the endpoint is away")

    def embedder_of(corpus: Corpus) -> Any:
        return Away() if corpus.id == broken.id else desk.embedder

    report = failures.put_nowait
    worker, _ = worker_of(desk, vectors=gate, embedder_of=embedder_of, report_failure=lambda *failure: report(failure))
    large = await desk.queue(books, LARGE)
    working = asyncio.create_task(worker.work(books.id))
    await gate.reached.wait()
    small = await desk.queue(broken, SMALL_ONES[0])
    corpus_id, error = await failures.get()
    assert (corpus_id, str(error)) == (broken.id, "the endpoint is away")
    gate.open.set()
    await working
    assert (await desk.record.jobs.get(large)).state is JobState.DONE
    assert (await desk.record.jobs.get(small)).counts == {"queued": 1}


async def test_a_worker_that_stops_gives_back_the_large_and_the_small_documents(desk: Desk) -> None:
    books, letters = await desk.corpus("books"), await desk.corpus("letters")
    gate, second = Gate(desk.vectors, "large"), Gate(desk.vectors, "small-0")
    second._parts, second._vectors = 1, gate
    is_stopping = False
    worker, log = worker_of(desk, vectors=second, is_stopping=lambda: is_stopping)
    large = await desk.queue(books, LARGE)
    working = asyncio.create_task(worker.work(books.id))
    await gate.reached.wait()
    small = await desk.queue(letters, SMALL_ONES[0])
    await second.reached.wait()
    is_stopping = True
    assert await working
    assert [(await desk.record.jobs.get(job)).counts for job in (large, small)] == [{"queued": 1}] * 2
    assert not log.keys
    await work_until_idle(desk, desk.worker)
    await wait_for(desk, large, small)


async def test_a_worker_that_dies_amid_a_large_document_loses_nothing(desk: Desk, tmp_path: Path) -> None:
    """The next worker expires the leases. What the dead one would have written, had it lived, is fenced."""
    books = await desk.corpus("books")
    gate, second = Gate(desk.vectors, "large"), Gate(desk.vectors, "small-0")
    second._parts, second._vectors = 1, gate
    mortal = Mortal(desk.backends.record.claims)
    dying, log = worker_of(desk, vectors=second, claims=mortal)
    large = await desk.queue(books, LARGE)
    working = asyncio.create_task(dying.work(books.id))
    await gate.reached.wait()
    small = await desk.queue(books, *SMALL_ONES)
    await second.reached.wait()
    mortal.is_dead = True
    assert await desk.record.maintenance.expire_leases() == 5
    before = desk.embedder.embedded
    await work_until_idle(desk, Worker("next", desk.backends, FAIR))
    await wait_for(desk, large, small)
    assert desk.embedder.embedded - before < 48, "what was embedded stays"
    gate.open.set()
    second.open.set()
    with suppress(HopweaveError):
        await working
    assert not log.keys, "a dead worker commits nothing"
    alone = Desk(tmp_path / "alone")
    clean = await alone.corpus("books")
    await alone.ingest(clean, LARGE, *SMALL_ONES)
    assert await desk.export(books) == await alone.export(clean)
    assert await desk.view_ids(books) == await alone.view_ids(clean)
    await alone.close()
