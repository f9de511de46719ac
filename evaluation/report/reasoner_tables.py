"""Tables of reasoners: answer quality, cost, depth of plans, and judgements."""

from collections.abc import Iterator, Mapping
from typing import Any

from rich.table import Table
from rich.text import Text

from evaluation.judging.judgement_scores import FAITHFULNESS, RELEVANCE
from evaluation.report.answer_scores import DEEPEST
from evaluation.report.cells import format_count, format_number, format_percent, make_table

__all__ = ["build_reasoner_tables"]

_ANSWER = {
    "EM": "em",
    "F1": "f1",
    "Acc": "acc",
    "Succ": "succ",
    "found": "succ_retrieved",
    "recall": "union_recall",
    "precision": "union_precision",
}
_COST = {
    "seconds": ("seconds_per_query", 2),
    "calls": ("calls_per_query", 1),
    "cached": ("cached_per_query", 1),
    "prompt": ("prompt_tokens_per_query", 0),
    "completion": ("completion_tokens_per_query", 0),
}

Scores = Mapping[str, Mapping[str, Any]]


def build_reasoner_tables(reasoners: Scores) -> Iterator[Table | Text]:
    """Yields the tables. `found` is `succ_retrieved`; calls and tokens are per question; `d1` is the share of plans of
    depth 1.
    """
    yield _answers(reasoners)
    yield _costs(reasoners)
    judged = {name: scores["judge"] for name, scores in reasoners.items() if "judge" in scores}
    if judged:
        yield _judged(judged)
        yield from _gains(judged)


def _answers(reasoners: Scores) -> Table:
    shown = make_table("reasoner", [*_ANSWER, "abstained", "failed"])
    for name, scores in reasoners.items():
        counts = [format_count(scores["abstained"]), format_count(scores["failed"])]
        shown.add_row(Text(name), *(format_percent(scores[metric]) for metric in _ANSWER.values()), *counts)
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
    for name, found in judged.items():
        cells = []
        for kind, scores in kinds.items():
            cells += [
                format_number(found[kind]["score"], 1),
                *(_share(found[kind]["shares"][str(one)]) for one in scores),
            ]
        shown.add_row(Text(name), *cells, format_count(found["judged"]), format_count(found["failed"]))
    return shown


def _gains(judged: Scores) -> Iterator[Table]:
    depths = sorted({depth for found in judged.values() for depth in found["information_gain"]}, key=int)
    if not depths:
        return
    shown = make_table("information gain", [f"d{depth}" for depth in depths])
    for name, found in judged.items():
        gains = found["information_gain"]
        shown.add_row(Text(name), *(format_number(gains.get(depth), 2) for depth in depths))
    yield shown


def _share(fraction: float) -> str:
    return f"{100 * fraction:.0f}%"
