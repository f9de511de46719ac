"""All measurements, one after the other: `python -m tests.benchmarks --datasets DIR [--only NAME]...`.

Prints one JSON object, a table of what should be reached, and searchers side by side; keeps all of it in `.bench/`. A
figure is worth something on an idle machine only; the report tells what it was.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.benchmarks import (
    asks,
    conversations,
    demo,
    embedding,
    extraction,
    follow,
    glued,
    http,
    ingest,
    long_documents,
    oracle,
    overhead,
    quality,
    ranker,
    search,
    servers,
    snapshots,
)
from tests.benchmarks.check import Check, at_least, figure, markdown
from tests.benchmarks.comparison import comparison_table
from tests.benchmarks.documents import (
    beside_ingest,
    deletion,
    long_text,
    mixed_files,
    replacing,
    tiny_files,
)
from tests.benchmarks.machine import describe
from tests.benchmarks.operation import cold, install, load, mapped, ready

OUTPUT = Path(__file__).resolve().parents[2] / ".bench"
MUSIQUE = "musique-train-100"


@dataclass(frozen=True, kw_only=True)
class Measured:
    """`table` is what `docs/benchmarks.md` shows beside the checks."""

    report: Mapping[str, Any]
    checks: list[Check]
    table: str = ""


def main() -> int:
    """Returns 1 if something that was measured is not reached."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks")
    parser.add_argument("--datasets", type=Path, required=True, help="the folder of the question sets")
    parser.add_argument("--only", action="append", choices=list(MEASUREMENTS), help="repeatable; else all of them")
    arguments = parser.parse_args()
    if not (arguments.datasets / MUSIQUE).is_dir():
        parser.error(
            f"{arguments.datasets} holds no {MUSIQUE}; name the folder with --datasets, or DATASETS=… for make"
        )
    report, checks, tables = run(arguments.only or list(MEASUREMENTS), arguments.datasets)
    print(*_texts(report, checks, tables), sep="\n\n")
    return 0 if all(check.reached for check in checks) else 1


def run(names: list[str], datasets: Path) -> tuple[dict[str, Any], list[Check], list[str]]:
    """Measure one after the other; what was measured is kept at once, whatever becomes of the next."""
    report: dict[str, Any] = {"machine": describe(), "measured": {}, "checks": []}
    checks: list[Check] = []
    tables: list[str] = []
    for name in names:
        began = time.perf_counter()
        sys.stderr.write(f"{name} …\n")
        measured = MEASUREMENTS[name](datasets)
        report["measured"][name] = {"took_seconds": time.perf_counter() - began, **measured.report}
        checks += measured.checks
        tables += [measured.table] if measured.table else []
        report["checks"] = [{**vars(check), "reached": check.reached} for check in checks]
        _keep(*_texts(report, checks, tables))
    return report, checks, tables


def _texts(report: dict[str, Any], checks: list[Check], tables: list[str]) -> tuple[str, str]:
    return json.dumps(report, indent=2, ensure_ascii=False), "\n\n".join([markdown(checks), *tables])


def _keep(report: str, tables: str) -> None:
    OUTPUT.mkdir(exist_ok=True)
    (OUTPUT / "results.json").write_text(report + "\n", encoding="utf-8")
    (OUTPUT / "results.md").write_text(tables + "\n", encoding="utf-8")


def _quality(datasets: Path) -> Measured:
    report = asyncio.run(quality.measure(datasets))
    return Measured(report=report, checks=quality.checks(report), table=comparison_table(report))


def _ranker(datasets: Path) -> Measured:
    report = asyncio.run(ranker.measure(datasets))
    return Measured(report=report, checks=ranker.checks(report))


def _glued(datasets: Path) -> Measured:
    report = asyncio.run(glued.measure(datasets))
    return Measured(report=report, checks=glued.checks(report), table=comparison_table(report))


def _long_documents(_datasets: Path) -> Measured:
    try:
        report = asyncio.run(long_documents.measure(OUTPUT / "long_documents"))
    except long_documents.DocumentsMissing as error:
        sys.stderr.write(f"long_documents: {error}\n")
        return Measured(report={"missing": str(error)}, checks=[at_least("long documents: all fetched", 0, 1)])
    return Measured(report=report, checks=long_documents.checks(report), table=long_documents.table(report))


def _conversations(datasets: Path) -> Measured:
    report = asyncio.run(conversations.measure(datasets))
    return Measured(report=report, checks=conversations.checks(report), table=conversations.table(report))


def _embedding(datasets: Path) -> Measured:
    """In a process of its own: torch's number of threads is global, and ours would hold sentence-transformers back."""
    command = [sys.executable, "-m", "tests.benchmarks.embedding", "--dataset", str(datasets / MUSIQUE)]
    ran = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    report = json.loads(ran.stdout)
    return Measured(report=report, checks=embedding.checks(report))


def _ingest(datasets: Path) -> Measured:
    report = asyncio.run(ingest.measure(datasets / MUSIQUE))
    return Measured(report=report, checks=ingest.checks(report))


def _extraction(datasets: Path) -> Measured:
    report = asyncio.run(extraction.measure(datasets))
    return Measured(report=report, checks=extraction.checks(report))


def _search(datasets: Path) -> Measured:
    report = asyncio.run(search.measure(datasets / MUSIQUE))
    return Measured(report=report, checks=search.checks(report))


