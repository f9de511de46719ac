"""The JSON report, and the path of its rows."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from evaluation.indexing import IndexReport
from evaluation.report.aggregates.comparison import Comparison
from evaluation.report.aggregates.mean_scores import average_scores
from evaluation.report.aggregates.search_scores import SearchScores
from evaluation.report.result import Result

__all__ = ["average_reports", "build_report", "format_report", "rows_path"]


def build_report(results: Sequence[Result], rows: Path | None) -> dict[str, Any]:
    """Returns the object of one dataset, or a list of several with their average."""
    reports = [_dataset(result, rows) for result in results]
    if len(reports) == 1:
        return reports[0]
    return {"datasets": reports, "average": average_reports(reports), "rows": str(rows) if rows else None}


def average_reports(reports: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Returns the plain mean over datasets, in which a small dataset counts as much as a large one."""
    return {
        kind: {name: average_scores([report[kind][name] for report in reports]) for name in reports[0][kind]}
        for kind in ("searchers", "reasoners")
    }


def rows_path(report: Path) -> Path:
    """Returns the path of a report's rows: `scores.rows.jsonl` for `scores.json`."""
    return report.with_name(f"{report.stem}.rows.jsonl")


def format_report(results: Sequence[Result], rows: Path | None) -> str:
    """Returns the text of the report. The rows are written before, so that a report never names rows that do not
    exist.
    """
    return json.dumps(build_report(results, rows), indent=2, ensure_ascii=False) + "\n"


def _dataset(result: Result, rows: Path | None) -> dict[str, Any]:
    searches, answers = result.search_comparisons, result.answer_comparisons
    return {
        "dataset": result.dataset,
        "questions": result.questions,
        "passages": result.passages,
        "corpus": result.corpus,
        "index": None if result.index is None else _index(result.index),
        "seen_in_training": [asdict(one) for one in result.seen],
        "searchers": {
            name: {**_scores(scores), "difference": _difference(searches.get(name))}
            for name, scores in result.searchers.items()
        },
        "reasoners": {
            name: {**scores, "difference": _difference(answers.get(name))} for name, scores in result.reasoners.items()
        },
        "rows": str(rows) if rows else None,
    }


def _index(report: IndexReport) -> dict[str, Any]:
    """Returns the object of an index; `seconds` is null if nothing was new, since an existing index is not a
    fast one.
    """
    return {
        "seconds": report.seconds,
        "passages_per_second": report.passages_per_second,
        "peak_rss_mb": report.peak_rss_mb,
        "indexed": report.indexed,
        "unchanged": report.unchanged,
    }


def _scores(scores: SearchScores) -> dict[str, Any]:
    return {
        **scores.means,
        "latency_ms": dict(scores.latency_ms),
        "without_embedding_ms": dict(scores.without_embedding_ms),
        "stages_ms": dict(scores.stages_ms),
        "failed": scores.failed,
    }


def _difference(comparison: Comparison | None) -> dict[str, Any] | None:
    """Returns the object of a comparison; null for the baseline."""
    if comparison is None:
        return None
    intervals = {metric: asdict(found) for metric, found in comparison.differences.items()}
    return {"to": comparison.baseline, **intervals}
