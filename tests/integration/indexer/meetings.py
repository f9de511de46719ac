"""Workers that meet at a moment of the test's choice, and what they are to have left afterwards."""

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from core.corpora import Corpus, Fine
from core.ids import content_hash
from core.ports.record import NewRevision
from core.ports.views import VectorKind
from indexer import IndexingBackends, Worker
from testing.graph_rows import told
from tests.desk import OPTIONS, Desk

ADA = {"id": "ada", "text": "Ada Lovelace knew Charles Babbage.", "triples": [["Ada Lovelace", "knew", "Babbage"]]}
AGAIN = {**ADA, "id": "again"}
NEAR = [
    {"id": "one", "text": "Charles-Babbage designed engines.", "entities": ["Charles-Babbage"]},
    {"id": "two", "text": "Charles Babbage designed engines.", "entities": ["Charles Babbage"]},
]


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


async def corpus_of(desk: Desk, name: str) -> Corpus:
    return await desk.corpus(name, extractor="given", fine=Fine.ON)


class _ClaimsOnce:
    """The record's queue for a worker that takes what there is, and leaves to others what comes later."""

    def __init__(self, queue: Any) -> None:
        self._queue = queue
        self._has_claimed = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._queue, name)

    async def claim(self, *args: Any, **named: Any) -> Any:
        claims = [] if self._has_claimed else await self._queue.claim(*args, **named)
        self._has_claimed = self._has_claimed or bool(claims)
        return claims


def worker(backends: IndexingBackends, *, is_stopping: Callable[[], bool] = lambda: False) -> Worker:
    """One that does not take away what the test has for another."""
    record = backends.record.with_ports(claims=_ClaimsOnce(backends.record.claims))
    return Worker("slow", replace(backends, record=record), OPTIONS, is_stopping=is_stopping)


async def synonyms(desk: Desk, corpus: Corpus) -> list[tuple[str, str]]:
    _, rows = await desk.record.graph.graph(corpus.id)
    return [pair[:2] for pair in told(rows).synonyms]


def time_passes(folder: Path) -> None:
    """What is to be swept or settled later, in the embedded store of this folder, is due now."""
    with closing(sqlite3.connect(folder / "record.db")) as record:
        record.executescript("UPDATE tombstones SET due_at = 0; UPDATE unsettled SET due_at = 0;")


async def is_as_if_alone(desk: Desk, lived: Corpus, folder: Path, *documents: dict[str, Any]) -> None:
    alone = Desk(folder / "alone")
    clean = await corpus_of(alone, "clean")
    await alone.ingest(clean, *documents)
    assert await desk.export(lived) == await alone.export(clean)
    assert await desk.view_ids(lived) == await alone.view_ids(clean)
    assert await desk.backends.files.names(lived.id) == await alone.backends.files.names(clean.id)
    assert await synonyms(desk, lived) == await synonyms(alone, clean)
    await alone.close()


def with_bytes(content: bytes) -> NewRevision:
    """Another document of the same bytes."""
    return NewRevision(
        key="again",
        media_type="application/json",
        content_hash=content_hash(content),
        size=len(content),
        fingerprint="again",
        title=None,
        metadata={},
    )
