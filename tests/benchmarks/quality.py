"""Retrieval quality on the two question sets: each searcher, more entities, and questions in lower case."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from evaluation import Experiment, build_report, run_experiment
from tests.benchmarks.check import Check, at_least, at_most, figure
from tests.benchmarks.comparison import BASELINE, SEARCHERS
from tests.benchmarks.workshop import silent, workshop

__all__ = ["checks", "measure"]

_ALL = Experiment(searchers=SEARCHERS, baseline=BASELINE)
_RUNS = {
    "musique": ("musique-train-100", _ALL),
    "musique, lower case": ("musique-train-100", replace(_ALL, lowercase=True)),
    "musique, pattern+given": ("musique-train-100", replace(_ALL, extractor="pattern+given")),
    "hotpotqa": ("hotpotqa-train-100", _ALL),
    "hotpotqa, lower case": ("hotpotqa-train-100", replace(_ALL, lowercase=True)),
}


async def measure(datasets: Path) -> dict[str, Any]:
    """The reports of `hopweave eval`, by run."""
    reports = {}
    async with workshop() as shop:
        for name, (folder, experiment) in _RUNS.items():
            result = await run_experiment(shop.container, shop.supervision, datasets / folder, experiment, silent)
            reports[name] = build_report([result], None)
    return reports


def checks(report: dict[str, Any]) -> list[Check]:
    def recall(run: str, searcher: str) -> float:
        return float(report[run]["searchers"][searcher]["recall@5"])

    def lost(run: str, searcher: str) -> float:
        return recall(run, searcher) - recall(f"{run}, lower case", searcher)

    return [
        at_least("R@5 MuSiQue, dense", recall("musique", "dense"), 0.61),
        at_least("R@5 MuSiQue, sparse", recall("musique", "sparse"), 0.50),
        figure("R@5 MuSiQue, graph, `pattern`", recall("musique", "graph")),
        at_least("R@5 MuSiQue, fused, `pattern`", recall("musique", "fused"), 0.74),
        at_least("R@5 MuSiQue, fused, `pattern+given`", recall("musique, pattern+given", "fused"), 0.75),
        figure("R@5 MuSiQue, bridged as shipped, which has seen these questions", recall("musique", "bridged")),
        at_least("R@5 HotpotQA, dense", recall("hotpotqa", "dense"), 0.78),
        figure("R@5 HotpotQA, sparse", recall("hotpotqa", "sparse")),
        figure("R@5 HotpotQA, graph", recall("hotpotqa", "graph")),
        at_least("R@5 HotpotQA, fused", recall("hotpotqa", "fused"), 0.875),
        figure("R@5 HotpotQA, bridged as shipped, which has seen these questions", recall("hotpotqa", "bridged")),
        at_most("R@5 lost in lower case, MuSiQue, fused", lost("musique", "fused"), 0.03),
        at_most("R@5 lost in lower case, HotpotQA, fused", lost("hotpotqa", "fused"), 0.03),
    ]
