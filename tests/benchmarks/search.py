"""What a search costs beside embedding its question: `fused`, and `bridged`, which ranks the same candidates again."""

import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Any

from app.container import Container
from app.services.questions import SearchRequest, search
from core.corpora import Corpus
from core.strategies import parse_spec
from core.trace import Trace
from evaluation import read_dataset
from tests.benchmarks.check import Check, at_most, milliseconds
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
            embedded.append(await _timed(partial(container.embedder.embed_query, question.text)))
            for name in _SEARCHERS:
                seconds, timing = await _searched(container, corpus, question.text, name)
                searched[name].append(seconds)
                stages[name].append(timing)
    return {
        "passages": read.passages,
        "embed_ms": milliseconds(embedded[_WARM_UP:]),
        **{f"{name}_ms": milliseconds(searched[name][_WARM_UP:]) for name in _SEARCHERS},
        "stages_ms": {name: _medians(stages[name][_WARM_UP:]) for name in _SEARCHERS},
    }


def checks(report: dict[str, Any]) -> list[Check]:
    embed, fused, bridged = (report[name]["p50"] for name in ("embed_ms", "fused_ms", "bridged_ms"))
    return [
        at_most("search: fused p50, times embedding the question", fused / embed, 2.5),
        at_most(
            "search: bridged beyond fused p50, times fused without embedding", (bridged - fused) / (fused - embed), 1
        ),
    ]


async def _searched(container: Container, corpus: Corpus, text: str, name: str) -> tuple[float, dict[str, float]]:
    trace = Trace()
    request = SearchRequest(query=text, searcher=parse_spec(name), k=10)
    seconds = await _timed(lambda: search(container, corpus, request, trace))
    return seconds, trace.timing


def _medians(timings: list[dict[str, float]]) -> dict[str, float]:
    """By stage. Stages run side by side, so they do not add up; each waits for the others' threads."""
    return {
        stage: milliseconds([timing[stage] for timing in timings if stage in timing])["p50"] for stage in timings[-1]
    }


async def _timed(work: Callable[[], Awaitable[object]]) -> float:
    began = time.perf_counter()
    await work()
    return time.perf_counter() - began
