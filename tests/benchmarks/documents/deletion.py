"""Deleting 1,000 documents of a small and of a large corpus, embedded."""

import asyncio
import hashlib
import json
import statistics
import time
from collections.abc import Iterator
from typing import Any

from app.container import Container
from app.services import corpora, ingestion
from core.corpora import Corpus
from core.documents import Submission
from core.ids import document_id
from core.ports.views import VectorKind
from tests.benchmarks.check import Check, at_most
from tests.benchmarks.documents.endpoint import embedding_endpoint
from tests.benchmarks.documents.jobs import ingest, job_seconds, text_submission, wait_for
from tests.benchmarks.workshop import workshop

__all__ = ["checks", "measure"]

_DELETED = 1_000
_SMALL, _LARGE = 2_000, 10_000
_ROUNDS = 3
_PATIENCE_SECONDS = 30.0


async def measure() -> dict[str, Any]:
    """Deletes from each corpus in turn, and ingests again what was deleted. No model: the vectors come from an
    endpoint, since deleting needs none.
    """
    seconds: dict[int, list[float]] = {_SMALL: [], _LARGE: []}
    equal = 0
    with embedding_endpoint():
        async with workshop() as shop:
            container, there = shop.container, {}
            for size, found in seconds.items():
                there[size] = await _create(container, f"of-{size}", 0, size)
                never = await _create(container, f"never-{size}", _DELETED, size)
                expected, views = await _digest(container, never), await _view_ids(container, never)
                for number in range(_ROUNDS):
                    if number:
                        await ingest(container, there[size], _documents(0, _DELETED))
                    found.append(await _delete(container, there[size]))
                    same = await _digest(container, there[size]) == expected
                    equal += same and await _become(container, there[size], views)
    small, large = (statistics.median(ran) for ran in seconds.values())
    return {
        "seconds": {f"of {size:,}": found for size, found in seconds.items()},
        "ratio": large / small,
        "different": _ROUNDS * len(seconds) - equal,
    }


def checks(report: dict[str, Any]) -> list[Check]:
    return [
        at_most("deleting 1,000 of 10,000, times 1,000 of 2,000, embedded", report["ratio"], 1.5),
        at_most("deleting: exports that differ from a corpus without the documents", report["different"], 0),
    ]


async def _create(container: Container, name: str, first: int, end: int) -> Corpus:
    corpus = await corpora.create(container, name, chunker="passage")
    await ingest(container, corpus, _documents(first, end))
    return corpus


async def _delete(container: Container, corpus: Corpus) -> float:
    job = await ingestion.delete_documents(container, corpus, [document_id(f"d{i}") for i in range(_DELETED)])
    return job_seconds(await wait_for(container, job))


async def _digest(container: Container, corpus: Corpus) -> str:
    """Returns a digest of the canonical export."""
    found = hashlib.sha256()
    async for row in container.record.exporter.rows(corpus.id, canonical=True):
        if row["kind"] != "corpus":
            found.update(json.dumps(row, sort_keys=True).encode())
    return found.hexdigest()


async def _view_ids(container: Container, corpus: Corpus) -> tuple[set[str], set[str]]:
    return set(await container.vectors.ids(corpus.id, VectorKind.CHUNK)), set(await container.text.ids(corpus.id))


async def _become(container: Container, corpus: Corpus, views: tuple[set[str], set[str]]) -> bool:
    """Returns whether the views have these ids soon: their entries are deleted after the job has ended."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while await _view_ids(container, corpus) != views:
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(0.1)
    return True


def _documents(first: int, end: int) -> Iterator[Submission]:
    return (text_submission(f"d{i}", _prose(i)) for i in range(first, end))


def _prose(number: int) -> str:
    """Names that all documents share, some that few share, and some of its own."""
    return (
        f"Person Number{number} met Person Number{number % 97} in London. "
        f"They wrote to Ada Lovelace about Machine Part{number}, which Charles Babbage had drawn."
    )
