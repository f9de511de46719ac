"""All measurements, one after the other: `python -m tests.benchmarks --datasets DIR [--only NAME]...`.

Prints one JSON object and a table of what should be reached, and keeps both in `.bench/`. A figure is worth something
on an idle machine only; the report tells what it was.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.benchmarks import demo, http, ingest, quality, search
from tests.benchmarks.check import Check, at_least, at_most, figure, markdown
from tests.benchmarks.machine import describe

OUTPUT = Path(__file__).resolve().parents[2] / ".bench"
MUSIQUE = "musique-train-100"

Measured = tuple[Any, list[Check]]


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
    report, checks = run(arguments.only or list(MEASUREMENTS), arguments.datasets)
    print(json.dumps(report, indent=2, ensure_ascii=False), markdown(checks), sep="\n\n")
    return 0 if all(check.reached for check in checks) else 1


def run(names: list[str], datasets: Path) -> tuple[dict[str, Any], list[Check]]:
    """Measure one after the other; what was measured is kept at once, whatever becomes of the next."""
    report: dict[str, Any] = {"machine": describe(), "measured": {}, "checks": []}
    checks: list[Check] = []
    for name in names:
        began = time.perf_counter()
        sys.stderr.write(f"{name} …\n")
        measured, found = MEASUREMENTS[name](datasets)
        report["measured"][name] = {"took_seconds": time.perf_counter() - began, **measured}
        checks += found
        report["checks"] = [{**vars(check), "reached": check.reached} for check in checks]
        _keep(report, checks)
    return report, checks


def _keep(report: dict[str, Any], checks: list[Check]) -> None:
    OUTPUT.mkdir(exist_ok=True)
    (OUTPUT / "results.json").write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    (OUTPUT / "results.md").write_text(markdown(checks) + "\n", encoding="utf-8")


def _quality(datasets: Path) -> Measured:
    report = asyncio.run(quality.measure(datasets))
    return report, quality.checks(report)


def _embedding(datasets: Path) -> Measured:
    """In a process of its own: torch's number of threads is global, and ours would hold sentence-transformers back."""
    command = [sys.executable, "-m", "tests.benchmarks.embedding", "--dataset", str(datasets / MUSIQUE)]
    ran = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    report = json.loads(ran.stdout)
    return report, embedding_checks(report)


def _ingest(datasets: Path) -> Measured:
    report = asyncio.run(ingest.measure(datasets / MUSIQUE))
    return report, ingest.checks(report)


def _search(datasets: Path) -> Measured:
    report = asyncio.run(search.measure(datasets / MUSIQUE))
    return report, search.checks(report)


def _http(datasets: Path) -> Measured:
    report = asyncio.run(http.measure(datasets / MUSIQUE))
    return report, http.checks(report)


def _pagerank(_datasets: Path) -> Measured:
    from tests.benchmarks import pagerank  # builds large graphs with igraph

    report = {size: pagerank.measure(size) for size in pagerank.SIZES}
    return report, pagerank_checks(report)


def _demo(_datasets: Path) -> Measured:
    report = demo.measure()
    return report, demo.checks(report)


def embedding_checks(report: Mapping[str, Any]) -> list[Check]:
    lost = report["sentence_transformers"]["recall_at_5"] - report["ours"]["recall_at_5"]
    return [
        at_least("embedding: times sentence-transformers as it comes", report["ratio"], 2.5),
        at_most("embedding: R@5 lost by it", lost, 0.01),
    ]


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
    "embedding": _embedding,
    "ingest": _ingest,
    "search": _search,
    "http": _http,
    "pagerank": _pagerank,
    "demo": _demo,
}

if __name__ == "__main__":
    sys.exit(main())
