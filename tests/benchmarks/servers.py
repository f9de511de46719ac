"""What servers cost, and what they bring: ingest, search, workers and deletion, beside the embedded installation."""

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from app.container import Container
from app.services import corpora, ingestion
from app.services.questions import SearchRequest, search
from core.corpora import Corpus, Fine
from core.documents import OnConflict, Submission
from core.ids import document_id
from core.jobs import Job
from core.settings import read_settings
from core.strategies import parse_spec
from core.trace import Trace
from evaluation import Dataset, WorkerWatch, index_dataset, read_dataset
from retrieval import warm
from tests.benchmarks.check import Check, at_least, at_most, figure, milliseconds
from tests.benchmarks.extraction import answer, answers_of
from tests.benchmarks.workshop import RunningWorker, silent, workshop
from tests.servers.installation import HOPWEAVE, Installation, configured, installation
from tests.twins.chat_server import ChatServer
from tests.twins.embedding_server import EmbeddingServer

__all__ = ["checks", "measure"]

_ROUNDS = 1
_WARM_UP = 5
_POLL_SECONDS = 0.25
_EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "musique-small"


async def measure(datasets: Path) -> dict[str, Any]:
    """Servers of its own on free ports, started and emptied for this."""
    musique = read_dataset(datasets / "musique-train-100")
    with tempfile.TemporaryDirectory(prefix="hopweave-servers-") as folder, installation(Path(folder)) as servers:
        return {
            "passages": musique.passages,
            # First, while there is no corpus with another embedding model, which doctor would find.
            "deletion": _reported_usage(await _deletion(servers)),
            "two_workers": _reported_usage(await _two_workers(servers, datasets / "musique-train-100")),
            **_reported_usage(await _side_by_side(servers, musique)),
        }


def checks(report: Mapping[str, Any]) -> list[Check]:
    deletion, two = report["deletion"], report["two_workers"]
    return [
        at_least("servers: ingest with one worker, share of the embedded speed", report["ingest_ratio"], 0.5),
        figure("servers: passages/s, one worker", report["ingest"]["servers"]),
        at_most("servers: search p50, times embedded", report["search_ratio"], 5),
        figure("servers: search p50, ms", report["search_ms"]["servers"]["p50"]),
        at_least("servers: two workers, times one, extraction-bound", two["ratio"], 1.8),
        at_most("servers: deleting 1,000 of 10,000, times 1,000 of 2,000", deletion["ratio"], 1.5),
        at_most("servers: what doctor finds after the deletion", deletion["problems"], 0),
    ]


def _reported_usage(measured: dict[str, Any]) -> dict[str, Any]:
    """Told at once, since all of it takes a quarter of an hour."""
    sys.stderr.write(json.dumps(measured) + "\n")
    return measured


@asynccontextmanager
async def _container(servers: Installation) -> AsyncIterator[Container]:
    """The environment is as it was again when it is used: an embedded worker may start beside it."""
    with configured(servers.settings):
        container = Container(read_settings())
        warm()
    try:
        yield container
    finally:
        await container.close()


async def _side_by_side(servers: Installation, dataset: Dataset) -> dict[str, Any]:
    """The same dataset into both, in turn, and then its questions to both, in turn."""
    speeds: dict[str, list[float]] = {"embedded": [], "servers": []}
    hold: dict[str, list[float]] = {"embedded": [], "servers": []}
    servers.start_worker()
    async with workshop() as shop, _container(servers) as container:
        watch = RunningWorker(log=servers.folder / "worker.log")
        homes: dict[str, tuple[Container, WorkerWatch]] = {
            "embedded": (shop.container, shop.supervision),
            "servers": (container, watch),
        }
        there: dict[str, Corpus] = {}
        for number in range(-1, _ROUNDS):  # the first is to warm up: models load, Neo4j's code is compiled
            named = replace(read_dataset(_EXAMPLE) if number < 0 else dataset, name=f"round-{number}")
            for home, (where, supervision) in homes.items():
                there[home], report = await index_dataset(
                    where, supervision, named, chunker="passage", extractor="given", progress=silent
                )
                speeds[home] += [report.passages_per_second or 0.0] if number >= 0 else []
        for question in [*dataset.questions[:_WARM_UP], *dataset.questions]:
            for home, (where, _) in homes.items():
                hold[home].append(await _searched(where, there[home], question.text))
    servers.stop_workers()
    ratios = [there / here for here, there in zip(speeds["embedded"], speeds["servers"], strict=True)]
    searched = {home: milliseconds(seconds[_WARM_UP:]) for home, seconds in hold.items()}
    return {
        "ingest": {home: statistics.median(found) for home, found in speeds.items()},
        "ingest_ratio": statistics.median(ratios),
        "search_ms": searched,
        "search_ratio": searched["servers"]["p50"] / searched["embedded"]["p50"],
    }


