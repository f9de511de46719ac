"""Tables of results for the terminal.

For each dataset there are its index, its searchers and its reasoners, with answer quality, cost, depth of plans, and
judgements. A calibration has its curve, the chosen threshold, and what it does on questions held out; a trained ranker
has its gains.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from core.ports.reasoning import Support
from evaluation.judging.judge import FAITHFULNESS, RELEVANCE
from evaluation.ranker.training import TrainedRanker
from evaluation.report.aggregates import (
    DEEPEST,
    OUTCOMES,
    format_count,
    format_number,
    format_percent,
    list_model_cells,
    make_model_table,
    make_table,
)
from evaluation.report.result import Result, average_reports, build_report
from evaluation.rows.answer_rows import ModelRow, format_names
from evaluation.scores import LEVEL, Interval, Separation, ThresholdPoint, choose_threshold, compute_curve, hold_out

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
        yield from _build_reasoner_tables(report["reasoners"])
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


_ANSWER = {
    "EM": "em",
    "F1": "f1",
    "Acc": "acc",
    "Succ": "succ",
    "found": "succ_retrieved",
    "recall": "union_recall",
    "precision": "union_precision",
}
_SENTENCES = {
    "quote precision": "sentence_precision",
    "quote recall": "sentence_recall",
    "passage precision": "retrieved_sentence_precision",
    "passage recall": "retrieved_sentence_recall",
}
_COST = {
    "seconds": ("seconds_per_query", 2),
    "calls": ("calls_per_query", 1),
    "cached": ("cached_per_query", 1),
    "prompt": ("prompt_tokens_per_query", 0),
    "completion": ("completion_tokens_per_query", 0),
}

Scores = Mapping[str, Mapping[str, Any]]


def _build_reasoner_tables(reasoners: Scores) -> Iterator[Table | Text]:
    """Yields the tables. `found` is `succ_retrieved`; calls and tokens are per question; `d1` is the share of plans of
    depth 1. `needless` counts abstentions with all supporting passages retrieved.
    """
    if any(scores.get("models") for scores in reasoners.values()):
        yield _models(reasoners)
    yield _answers(reasoners)
    yield _given(reasoners)
    yield _supports(reasoners)
    if any(scores[metric] is not None for scores in reasoners.values() for metric in _SENTENCES.values()):
        yield _sentences(reasoners)
    yield _costs(reasoners)
    yield _totals(reasoners)
    if any(scores["reviews"] for scores in reasoners.values()):
        yield _verdicts(reasoners)
    judged = {name: scores["judge"] for name, scores in reasoners.items() if "judge" in scores}
    if judged:
        yield _judged(judged)
        yield from _judges(judged)
        yield from _gains(judged)


def _models(reasoners: Scores) -> Table:
    shown = make_model_table()
    for name, scores in reasoners.items():
        models = [ModelRow(**model) for model in scores["models"]]
        for cells in list_model_cells(models, scores["prompt_set"]):
            shown.add_row(Text(name), *(Text(cell or "–") for cell in cells))
    return shown


def _answers(reasoners: Scores) -> Table:
    shown = make_table("reasoner", [*_ANSWER, "failed"])
    for name, scores in reasoners.items():
        percents = (format_percent(scores[metric]) for metric in _ANSWER.values())
        shown.add_row(Text(name), *percents, format_count(scores["failed"]))
    return shown


def _given(reasoners: Scores) -> Table:
    """EM and F1 are means over the answered questions; `abstention` is a share of the unanswerable questions."""
    foreign = any(scores["abstention"] is not None for scores in reasoners.values())
    shown = make_table("if answered", ["EM", "F1", "abstained", "needless", *(["abstention"] if foreign else [])])
    for name, scores in reasoners.items():
        given = (format_percent(scores["answered"][metric]) for metric in ("em", "f1"))
        needless = scores["abstained_with_all_supporting"]
        counts = [format_count(scores["abstained"]), "–" if needless is None else format_count(needless)]
        shown.add_row(Text(name), *given, *counts, *([format_percent(scores["abstention"])] if foreign else []))
    return shown


def _supports(reasoners: Scores) -> Table:
    supports = [support.value for support in Support]
    shown = make_table("support", supports)
    for name, scores in reasoners.items():
        shown.add_row(Text(name), *(format_percent(scores["supports"][support]) for support in supports))
    return shown


def _sentences(reasoners: Scores) -> Table:
    shown = make_table("sentences", list(_SENTENCES))
    for name, scores in reasoners.items():
        shown.add_row(Text(name), *(format_percent(scores[metric]) for metric in _SENTENCES.values()))
    return shown


def _totals(reasoners: Scores) -> Table:
    shown = make_table("in total", ["seconds", "calls", "tokens"])
    for name, scores in reasoners.items():
        totals = scores["totals"]
        shown.add_row(Text(name), *(format_number(totals[kind], 0) for kind in ("seconds", "calls", "tokens")))
    return shown


def _verdicts(reasoners: Scores) -> Table:
    """Counts of reviews; reviews of steps without a gold answer are in no column."""
    columns = {f"{verdict} {outcome}": (verdict, outcome) for verdict, own in OUTCOMES.items() for outcome in own}
    shown = make_table("reviews", [heading.replace(" ", "\n") for heading in columns])
    for name, scores in reasoners.items():
        if scores["reviews"]:
            counts = (scores["reviews"][verdict][outcome] for verdict, outcome in columns.values())
            shown.add_row(Text(name), *map(format_count, counts))
    return shown


def _costs(reasoners: Scores) -> Table:
    depths = [str(depth) for depth in range(DEEPEST + 1)]
    shown = make_table("a question", [*_COST, *(f"d{depth}" for depth in depths)])
    for name, scores in reasoners.items():
        costs = [format_number(scores[metric], digits) for metric, digits in _COST.values()]
        shown.add_row(Text(name), *costs, *(_share(scores["depths"][depth]) for depth in depths))
    return shown


def _judged(judged: Scores) -> Table:
    kinds = {"relevance": RELEVANCE, "faithfulness": FAITHFULNESS}
    columns = [column for kind, scores in kinds.items() for column in (kind, *map(str, scores))]
    shown = make_table("judged", [*columns, "judged", "failed"])
    for name, scored in judged.items():
        cells = []
        for kind, scores in kinds.items():
            cells += [
                format_number(scored[kind]["score"], 1),
                *(_share(scored[kind]["shares"][str(score)]) for score in scores),
            ]
        shown.add_row(Text(name), *cells, format_count(scored["judged"]), format_count(scored["failed"]))
    return shown


def _judges(judged: Scores) -> Iterator[Text]:
    """Yields the names of the models that judged; nothing if no row names any, as in rows of earlier releases."""
    names = (format_names([ModelRow(**model) for model in scored.get("models", ())]) for scored in judged.values())
    named = list(dict.fromkeys(filter(None, names)))
    if named:
        yield Text(f"judged by {' or '.join(named)}")


def _gains(judged: Scores) -> Iterator[Table]:
    depths = sorted({depth for scored in judged.values() for depth in scored["information_gain"]}, key=int)
    if not depths:
        return
    shown = make_table("information gain", [f"d{depth}" for depth in depths])
    for name, scored in judged.items():
        gains = scored["information_gain"]
        shown.add_row(Text(name), *(format_number(gains.get(depth), 2) for depth in depths))
    yield shown


def _share(fraction: float) -> str:
    return f"{100 * fraction:.0f}%"


_SHOWN = 2
"""Every other hundredth is shown."""


def build_calibration_report(sets: Mapping[str, Separation], model: str, seed: int) -> dict[str, Any]:
    """Returns the chosen threshold with its curve. `held_out` has thresholds chosen without the questions that they
    are judged by: on random halves, and on the other datasets.
    """
    pooled = _pool(sets.values())
    chosen = choose_threshold(pooled)
    halves = hold_out(pooled, seed)
    held_out = {"a random half": [(choose_threshold(halves[half]).threshold, halves[1 - half]) for half in (0, 1)]}
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
    return Group(*_calibration_tables(report))


def _calibration_tables(report: Mapping[str, Any]) -> Iterator[Table | Text]:
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
    for separation in sets:
        pooled = pooled.plus(separation)
    return pooled


_NOTE = (
    "The ranker by cross-validation over all sets: each question is ranked by weights that have not seen it. "
    f"The difference has its {LEVEL:.0%} interval by paired bootstrap: bold where it does not contain 0."
)


def build_ranker_table(trained: TrainedRanker) -> Group:
    """Returns R@5 by dataset in percent, and differences in points; with several datasets the last row is all
    questions.
    """
    several = len(trained.judgements) > 1
    table = Table(box=None, header_style="dim", pad_edge=False, collapse_padding=True)
    table.add_column("R@5", no_wrap=True)
    for name in ("questions", "stage 1", "ranker", "difference", *(("trained on\nthe others",) if several else ())):
        table.add_column(name, justify="right", no_wrap=True)
    for gain in trained.judgements:
        others = [] if gain.transferred is None else [_percent(gain.transferred)]
        shares = [_percent(gain.stage1), _percent(gain.ranker)]
        table.add_row(Text(gain.dataset), str(gain.questions), *shares, _points(gain.difference), *others)
    if several:
        asked = sum(gain.questions for gain in trained.judgements)
        before = sum(gain.questions * gain.stage1 for gain in trained.judgements) / asked
        after = sum(gain.questions * gain.ranker for gain in trained.judgements) / asked
        shares = [_percent(before), _percent(after)]
        table.add_row("all questions", str(asked), *shares, _points(trained.difference), "")
    return Group(table, Text(_NOTE, style="dim"))


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


def _points(difference: Interval) -> Text:
    points = f"{100 * difference.mean:+.1f} ({100 * difference.low:+.1f} to {100 * difference.high:+.1f})"
    return Text(points, style="bold" if difference.clear_of_zero else "")
