"""Results side by side in a terminal: for each dataset how it was indexed, its searchers, its reasoners."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from evaluation.bootstrap import LEVEL, Interval
from evaluation.experiment import Result
from evaluation.report import average, report_of

__all__ = ["table_of"]

_SEARCH = {
    "R@2": "recall@2",
    "R@5": "recall@5",
    "R@10": "recall@10",
    "all@5": "all_recall@5",
    "MRR": "mrr",
    "Succ@5": "succ@5",
}
_ANSWER = {
    "EM": "em",
    "F1": "f1",
    "Acc": "acc",
    "Succ": "succ",
    "recall": "union_recall",
    "precision": "union_precision",
}


def table_of(results: Sequence[Result]) -> Group:
    """Fractions in percent, latencies in milliseconds; several datasets have their average at the end."""
    reports = [report_of([result], None) for result in results]
    parts: list[Text | Table] = []
    for report in reports:
        parts += [Text(_heading(report), style="bold"), *_tables(report)]
    if len(reports) > 1:
        parts += [Text(f"average of {len(reports)} datasets", style="bold"), *_tables(average(reports))]
    return Group(*parts)


def _heading(report: Mapping[str, Any]) -> str:
    asked = f"{report['dataset']} ({report['passages']} passages, {report['questions']} questions)"
    index = report["index"]
    if index is None or index["seconds"] is None:
        return f"{asked}: corpus {report['corpus']} was there already"
    speed = f"indexed in {index['seconds']:.1f} s, {index['passages_per_second']:.0f} passages/s"
    memory = "" if index["peak_rss_mb"] is None else f", worker's peak {index['peak_rss_mb']:.0f} MB"
    return f"{asked}: {speed}{memory}"


def _tables(report: Mapping[str, Any]) -> Iterator[Table | Text]:
    if report["searchers"]:
        yield _searchers(report["searchers"])
        yield from _differences(report["searchers"], {"R@5": "recall@5"})
    if report["reasoners"]:
        yield _reasoners(report["reasoners"])
        yield from _differences(report["reasoners"], {"EM": "em", "F1": "f1"})


def _searchers(searchers: Mapping[str, Mapping[str, Any]]) -> Table:
    table = _table("searcher", [*_SEARCH, "p50 ms", "p95 ms", "failed"])
    for name, scores in searchers.items():
        latency = scores.get("latency_ms", {})
        times = [f"{latency[key]:.1f}" if latency else "" for key in ("p50", "p95")]
        table.add_row(Text(name), *(_percent(scores[metric]) for metric in _SEARCH.values()), *times, _failed(scores))
    return table


def _reasoners(reasoners: Mapping[str, Mapping[str, Any]]) -> Table:
    table = _table("reasoner", [*_ANSWER, "seconds", "abstained", "failed"])
    for name, scores in reasoners.items():
        counts = [f"{scores['seconds_per_query']:.2f}", f"{scores['abstained']:g}", _failed(scores)]
        table.add_row(Text(name), *(_percent(scores[metric]) for metric in _ANSWER.values()), *counts)
    return table


def _differences(scored: Mapping[str, Mapping[str, Any]], metrics: Mapping[str, str]) -> Iterator[Table | Text]:
    """Nothing where nothing is compared: of one searcher alone, of an average."""
    compared = {name: scores["difference"] for name, scores in scored.items() if scores.get("difference")}
    if not compared:
        return
    baseline = next(iter(compared.values()))["to"]
    table = _table(f"beyond {baseline}", list(metrics))
    for name, difference in compared.items():
        table.add_row(Text(name), *(_difference(Interval(**difference[metric])) for metric in metrics.values()))
    yield table
    yield Text(
        f"The difference to {baseline} in points, with its {LEVEL:.0%} interval by paired bootstrap over the "
        "questions: bold where it does not hold 0, else it may be noise.",
        style="dim",
    )


def _difference(found: Interval) -> Text:
    points = f"{100 * found.mean:+.1f} ({100 * found.low:+.1f} to {100 * found.high:+.1f})"
    return Text(points, style="bold" if found.clear_of_zero else "")


def _table(kind: str, numbers: Sequence[str]) -> Table:
    table = Table(box=None, header_style="dim", pad_edge=False)
    table.add_column(Text(kind))
    for name in numbers:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _percent(fraction: float) -> str:
    return f"{100 * fraction:.1f}"


def _failed(scores: Mapping[str, Any]) -> str:
    return f"{scores['failed']:g}"
