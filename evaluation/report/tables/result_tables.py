"""Tables of results for the terminal: for each dataset its index, its searchers and its reasoners."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from evaluation.report.cells import format_count, format_percent, make_table
from evaluation.report.json_report import average_reports, build_report
from evaluation.report.result import Result
from evaluation.report.tables.reasoner_tables import build_reasoner_tables
from evaluation.scores.bootstrap import LEVEL, Interval

__all__ = ["build_tables"]

_SEARCH = {
    "R@2": "recall@2",
    "R@5": "recall@5",
    "R@10": "recall@10",
    "all@5": "all_recall@5",
    "MRR": "mrr",
    "Succ@5": "succ@5",
}
_GRADED = {
    "nDCG@10": "ndcg@10",
    "MAP@100": "map@100",
    "P@5": "precision@5",
    "P@10": "precision@10",
    "R@5": "recall@5",
    "R@10": "recall@10",
    "R@100": "recall@100",
    "MRR": "mrr",
}


def build_tables(results: Sequence[Result]) -> Group:
    """Returns fractions in percent and latencies in milliseconds; several datasets are followed by their average."""
    reports = [build_report([result], None) for result in results]
    parts: list[Text | Table] = []
    for report in reports:
        parts += [Text(_heading(report), style="bold"), *_tables(report)]
    if len(reports) > 1:
        parts += [Text(f"average of {len(reports)} datasets", style="bold"), *_tables(average_reports(reports))]
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
        compared = {"nDCG@10": "ndcg@10"} if _has_grades(report["searchers"]) else {}
        yield from _differences(report["searchers"], {**compared, "R@5": "recall@5"})
    if report["reasoners"]:
        yield from build_reasoner_tables(report["reasoners"])
        yield from _differences(report["reasoners"], {"EM": "em", "F1": "f1"})


def _searchers(searchers: Mapping[str, Mapping[str, Any]]) -> Table:
    measures = _GRADED if _has_grades(searchers) else _SEARCH
    shown = make_table("searcher", [*measures, "p50 ms", "p95 ms", "failed"])
    for name, scores in searchers.items():
        latency = scores.get("latency_ms", {})
        times = [f"{latency[key]:.1f}" if latency else "" for key in ("p50", "p95")]
        percents = (format_percent(scores.get(metric)) for metric in measures.values())
        shown.add_row(Text(name), *percents, *times, format_count(scores["failed"]))
    return shown


def _has_grades(searchers: Mapping[str, Mapping[str, Any]]) -> bool:
    return any(scores.get("ndcg@10") is not None for scores in searchers.values())


def _differences(scored: Mapping[str, Mapping[str, Any]], metrics: Mapping[str, str]) -> Iterator[Table | Text]:
    """Yields the table of differences; nothing for a single searcher or an average."""
    compared = {name: scores["difference"] for name, scores in scored.items() if scores.get("difference")}
    if not compared:
        return
    baseline = next(iter(compared.values()))["to"]
    shown = make_table(f"beyond {baseline}", list(metrics))
    for name, difference in compared.items():
        shown.add_row(Text(name), *(_difference(difference.get(metric)) for metric in metrics.values()))
    yield shown
    yield Text(
        f"The difference to {baseline} in points, with its {LEVEL:.0%} interval by paired bootstrap over the "
        "questions: bold where it does not contain 0, else it may be noise.",
        style="dim",
    )


def _difference(scores: Mapping[str, Any] | None) -> Text:
    if scores is None:
        return Text("–")
    found = Interval(**scores)
    points = f"{100 * found.mean:+.1f} ({100 * found.low:+.1f} to {100 * found.high:+.1f})"
    return Text(points, style="bold" if found.clear_of_zero else "")