async def _searched(container: Container, corpus: Corpus, text: str) -> float:
    request = SearchRequest(query=text, searcher=parse_spec("bridged"), k=10)
    began = time.perf_counter()
    await search(container, corpus, request, Trace())
    return time.perf_counter() - began


async def _two_workers(servers: Installation, folder: Path) -> dict[str, Any]:
    """Extraction by a server that takes 200 ms a call, four at a time from each worker."""
    answers = answers_of(folder)
    passages = [json.loads(line) for line in (folder / "corpus.jsonl").read_text(encoding="utf-8").splitlines()]
    seconds = {}
    with ChatServer() as model, configured({"OMP_NUM_THREADS": "1"}):
        model.respond = lambda call: answer(call, answers)
        servers.more = {
            "HOPWEAVE_LLM__BASE_URL": model.url,
            "HOPWEAVE_LLM__MODEL": "twin",
            "HOPWEAVE_LLM__API_KEY": "none",
            "HOPWEAVE_LLM__CONCURRENCY": "4",
        }
        for workers in (1, 2):
            submissions = [_submission(one["id"], one["text"], one["title"]) for one in passages]
            for _ in range(workers):
                servers.start_worker()
            async with _container(servers) as container:
                warm = await _made(container, f"warm-{workers}", "pattern", Fine.OFF)
                await _ingested(container, warm, submissions[:50])  # the workers' models are loaded
                corpus = await _made(container, f"workers-{workers}", "llm", Fine.OFF)
                job = await _ingested(container, corpus, submissions)
            servers.stop_workers()
            seconds[workers] = _seconds(job)
    servers.more = {}
    return {"seconds": seconds, "ratio": seconds[1] / seconds[2]}


async def _deletion(servers: Installation) -> dict[str, Any]:
    """A thousand documents of a small and of a large corpus; the vectors are a twin's, since none is measured."""
    seconds: dict[int, list[float]] = {2_000: [], 10_000: []}
    with EmbeddingServer(dimension=64) as embedding:
        servers.more = embedding.environment
        servers.start_worker()
        async with _container(servers) as container:
            for size, found in seconds.items():
                corpus = await _made(container, f"deletion-{size}", "pattern", Fine.OFF)
                await _ingested(container, corpus, [_submission(f"d{i}", _prose(i)) for i in range(size)])
                gone = [document_id(f"d{i}") for i in range(1000)]
                job = await _done(container, await ingestion.delete_documents(container, corpus, gone))
                found.append(_seconds(job))
        servers.stop_workers()
        problems = await asyncio.to_thread(_doctor, servers)
    servers.more = {}
    small, large = (statistics.median(seconds[size]) for size in seconds)
    return {"seconds": {"of 2,000": small, "of 10,000": large}, "ratio": large / small, "problems": len(problems)}


def _doctor(servers: Installation) -> Sequence[Mapping[str, Any]]:
    ran = subprocess.run([HOPWEAVE, "doctor", "--json"], env=_environment(servers), stdout=subprocess.PIPE, check=False)
    report = json.loads(ran.stdout)
    return [finding for finding in report["findings"] if finding["level"] == "problem"]


def _environment(servers: Installation) -> dict[str, str]:
    return {**os.environ, **servers.settings}


async def _made(container: Container, name: str, extractor: str, fine: Fine) -> Corpus:
    return await corpora.create(container, name, chunker="passage", extractor=extractor, fine=fine)


async def _ingested(container: Container, corpus: Corpus, submissions: Sequence[Submission]) -> Job:
    job: Job | None = None
    async for part in ingestion.submit_all(container, corpus, submissions, OnConflict.REPLACE):
        job = part.job
    assert job is not None
    return await _done(container, job)


async def _done(container: Container, job: Job) -> Job:
    while not job.settled:
        await asyncio.sleep(_POLL_SECONDS)
        job = await container.record.jobs.get(job.id)
    assert job.finished_at, job
    return job


def _seconds(job: Job) -> float:
    """From the moment of handing in to the last document."""
    assert job.finished_at is not None
    return (job.finished_at - job.created_at).total_seconds()


def _submission(key: str, text: str, title: str | None = None) -> Submission:
    return Submission(key=key, content=text.encode(), media_type="text/plain", title=title)


def _prose(number: int) -> str:
    """Names that all documents share, some that few share, and some of its own."""
    return (
        f"Person Number{number} met Person Number{number % 97} in London. "
        f"They wrote to Ada Lovelace about Machine Part{number}, which Charles Babbage had drawn."
    )
