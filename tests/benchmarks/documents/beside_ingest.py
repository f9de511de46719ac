"""How long a search takes while an ingest runs into the same corpus, beside one that runs alone."""

import asyncio
import http.client
import itertools
import json
import statistics
import time
from collections.abc import Awaitable, Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from app.container import Container
from app.services.questions import SearchRequest, search
from core.corpora import Corpus
from core.documents import Submission
from core.strategies import parse_spec
from core.trace import Trace
from evaluation import read_dataset
from tests.benchmarks.check import Check, at_most, figure, milliseconds
from tests.benchmarks.documents.jobs import ingest, text_submission
from tests.benchmarks.documents.prose import make_sentences, make_text
from tests.benchmarks.http import serving
from tests.benchmarks.workshop import workshop

__all__ = ["checks", "measure"]

_ROUNDS = 3
_IDLE = 60
_WARM_UP = 10
_DOCUMENTS = 60
_SENTENCES = 60
_SEARCHER = "bridged"

Search = Callable[[str], Awaitable[None]]


async def measure(dataset: Path) -> dict[str, Any]:
    """In process, and over HTTP with `hopweave serve`; each in turn without and with an ingest. The worker is a process
    of its own in both.
    """
    read = read_dataset(dataset)
    questions = itertools.cycle(question.text for question in read.questions)
    texts = _texts()
    async with workshop() as shop:
        corpus, _ = await shop.ingest(read)
        container = shop.container

        async def in_process(question: str) -> None:
            await search(container, corpus, SearchRequest(query=question, searcher=parse_spec(_SEARCHER), k=5), Trace())

        report = {"in process": await _rounds(container, corpus, in_process, questions, texts)}
        with serving(shop, 1) as port:
            connection = http.client.HTTPConnection("127.0.0.1", port)
            path = f"/v1/corpora/{corpus.name}/search"

            async def over_http(question: str) -> None:
                await asyncio.to_thread(_post, connection, path, {"query": question, "searcher": _SEARCHER, "k": 5})

            report["over HTTP"] = await _rounds(container, corpus, over_http, questions, texts)
            connection.close()
    return report


def checks(report: dict[str, Any]) -> list[Check]:
    found = []
    for name, way in report.items():
        found += [
            figure(f"search {name}, idle: p50, ms", way["idle_ms"]["p50"]),
            figure(f"search {name} while an ingest runs: p50, ms", way["beside_ms"]["p50"]),
            at_most(f"search {name} while an ingest runs: p50, times idle", way["ratio"], 3),
        ]
    return found


async def _rounds(
    container: Container, corpus: Corpus, search_: Search, questions: Iterator[str], texts: Iterator[Submission]
) -> dict[str, Any]:
    idle: list[list[float]] = []
    beside: list[list[float]] = []
    for question in islice(questions, _WARM_UP):
        await search_(question)
    for _ in range(_ROUNDS):
        idle.append([await _timed(search_, question) for question in islice(questions, _IDLE)])
        job = asyncio.create_task(ingest(container, corpus, list(islice(texts, _DOCUMENTS))))
        beside.append([])
        while not job.done():
            beside[-1].append(await _timed(search_, next(questions)))
        await job
    ratios = [statistics.median(b) / statistics.median(a) for a, b in zip(idle, beside, strict=True)]
    return {
        "idle_ms": milliseconds(list(itertools.chain(*idle))),
        "beside_ms": milliseconds(list(itertools.chain(*beside))),
        "searches_beside": [len(found) for found in beside],
        "ratios": ratios,
        "ratio": statistics.median(ratios),
    }


async def _timed(search_: Search, question: str) -> float:
    began = time.perf_counter()
    await search_(question)
    return time.perf_counter() - began


def _post(connection: http.client.HTTPConnection, path: str, body: dict[str, Any]) -> None:
    connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
    answer = connection.getresponse()
    content = answer.read()
    if answer.status != 200:
        raise RuntimeError(f"a search was refused with {answer.status}: {content[:500]!r}")


def _texts() -> Iterator[Submission]:
    for number in itertools.count():
        text = make_text(list(islice(make_sentences(1000 + number), _SENTENCES)))
        yield text_submission(f"beside-{number}", text)
