"""How fast documents get in: the whole way through the worker, against embedding the same passages alone."""

import asyncio
import json
import statistics
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from evaluation import Dataset, read_dataset, read_peak_memory_mb
from tests.benchmarks.check import Check, at_least, at_most
from tests.benchmarks.workshop import Workshop, workshop

__all__ = ["checks", "measure"]

_ROUNDS = 3
_WARM_UP = Path(__file__).resolve().parents[2] / "examples" / "musique-small"


async def measure(dataset: Path) -> dict[str, Any]:
    """Both in turn, so that they meet the same machine; what counts is the median of the rounds' ratios."""
    read = read_dataset(dataset)
    texts = [f"{passage['title']}\n{passage['text']}" for passage in _passages(dataset)]
    async with workshop() as shop:
        await shop.ingest(read_dataset(_WARM_UP))
        await shop.container.embedder.embed_passages(texts[:100])
        rounds = [await _round(shop, replace(read, name=f"round-{number}"), texts) for number in range(_ROUNDS)]
        again = await _again(shop, replace(read, name="round-0"))
        peak = read_peak_memory_mb(await asyncio.to_thread(shop.supervision.worker_pid))
    first = statistics.median(one["wall_seconds"] for one in rounds)
    return {
        "passages": read.passages,
        "rounds": rounds,
        "ratio": statistics.median(one["ratio"] for one in rounds),
        "peak_rss_mb": peak,
        "again": again,
        "again_speedup": first / again["wall_seconds"],
    }


def checks(report: dict[str, Any]) -> list[Check]:
    return [
        at_least("ingest: passages/s, share of embedding alone", report["ratio"], 0.6),
        at_most("ingest: worker's peak memory, MB", report["peak_rss_mb"], 1500),
        at_least("ingest again, unchanged: times faster", report["again_speedup"], 10),
        at_most("ingest again, unchanged: passages indexed", report["again"]["indexed"], 0),
    ]


async def _round(shop: Workshop, dataset: Dataset, texts: list[str]) -> dict[str, Any]:
    began = time.perf_counter()
    await shop.container.embedder.embed_passages(texts)
    alone = len(texts) / (time.perf_counter() - began)
    began = time.perf_counter()
    _, report = await shop.ingest(dataset)
    wall = time.perf_counter() - began
    through = report.passages_per_second or 0.0
    return {
        "embedding_per_second": alone,
        "ingest_per_second": through,
        "ratio": through / alone,
        "wall_seconds": wall,
        "peak_rss_mb": report.peak_rss_mb,
    }


async def _again(shop: Workshop, dataset: Dataset) -> dict[str, Any]:
    """What is `unchanged` makes no revision, so no worker ever sees it: nothing is embedded or extracted."""
    began = time.perf_counter()
    _, report = await shop.ingest(dataset)
    return {"wall_seconds": time.perf_counter() - began, "indexed": report.indexed, "unchanged": report.unchanged}


def _passages(dataset: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in (dataset / "corpus.jsonl").read_text(encoding="utf-8").splitlines()]
