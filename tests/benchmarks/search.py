"""What a fused search costs beside embedding its question."""

import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from app.questions import SearchRequest, search
from core.strategies import parse_spec
from core.trace import Trace
from evaluation import read_dataset
from tests.benchmarks.check import Check, at_most
from tests.benchmarks.percentiles import milliseconds
from tests.benchmarks.workshop import workshop

__all__ = ["checks", "measure"]

_ROUNDS = 3
_FUSED = parse_spec("fused")


async def measure(dataset: Path) -> dict[str, Any]:
    """Each question is embedded and searched in turn, so that both meet the same machine."""
    read = read_dataset(dataset)
    embedded, searched, stages = [], [], []
    async with workshop() as shop:
        corpus, _ = await shop.ingest(read)
        container = shop.container
        for question in [*read.questions[:5], *_ROUNDS * read.questions]:
            trace = Trace()
            request = SearchRequest(query=question.text, searcher=_FUSED, k=10)
            embedded.append(await _timed(lambda text=question.text: container.embedder.embed_query(text)))
            searched.append(await _timed(lambda: search(container, corpus, request, trace)))  # noqa: B023 - awaited here
            stages.append(trace.timing)
    embed, fused = milliseconds(embedded[5:]), milliseconds(searched[5:])
    return {
        "passages": read.passages,
        "embed_ms": embed,
        "fused_ms": fused,
        "stages_ms": {
            stage: milliseconds([timing[stage] for timing in stages[5:] if stage in timing])["p50"]
            for stage in stages[-1]
        },
        "ratio": fused["p50"] / embed["p50"],
    }


def checks(report: dict[str, Any]) -> list[Check]:
    return [at_most("search: fused p50, times embedding the question", report["ratio"], 2.5)]


async def _timed(work: Callable[[], Awaitable[object]]) -> float:
    began = time.perf_counter()
    await work()
    return time.perf_counter() - began
