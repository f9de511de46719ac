"""Which searchers are compared, and the table that shows them side by side in `docs/benchmarks/searching.md`."""

from collections.abc import Iterator, Mapping
from typing import Any

from evaluation import DEFAULT_SEARCHERS, Interval

__all__ = ["BASELINE", "GLUED_SEARCHERS", "SEARCHERS", "comparison_table"]

SEARCHERS = DEFAULT_SEARCHERS
GLUED_SEARCHERS = ("dense", "fused", "bridged")
BASELINE = "fused"

_COLUMNS = {"R@2": "recall@2", "R@5": "recall@5", "R@10": "recall@10", "all@5": "all_recall@5"}


def comparison_table(reports: Mapping[str, Mapping[str, Any]]) -> str:
    """The reports of `hopweave eval` by run, as markdown: in percent, and the differences in points."""
    difference = f"R@5 beyond `{BASELINE}`, 95 % interval"
    head = ["run", "searcher", *_COLUMNS, difference]
    lines = [head, ["---", "---", *("---:" for _ in (*_COLUMNS, difference))], *_rows(reports)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _rows(reports: Mapping[str, Mapping[str, Any]]) -> Iterator[list[str]]:
    for run, report in reports.items():
        for searcher, scores in report["searchers"].items():
            numbers = [f"{100 * scores[metric]:.1f}" for metric in _COLUMNS.values()]
            yield [run, f"`{searcher}`", *numbers, _difference(scores["difference"])]


def _difference(difference: Mapping[str, Any] | None) -> str:
    """Bold where it does not hold 0; empty for the baseline."""
    if difference is None:
        return ""
    found = Interval(**difference["recall@5"])
    text = f"{100 * found.mean:+.1f} ({100 * found.low:+.1f} to {100 * found.high:+.1f})"
    return f"**{text}**" if found.clear_of_zero else text
