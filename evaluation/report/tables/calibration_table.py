"""The result of a calibration: the curve, the chosen threshold, and what it does on questions held out."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from evaluation.report.cells import format_percent, make_table
from evaluation.scores.separation import Separation, ThresholdPoint, choose_threshold, compute_curve, hold_out

__all__ = ["build_calibration_report", "build_calibration_tables"]

_SHOWN = 2
"""Every other hundredth is shown."""


def build_calibration_report(sets: Mapping[str, Separation], model: str, seed: int) -> dict[str, Any]:
    """Returns the chosen threshold with its curve. `held_out` has thresholds chosen without the questions that they
    are judged by: on random halves, and on the other datasets.
    """
    pooled = _pool(sets.values())
    chosen = choose_threshold(pooled)
    halves = hold_out(pooled, seed)
    held_out = {"a random half": [(choose_threshold(halves[one]).threshold, halves[1 - one]) for one in (0, 1)]}
    for name, own in sets.items():
        others = [other for other_name, other in sets.items() if other_name != name]
        if others:
            held_out[name] = [(choose_threshold(_pool(others)).threshold, own)]
    return {
        "embedding_model": model,
        "threshold": chosen.threshold,
        "answerable": len(pooled.answerable),
        "unanswerable": len(pooled.unanswerable),
        "datasets": {name: _point(own.at(chosen.threshold)) for name, own in sets.items()},
        "held_out": {
            name: [_point(values.at(threshold)) for threshold, values in parts] for name, parts in held_out.items()
        },
        "curve": [_point(point) for point in compute_curve(pooled)],
    }


def build_calibration_tables(report: Mapping[str, Any]) -> Group:
    return Group(*_tables(report))


def _tables(report: Mapping[str, Any]) -> Iterator[Table | Text]:
    columns = ["threshold", "answered", "abstained", "balanced"]
    curve = make_table("all questions", columns)
    for point in report["curve"]:
        chosen = point["threshold"] == report["threshold"]
        if chosen or round(100 * point["threshold"]) % _SHOWN == 0:
            curve.add_row("chosen" if chosen else "", *_cells(point), style="bold" if chosen else "")
    yield curve
    own = make_table("by dataset", columns)
    for name, point in report["datasets"].items():
        own.add_row(Text(name), *_cells(point))
    yield own
    held_out = make_table("held out", columns)
    for name, points in report["held_out"].items():
        for point in points:
            held_out.add_row(Text(name), *_cells(point))
    yield held_out
    yield Text(
        f"The share of {report['answerable']} answerable questions that is answered, and of {report['unanswerable']} "
        "others that is not, in percent. In the last table, a threshold was chosen without the questions of its row. "
        f"Use extractive:min_probability={report['threshold']:g}, for {report['embedding_model']}.",
        style="dim",
    )


def _cells(point: Mapping[str, float]) -> list[str]:
    shares = (format_percent(point[name]) for name in ("answered", "abstained", "balanced_accuracy"))
    return [f"{point['threshold']:.2f}", *shares]


def _point(point: ThresholdPoint) -> dict[str, float]:
    return {
        "threshold": point.threshold,
        "answered": point.answered,
        "abstained": point.abstained,
        "balanced_accuracy": point.balanced_accuracy,
    }


def _pool(sets: Iterable[Separation]) -> Separation:
    pooled = Separation()
    for one in sets:
        pooled = pooled.plus(one)
    return pooled