def _follow(datasets: Path) -> Measured:
    report = asyncio.run(follow.measure(datasets))
    return Measured(report=report, checks=follow.checks(report))


def _oracle(datasets: Path) -> Measured:
    report = asyncio.run(oracle.measure(datasets))
    return Measured(report=report, checks=oracle.checks(report), table=oracle.table(report))


def _overhead(datasets: Path) -> Measured:
    report = asyncio.run(overhead.measure(datasets))
    return Measured(report=report, checks=overhead.checks(report))


def _asks(datasets: Path) -> Measured:
    report = asyncio.run(asks.measure(datasets / MUSIQUE))
    return Measured(report=report, checks=asks.checks(report))


def _cold(datasets: Path) -> Measured:
    report = asyncio.run(cold.measure(datasets / MUSIQUE))
    return Measured(report=report, checks=cold.checks(report))


def _load(datasets: Path) -> Measured:
    report = asyncio.run(load.measure(datasets / MUSIQUE))
    return Measured(report=report, checks=load.checks(report))


def _ready(datasets: Path) -> Measured:
    report = asyncio.run(ready.measure(datasets / MUSIQUE))
    return Measured(report=report, checks=ready.checks(report))


def _mapped(_datasets: Path) -> Measured:
    report = mapped.measure()
    return Measured(report=report, checks=mapped.checks(report))


def _install(_datasets: Path) -> Measured:
    report = install.measure()
    return Measured(report=report, checks=install.checks(report))


def _http(datasets: Path) -> Measured:
    report = asyncio.run(http.measure(datasets / MUSIQUE))
    return Measured(report=report, checks=http.checks(report))


def _pagerank(_datasets: Path) -> Measured:
    from tests.benchmarks import pagerank  # builds large graphs with igraph

    report = {size: pagerank.measure(size) for size in pagerank.SIZES}
    return Measured(report=report, checks=pagerank_checks(report))


def _servers(datasets: Path) -> Measured:
    report = asyncio.run(servers.measure(datasets))
    return Measured(report=report, checks=servers.checks(report))


def _snapshots(_datasets: Path) -> Measured:
    report = snapshots.measure()
    return Measured(report=report, checks=snapshots.checks(report))


def _demo(_datasets: Path) -> Measured:
    report = demo.measure()
    return Measured(report=report, checks=demo.checks(report))


def _replacing(_datasets: Path) -> Measured:
    report = asyncio.run(replacing.measure())
    return Measured(report=report, checks=replacing.checks(report))


def _deletion(_datasets: Path) -> Measured:
    report = asyncio.run(deletion.measure())
    return Measured(report=report, checks=deletion.checks(report))


def _beside_ingest(datasets: Path) -> Measured:
    report = asyncio.run(beside_ingest.measure(datasets / MUSIQUE))
    return Measured(report=report, checks=beside_ingest.checks(report))


def _mixed_files(_datasets: Path) -> Measured:
    report = asyncio.run(mixed_files.measure())
    return Measured(report=report, checks=mixed_files.checks(report))


def _long_text(datasets: Path) -> Measured:
    report = asyncio.run(long_text.measure(datasets))
    return Measured(report=report, checks=long_text.checks(report))


def _tiny_files(_datasets: Path) -> Measured:
    report = tiny_files.measure()
    return Measured(report=report, checks=tiny_files.checks(report))


def pagerank_checks(report: Mapping[str, Any]) -> list[Check]:
    """The question sets judge the walk's quality; these tell what it costs beside the exact one."""
    checks = []
    for size, walks in report.items():
        for name in ("reference", "shipped"):
            times, overlap = _PAGERANK_TARGETS[size, name]
            checks.append(figure(f"PageRank, {size}, {name}: ms a question", walks[name]["push_ms"]))
            checks.append(at_least(f"PageRank, {size}, {name}: times igraph", walks[name]["ratio"], times))
            checks.append(
                at_least(f"PageRank, {size}, {name}: exact top 20 found", walks[name]["top20_overlap"], overlap)
            )
    return checks


# (size, damping and ε) → (times faster than igraph's exact one, share of its top 20)
_PAGERANK_TARGETS = {
    ("small", "reference"): (15, 0.99),
    ("large", "reference"): (150, 0.99),
    ("small", "shipped"): (10, 0.95),
    ("large", "shipped"): (100, 0.95),
}


MEASUREMENTS: dict[str, Callable[[Path], Measured]] = {
    "quality": _quality,
    "ranker": _ranker,
    "glued": _glued,
    "long_documents": _long_documents,
    "conversations": _conversations,
    "embedding": _embedding,
    "ingest": _ingest,
    "extraction": _extraction,
    "search": _search,
    "follow": _follow,
    "http": _http,
    "load": _load,
    "ready": _ready,
    "cold": _cold,
    "mapped": _mapped,
    "install": _install,
    "oracle": _oracle,
    "overhead": _overhead,
    "asks": _asks,
    "pagerank": _pagerank,
    "servers": _servers,
    "snapshots": _snapshots,
    "replacing": _replacing,
    "deletion": _deletion,
    "beside_ingest": _beside_ingest,
    "mixed_files": _mixed_files,
    "long_text": _long_text,
    "tiny_files": _tiny_files,
    "demo": _demo,
}

if __name__ == "__main__":
    sys.exit(main())
