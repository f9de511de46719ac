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
from typing import Any, Protocol

from tests.benchmarks import (
    asks,
    conversations,
    corpus_forms,
    demo,
    distractors,
    embedding,
    extraction,
    follow,
    glued,
    http,
    ingest,
    load_bearing,
    long_documents,
    million,
    oracle,
    overhead,
    page,
    quality,
    ranker,
    search,
    servers,
    snapshots,
    vectors,
)
from tests.benchmarks.check import Check, at_least, describe, figure, markdown
from tests.benchmarks.comparison import comparison_table
from tests.benchmarks.documents import (
    beside_ingest,
    deletion,
    fair_queue,
    long_text,
    mixed_files,
    replacing,
    tiny_files,
)
from tests.benchmarks.operation import cold, growth, install, load, mapped, ready, revocation

OUTPUT = Path(__file__).resolve().parents[2] / ".bench"
MUSIQUE = "musique-train-100"


@dataclass(frozen=True, kw_only=True)
class Measured:
    """`table` is what `docs/benchmarks/` shows beside the checks."""

    report: Mapping[str, Any]
    checks: list[Check]
    table: str = ""


def main() -> int:
    """Returns 1 if something that was measured is not reached."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks")
    parser.add_argument("--datasets", type=Path, required=True, help="the folder of the question sets")
    parser.add_argument(
        "--only", action="append", choices=list(MEASUREMENTS), help="repeatable; else all that take minutes"
    )
    arguments = parser.parse_args()
    if not (arguments.datasets / MUSIQUE).is_dir():
        parser.error(
            f"{arguments.datasets} holds no {MUSIQUE}; name the folder with --datasets, or DATASETS=… for make"
        )
    report, checks, tables = run(
        arguments.only or [name for name in MEASUREMENTS if name not in HOURS], arguments.datasets
    )
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


class Measurement(Protocol):
    """A module that measures, and tells what should be reached. `measure` may be a coroutine function.

    It takes the folder of all question sets, that of MuSiQue, or nothing.
    """

    @property
    def measure(self) -> Callable[..., Any]: ...

    @property
    def checks(self) -> Callable[[Any], list[Check]]: ...


Table = Callable[[Any], str]


def _measure(module: Measurement, table: Table | None, *arguments: Path) -> Measured:
    measured = module.measure(*arguments)
    report = asyncio.run(measured) if asyncio.iscoroutine(measured) else measured
    return Measured(report=report, checks=module.checks(report), table="" if table is None else table(report))


def _on_sets(module: Measurement, table: Table | None = None) -> Callable[[Path], Measured]:
    return lambda datasets: _measure(module, table, datasets)


def _on_musique(module: Measurement) -> Callable[[Path], Measured]:
    return lambda datasets: _measure(module, None, datasets / MUSIQUE)


def _alone(module: Measurement) -> Callable[[Path], Measured]:
    return lambda _: _measure(module, None)


def _long_documents(_datasets: Path) -> Measured:
    try:
        report = asyncio.run(long_documents.measure(OUTPUT / "long_documents"))
    except long_documents.DocumentsMissing as error:
        sys.stderr.write(f"long_documents: {error}\n")
        return Measured(report={"missing": str(error)}, checks=[at_least("long documents: all fetched", 0, 1)])
    return Measured(report=report, checks=long_documents.checks(report), table=long_documents.table(report))


def _distractors(datasets: Path) -> Measured:
    report = asyncio.run(distractors.measure(datasets, OUTPUT / "distractors"))
    return Measured(report=report, checks=distractors.checks(report), table=distractors.table(report))


def _embedding(datasets: Path) -> Measured:
    """In a process of its own: torch's number of threads is global, and ours would hold sentence-transformers back."""
    command = [sys.executable, "-m", "tests.benchmarks.embedding", "--dataset", str(datasets / MUSIQUE)]
    ran = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    report = json.loads(ran.stdout)
    return Measured(report=report, checks=embedding.checks(report))


def _pagerank(_datasets: Path) -> Measured:
    from tests.benchmarks import pagerank  # builds large graphs with igraph

    report = {size: pagerank.measure(size) for size in pagerank.SIZES}
    return Measured(report=report, checks=pagerank_checks(report))


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
    "quality": _on_sets(quality, comparison_table),
    "ranker": _on_sets(ranker),
    "corpus_forms": _on_sets(corpus_forms),
    "glued": _on_sets(glued, comparison_table),
    "long_documents": _long_documents,
    "distractors": _distractors,
    "conversations": _on_sets(conversations, conversations.table),
    "embedding": _embedding,
    "ingest": _on_musique(ingest),
    "extraction": _on_sets(extraction),
    "search": _on_musique(search),
    "follow": _on_sets(follow),
    "http": _on_musique(http),
    "load": _on_musique(load),
    "ready": _on_musique(ready),
    "cold": _on_musique(cold),
    "mapped": _alone(mapped),
    "growth": _alone(growth),
    "install": _alone(install),
    "oracle": _on_sets(oracle, oracle.table),
    "load_bearing": _on_sets(load_bearing),
    "overhead": _on_sets(overhead),
    "asks": _on_musique(asks),
    "pagerank": _pagerank,
    "servers": _on_sets(servers),
    "snapshots": _alone(snapshots),
    "vectors": _alone(vectors),
    "replacing": _alone(replacing),
    "deletion": _alone(deletion),
    "beside_ingest": _on_musique(beside_ingest),
    "fair_queue": _on_sets(fair_queue),
    "mixed_files": _alone(mixed_files),
    "long_text": _on_sets(long_text),
    "tiny_files": _alone(tiny_files),
    "demo": _alone(demo),
    "page": _alone(page),
    "revocation": _alone(revocation),
    "million": _alone(million),
}

HOURS = ("million",)
"""What takes hours, and is measured only when it is named."""

if __name__ == "__main__":
    sys.exit(main())
