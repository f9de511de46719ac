"""The measurement: `python -m tests.benchmarks.million [--passages N] [--folder DIR]`.

A folder that is kept goes on where it stopped, also with more passages.
"""

import statistics
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from app.container import Container
from app.services import corpora
from app.supervision.folder_supervision import FolderSupervision
from core.corpora import Fine
from core.settings import read_settings
from retrieval import warm
from tests.benchmarks.check import Check, at_least, at_most, figure
from tests.benchmarks.documents.endpoint import word_embeddings
from tests.benchmarks.million.changing import measure_changes
from tests.benchmarks.million.ingesting import ingest_parts
from tests.benchmarks.million.material import make_passages, text_bytes
from tests.benchmarks.million.processes import database_bytes, folder_bytes, write_snapshot
from tests.benchmarks.million.searching import measure_searches
from tests.benchmarks.workshop import Workshop

__all__ = ["checks", "measure"]

_CORPUS = "million"
_PARTS, _LARGEST_PART = 10, 100_000
_SAMPLE = 1_000
_READY_SECONDS = 60.0
_VECTORS = ("vectors", "vectors.db", "vectors.db-wal", "vectors.db-shm")
_NOT_COUNTED = ("million.json", *(f"worker.log{end}" for end in ("", ".1", ".2", ".3")))


async def measure(
    passages: int = 1_000_000, folder: Path | None = None, *, fine: bool = False, only_ingest: bool = False
) -> dict[str, Any]:
    """Ingests with the extractor `given`, a part at a time, then searches, and changes documents.

    `fine`: with vectors of entities and facts, and synonyms.
    """
    if folder is None:
        with tempfile.TemporaryDirectory(prefix="hopweave-million-") as name:
            return await measure(passages, Path(name), fine=fine, only_ingest=only_ingest)
    with word_embeddings():
        async with _opened(folder) as shop:
            chosen = Fine.ON if fine else Fine.OFF
            corpus = await corpora.ensure(shop.container, _CORPUS, chunker="passage", extractor="given", fine=chosen)
            part = max(1, min(_LARGEST_PART, passages // _PARTS))
            report: dict[str, Any] = {
                "passages": passages,
                "text_bytes": passages * statistics.mean(map(text_bytes, make_passages(0, _SAMPLE))),
                "parts": await ingest_parts(shop, corpus, passages, part),
            }
            if not only_ingest:
                report["snapshot"] = await write_snapshot(shop.container, corpus)
                report["searches"] = measure_searches(folder, corpus, passages)
                report["changes"] = await measure_changes(shop.container, corpus, passages)
        report["disk"] = folder_bytes(folder)  # the worker and this process have emptied their logs
        report["tables"] = database_bytes(folder / "record.db")
    return report


def checks(report: dict[str, Any]) -> list[Check]:
    parts, size = report["parts"], f"{report['passages']:,} passages"
    disk = {name: used for name, used in report["disk"].items() if name not in (*_VECTORS, *_NOT_COUNTED)}
    cached = disk.get("snapshots", 0)
    found = [
        at_least(f"{size}: passages/s of the last part, of those of the first", _ratio(parts, "per_second"), 0.8),
        figure(f"{size}: worker's processor time a passage, last part, of the first", _ratio(parts, "worker_cpu_ms")),
        at_most(
            f"{size}: worker's peak memory beyond mapped files, MB",
            max(one["worker_peak_mb"]["own, changed"] for one in parts),
            1200,
        ),
        at_most(f"{size}: disk without vectors, times the text", sum(disk.values()) / report["text_bytes"], 6),
        figure(f"{size}: of these the snapshot file, which can be built again", cached / report["text_bytes"]),
    ]
    if "searches" in report:
        found += _search_checks(size, report)
    return found


def _search_checks(size: str, report: dict[str, Any]) -> list[Check]:
    searches, changes = report["searches"], report["changes"]
    alone = searches["alone"]
    p50 = {name: stages["without embedding"]["p50"] for name, stages in alone["ms"].items()}
    slowest = max(one["seconds"] for name in ("adding", "replacing", "deleting") for one in changes[name])
    return [
        figure(f"{size}: the snapshot file is written in a process of its own, s", report["snapshot"]["seconds"]),
        figure(f"{size}: its peak memory, MB", report["snapshot"]["peak_mb"]),
        at_most(f"{size}: first search after a start, s", alone["first_seconds"]["all"], 3),
        at_most(f"{size}: bridged p50 without embedding, ms", p50["bridged"], 50),
        at_most(f"{size}: dense p50 without embedding, ms", p50["dense"], 15),
        figure(f"{size}: sparse p50, ms", p50["sparse"]),
        at_most(f"{size}: own memory of a process that searches, MB", alone["memory_mb"]["own, changed"], 1500),
        at_most(f"{size}: two processes together, times one", searches["two_ratio"], 1.3),
        at_most(f"{size}: 100 documents changed: s of the search that has them, slowest", slowest, 2),
    ]


def _ratio(parts: list[dict[str, Any]], name: str) -> float:
    return float(parts[-1][name] / parts[0][name])


@asynccontextmanager
async def _opened(folder: Path) -> AsyncIterator[Workshop]:
    """A folder with its worker, which stays."""
    settings = read_settings(data_dir=folder)
    container = Container(settings)
    warm()
    try:
        with FolderSupervision(settings) as supervision:
            if not supervision.wait_ready(_READY_SECONDS):
                raise RuntimeError(f"no worker started; see {supervision.log}")
            yield Workshop(settings=settings, container=container, supervision=supervision)
    finally:
        await container.close()
