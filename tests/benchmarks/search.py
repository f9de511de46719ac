"""What a search costs beside embedding its question: `fused`, and `bridged`, which ranks the same candidates again."""

import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from app.container import Container
from app.questions import SearchRequest, search
from core.corpora import Corpus
from core.strategies import parse_spec
from core.trace import Trace
from evaluation import read_dataset
from tests.benchmarks.check import Check, at_most
from tests.benchmarks.percentiles import milliseconds
from tests.benchmarks.workshop import workshop

__all__ = ["checks", "measure"]

_ROUNDS = 3
_WARM_UP = 5
_SEARCHERS = ("fused", "bridged")


async def measure(dataset: Path) -> dict[str, Any]:
    """Each question is embedded, and searched by each searcher, in turn, so that all meet the same machine."""
    read = read_dataset(dataset)
    embedded: list[float] = []
    searched: dict[str, list[float]] = {name: [] for name in _SEARCHERS}
    stages: dict[str, list[dict[str, float]]] = {name: [] for name in _SEARCHERS}
    async with workshop() as shop:
        corpus, _ = await shop.ingest(read)
        container = shop.container
        for question in [*read.questions[:_WARM_UP], *_ROUNDS * read.questions]:
            embedded.append(await _timed(lambda text=question.text: container.embedder.embed_query(text)))
            for name in _SEARCHERS:
                seconds, timing = await _searched(container, corpus, question.text, name)
                searched[name].append(seconds)
                stages[name].append(timing)
    return {"passages": read.passages, "embed_ms": milliseconds(embedded[_WARM_UP:])} | {
        name: _figures(searched[name][_WARM_UP:], stages[name][_WARM_UP:]) for name in _SEARCHERS
    }


def checks(report: dict[str, Any]) -> list[Check]:
    fused, bridged = report["fused"]["without_embedding_ms"]["p50"], report["bridged"]["without_embedding_ms"]["p50"]
    return [
        at_most("search: fused p50, times embedding the question", _ratio(report, "fused"), 2.5),
        at_most("search: bridged beyond fused p50, times fused, without embedding", (bridged - fused) / fused, 1.0),
    ]


def _ratio(report: dict[str, Any], searcher: str) -> float:
    return float(report[searcher]["ms"]["p50"] / report["embed_ms"]["p50"])


async def _searched(container: Container, corpus: Corpus, text: str, name: str) -> tuple[float, dict[str, float]]:
    trace = Trace()
    request = SearchRequest(query=text, searcher=parse_spec(name), k=10)
    seconds = await _timed(lambda: search(container, corpus, request, trace))
    return seconds, trace.timing


def _figures(seconds: list[float], stages: list[dict[str, float]]) -> dict[str, Any]:
    rest = [total - timing.get("embed", 0.0) for total, timing in zip(seconds, stages, strict=True)]
    return {
        "ms": milliseconds(seconds),
        "without_embedding_ms": milliseconds(rest),
        "stages_ms": {
            stage: milliseconds([timing[stage] for timing in stages if stage in timing])["p50"] for stage in stages[-1]
        },
    }


async def _timed(work: Callable[[], Awaitable[object]]) -> float:
    began = time.perf_counter()
    await work()
    return time.perf_counter() - began
