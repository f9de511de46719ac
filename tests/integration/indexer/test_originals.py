"""Original bytes, which cannot be made again, while one hands them in and another sweeps them."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.corpora import Corpus
from core.documents import OnConflict, RevisionState
from core.errors import Unavailable
from core.ids import document_id
from indexer import ViewDeleter, Worker
from tests.desk import OPTIONS, Desk
from tests.integration.indexer.meetings import ADA, Held, corpus_of, time_passes, with_bytes, worker


async def deleted(desk: Desk) -> tuple[Corpus, str, bytes]:
    """A corpus of one document that is to be deleted, with its original."""
    corpus = await corpus_of(desk, "lived")
    await desk.ingest(corpus, ADA)
    [name] = await desk.backends.files.names(corpus.id)
    content = await desk.backends.files.get(corpus.id, name)
    await desk.record.submissions.delete_documents(corpus.id, [document_id("ada")])
    return corpus, name, content


async def hand_in(desk: Desk, corpus: Corpus, content: bytes) -> None:
    """As `app.services.ingestion.submit` does it."""
    await desk.backends.files.put(corpus.id, [content])
    await desk.record.submissions.enqueue(corpus.id, [with_bytes(content)], OnConflict.REPLACE)
    await desk.backends.files.put(corpus.id, [content])


async def test_what_is_handed_in_while_it_is_swept_stays(desk: Desk) -> None:
    corpus, name, content = await deleted(desk)
    held = Held(desk.backends.files, "delete")
    slow = asyncio.create_task(worker(replace(desk.backends, files=held)).work(corpus.id))
    await held.reached_by(slow)
    await hand_in(desk, corpus, content)
    held.go.set()
    await slow
    assert await desk.backends.files.get(corpus.id, name) == content


async def test_what_is_handed_in_while_a_due_tombstone_is_gone_through_stays(desk: Desk, tmp_path: Path) -> None:
    """The bytes were gone when the sweep looked, so that it has none to give back."""
    corpus, name, content = await deleted(desk)
    await desk.worker.work(corpus.id)
    assert await desk.backends.files.names(corpus.id) == []
    time_passes(tmp_path)
    held = Held(desk.backends.files, "delete")
    due = asyncio.create_task(ViewDeleter(corpus, replace(desk.backends, files=held)).delete_due())
    await held.reached_by(due)
    await hand_in(desk, corpus, content)
    held.go.set()
    await due
    assert await desk.backends.files.get(corpus.id, name) == content


class _AwayAfter:
    """A port of which a method answers so many times, and is away afterwards."""

    def __init__(self, port: Any, method: str, times: int) -> None:
        self._port = port
        self._method = method
        self._left = times

    def __getattr__(self, name: str) -> Any:
        real = getattr(self._port, name)
        if name != self._method:
            return real

        async def answer(*args: Any, **named: Any) -> Any:
            if self._left == 0:
                raise Unavailable("away")
            self._left -= 1
            return await real(*args, **named)

        return answer


async def test_what_the_record_cannot_be_asked_about_stays(desk: Desk, tmp_path: Path) -> None:
    corpus, name, content = await deleted(desk)
    away = _AwayAfter(desk.backends.record.tombstones, "select_orphans", 2)
    with pytest.raises(Unavailable):
        await Worker("w", desk.with_ports(tombstones=away), OPTIONS).work(corpus.id)
    assert await desk.backends.files.get(corpus.id, name) == content
    time_passes(tmp_path)
    await desk.worker.work(corpus.id)
    assert await desk.backends.files.names(corpus.id) == []


async def test_a_stop_between_deleting_and_asking_loses_nothing(desk: Desk) -> None:
    corpus, name, content = await deleted(desk)
    before = Held(desk.backends.files, "delete")
    after = Held(before, "delete", after=True)
    stopping = False
    stopped = worker(replace(desk.backends, files=after), is_stopping=lambda: stopping)
    slow = asyncio.create_task(stopped.work(corpus.id))
    await before.reached_by(slow)
    await hand_in(desk, corpus, content)
    before.go.set()
    await after.reached_by(slow)
    stopping = True
    await asyncio.sleep(0.5)  # it looks a few times a second whether to stop
    after.go.set()
    await slow
    assert await desk.backends.files.get(corpus.id, name) == content


async def test_a_document_is_indexed_although_its_original_is_away_for_a_moment(desk: Desk) -> None:
    corpus, _, content = await deleted(desk)
    before = Held(desk.backends.files, "delete")
    after = Held(before, "delete", after=True)
    slow = asyncio.create_task(worker(replace(desk.backends, files=after)).work(corpus.id))
    await before.reached_by(slow)
    await hand_in(desk, corpus, content)
    before.go.set()
    await after.reached_by(slow)
    reading = asyncio.create_task(desk.worker.work(corpus.id))
    await asyncio.sleep(0.3)
    after.go.set()
    await asyncio.gather(slow, reading)
    [document] = (await desk.record.documents.list(corpus.id, limit=10)).data
    assert (document.key, document.state, document.reason) == ("again", RevisionState.INDEXED, None)


async def test_nothing_stays_of_a_deleted_document_whose_next_job_is_cancelled(desk: Desk, tmp_path: Path) -> None:
    """As in a client that submits, cancels and deletes, and repeats all of it after the server was killed."""
    corpus, _, _ = await deleted(desk)
    again = await desk.queue(corpus, {**ADA, "text": "Ada came again."})
    await desk.record.jobs.cancel(again)
    await desk.worker.work(corpus.id)
    time_passes(tmp_path)
    await desk.worker.work(corpus.id)
    assert await desk.backends.files.names(corpus.id) == []
    assert await desk.view_ids(corpus) == (set(), set(), set(), set())
