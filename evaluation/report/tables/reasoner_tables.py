"""Tables of reasoners: answer quality, cost, depth of plans, and judgements."""

from collections.abc import Iterator, Mapping
from typing import Any

from rich.table import Table
from rich.text import Text

from core.ports.reasoning import Support
from evaluation.judging.judgement_scores import FAITHFULNESS, RELEVANCE
from evaluation.report.aggregates.answer_scores import DEEPEST
from evaluation.report.aggregates.review_scores import OUTCOMES
from evaluation.report.cells import (
    format_count,
    format_number,
    format_percent,
    list_model_cells,
    make_model_table,
    make_table,
)
from evaluation.rows.model_rows import ModelRow, format_names

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


def build_reasoner_tables(reasoners: Scores) -> Iterator[Table | Text]:
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
    for name, found in judged.items():
        cells = []
        for kind, scores in kinds.items():
            cells += [
                format_number(found[kind]["score"], 1),
                *(_share(found[kind]["shares"][str(one)]) for one in scores),
            ]
        shown.add_row(Text(name), *cells, format_count(found["judged"]), format_count(found["failed"]))
    return shown


def _judges(judged: Scores) -> Iterator[Text]:
    """Yields the names of the models that judged; nothing if no row names any, as in rows of earlier releases."""
    names = (format_names([ModelRow(**model) for model in found.get("models", ())]) for found in judged.values())
    named = list(dict.fromkeys(filter(None, names)))
    if named:
        yield Text(f"judged by {' or '.join(named)}")


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
