"""The passages come in, a part at a time; each part is a job, and what it cost is kept with the folder."""

import asyncio
import json
import resource
import sys
import time
from contextlib import aclosing
from pathlib import Path
from typing import Any

from app.services import ingestion
from core.corpora import Corpus
from core.documents import OnConflict
from tests.benchmarks.documents.jobs import job_seconds, wait_for
from tests.benchmarks.million.material import make_passages
from tests.benchmarks.million.processes import folder_bytes, memory_mb
from tests.benchmarks.operation.processes import cpu_seconds
from tests.benchmarks.workshop import Workshop

__all__ = ["ingest_parts"]

_REPORT = "million.json"
_SAMPLE_SECONDS = 1.0


async def ingest_parts(shop: Workshop, corpus: Corpus, passages: int, part: int) -> list[dict[str, Any]]:
    """Ingests what the folder lacks, and returns the report of each part, with those of earlier runs."""
    kept = shop.settings.data_dir / _REPORT
    parts: list[dict[str, Any]] = json.loads(kept.read_text("utf-8")) if kept.exists() else []
    done = parts[-1]["stop"] if parts else 0
    while done < passages:
        stop = min(passages, done + part)
        parts.append(await _ingest(shop, corpus, done, stop))
        kept.write_text(json.dumps(parts), encoding="utf-8")
        sys.stderr.write(f"  {_line(parts[-1])}\n")
        done = stop
    return parts


async def _ingest(shop: Workshop, corpus: Corpus, start: int, stop: int) -> dict[str, Any]:
    """An interrupted part is submitted again; the passages that are indexed already are `unchanged` then."""
    pid = shop.supervision.worker_pid() or 0
    before, began, mine = cpu_seconds(pid), time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)
    job = None
    async with aclosing(
        ingestion.submit_all(shop.container, corpus, make_passages(start, stop), OnConflict.REPLACE)
    ) as submitted:
        async for progress in submitted:
            job = progress.job
    assert job is not None
    submitting = time.perf_counter() - began
    waiting = asyncio.create_task(wait_for(shop.container, job))
    peaks = {"resident": 0.0, "own, changed": 0.0}
    while not waiting.done():
        now = memory_mb(pid)
        peaks = {name: max(peak, now[name]) for name, peak in peaks.items()}
        await asyncio.wait([waiting], timeout=_SAMPLE_SECONDS)
    ended = await waiting
    after = resource.getrusage(resource.RUSAGE_SELF)
    indexed = ended.counts.get("indexed", 0)
    return {
        "start": start,
        "stop": stop,
        "indexed": indexed,
        "seconds": job_seconds(ended),
        "submitting_seconds": submitting,
        "per_second": indexed / job_seconds(ended),
        "worker_cpu_ms": 1e3 * (cpu_seconds(pid) - before) / max(1, indexed),
        "here_cpu_ms": 1e3 * (after.ru_utime + after.ru_stime - mine.ru_utime - mine.ru_stime) / max(1, indexed),
        "worker_mb": memory_mb(pid),
        "worker_peak_mb": peaks,
        "disk": folder_bytes(Path(shop.settings.data_dir)),
    }


def _line(part: dict[str, Any]) -> str:
    disk = ", ".join(f"{name} {size / 1e6:.0f}" for name, size in sorted(part["disk"].items()) if size > 1e6)
    own, resident = (part["worker_peak_mb"][name] for name in ("own, changed", "resident"))
    return (
        f"to {part['stop']:,}: {part['per_second']:.0f}/s, ms of the processor a passage: worker "
        f"{part['worker_cpu_ms']:.2f}, here {part['here_cpu_ms']:.2f}; worker {own:.0f} MB, "
        f"with mapped files {resident:.0f}; {disk}"
    )
