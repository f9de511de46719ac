"""The result of an experiment on one dataset: its rows, and the scores that are computed from them; its JSON report.

Thresholds for CI (`--fail-under`) come last: `recall@5=.7`, or of one searcher `fused/recall@5=.7`.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from core.errors import InvalidInput
from evaluation.indexing import IndexReport
from evaluation.judging import JudgementRow, aggregate_judgements
from evaluation.ranker.seen import SeenQuestions
from evaluation.report.aggregates import (
    ANSWER_COMPARED,
    SEARCH_COMPARED,
    Comparison,
    SearchScores,
    aggregate_answers,
    aggregate_searches,
    average_scores,
    compare,
)
from evaluation.rows.answer_rows import AnswerRow
from evaluation.rows.rows_file import ANSWER, JUDGEMENT, SEARCH
from evaluation.rows.scored_answers import ANSWER_METRICS
from evaluation.rows.search_rows import SEARCH_METRICS, SearchRow
from evaluation.scores import mean


@dataclass(frozen=True, kw_only=True)
class Result:
    """All rows of one dataset, and the scores computed from them. `seen` are the questions that a ranker was trained
    on.
    """

    dataset: str
    questions: int
    passages: int
    corpus: str
    index: IndexReport | None
    searches: tuple[SearchRow, ...]
    answers: tuple[AnswerRow, ...]
    judgements: tuple[JudgementRow, ...] = ()
    baseline: str | None = None
    seen: tuple[SeenQuestions, ...] = ()

    @property
    def searchers(self) -> Mapping[str, SearchScores]:
        return {name: aggregate_searches(rows) for name, rows in self._by_searcher.items()}

    @property
    def reasoners(self) -> Mapping[str, Mapping[str, Any]]:
        """The scores of each reasoner, with the models, prompts and fingerprint of its rows, and with `judge` if its
        answers were judged.
        """
        judged = {name: list(rows) for name, rows in groupby(self.judgements, key=lambda row: row.reasoner)}
        return {
            name: {
                **aggregate_answers(rows),
                **({"judge": aggregate_judgements(judged[name])} if name in judged else {}),
                "models": [asdict(model) for model in rows[0].models],
                "prompt_set": rows[0].prompt_set,
                "fingerprint": rows[0].fingerprint,
            }
            for name, rows in self._by_reasoner.items()
        }

    def models_of(self, searcher: str) -> Mapping[str, Any]:
        """Returns the models and the mean cost of a searcher that asks a model; empty for others."""
        rows = self._by_searcher[searcher]
        if not rows[0].models:
            return {}
        costs = [asdict(row.cost) for row in rows]
        means = {f"{name}_per_query": mean([float(cost[name]) for cost in costs]) for name in costs[0]}
        return {"models": [asdict(model) for model in rows[0].models], **means}

    @property
    def search_comparisons(self) -> Mapping[str, Comparison]:
        """The comparison of each searcher with the baseline."""
        return compare(self._by_searcher, SEARCH_COMPARED, self.baseline)

    @property
    def answer_comparisons(self) -> Mapping[str, Comparison]:
        """The comparison of each reasoner with the baseline."""
        return compare(self._by_reasoner, ANSWER_COMPARED, self.baseline)

    def rows(self) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
        """Yields kind, dataset and fields of each row, as they are written to disk."""
        yield from ((SEARCH, self.dataset, asdict(row)) for row in self.searches)
        yield from ((ANSWER, self.dataset, row.to_json()) for row in self.answers)
        yield from ((JUDGEMENT, self.dataset, row.to_json()) for row in self.judgements)

    @property
    def unmeasured(self) -> Mapping[str, str]:
        """The searchers and reasoners of which every question failed, each with its first error."""
        errors = {
            name: [row.error for row in rows]
            for by_name in (self._by_searcher, self._by_reasoner)
            for name, rows in by_name.items()
        }
        return {name: first for name, (first, *others) in errors.items() if first is not None and None not in others}

    @property
    def _by_searcher(self) -> dict[str, list[SearchRow]]:
        return {name: list(rows) for name, rows in groupby(self.searches, key=lambda row: row.searcher)}

    @property
    def _by_reasoner(self) -> dict[str, list[AnswerRow]]:
        return {name: list(rows) for name, rows in groupby(self.answers, key=lambda row: row.reasoner)}


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
        "seen_in_training": [asdict(seen) for seen in result.seen],
        "searchers": {
            name: {**_scores(scores), **result.models_of(name), "difference": _difference(searches.get(name))}
            for name, scores in result.searchers.items()
        },
        "reasoners": {
            name: {**scores, "difference": _difference(answers.get(name))} for name, scores in result.reasoners.items()
        },
        "rows": str(rows) if rows else None,
    }


def _index(report: IndexReport) -> dict[str, Any]:
    """Returns the object of an index; `seconds` is null if nothing was new, since an existing index says nothing about
    speed.
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
    intervals = {metric: asdict(interval) for metric, interval in comparison.differences.items()}
    return {"to": comparison.baseline, **intervals}


_METRICS = SEARCH_METRICS.union(ANSWER_METRICS)


@dataclass(frozen=True, kw_only=True)
class Threshold:
    """The least value of a metric. `of` is the searcher or reasoner; empty: each that has the metric."""

    of: str
    metric: str
    least: float


def parse_threshold(text: str) -> Threshold:
    """Returns the threshold of `[NAME/]METRIC=VALUE`; raises `InvalidInput` if it is wrong."""
    target, _, value = text.rpartition("=")
    of, _, metric = target.rpartition("/")
    if metric not in _METRICS:
        known = ", ".join(sorted(_METRICS))
        raise InvalidInput(f"--fail-under {text!r}: there is no metric {metric!r}; there are: {known}")
    try:
        least = float(value)
    except ValueError as error:
        raise InvalidInput(f"--fail-under {text!r}: {value!r} is not a number; write recall@5=.7") from error
    if not 0 <= least <= 1:
        raise InvalidInput(f"--fail-under {text!r}: metrics are fractions, so the limit is between 0 and 1")
    return Threshold(of=of, metric=metric, least=least)


def find_shortfalls(thresholds: Sequence[Threshold], reports: Sequence[Mapping[str, Any]]) -> list[str]:
    """Returns one sentence for each value below a threshold; each dataset counts by itself.

    Raises `InvalidInput` for a threshold whose metric was not measured, since it would always hold.
    """
    failures = []
    for threshold in thresholds:
        values = [value for report in reports for value in _values(threshold, report)]
        if not values:
            what = f"{threshold.of}/{threshold.metric}" if threshold.of else threshold.metric
            raise InvalidInput(f"--fail-under {what}: nothing that was run has this metric")
        failures += [
            f"{place} is {value:.3f}, below {threshold.least:g}" for place, value in values if value < threshold.least
        ]
    return failures


def _values(threshold: Threshold, report: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    kind = "searchers" if threshold.metric in SEARCH_METRICS else "reasoners"
    for name, scores in report[kind].items():
        value = scores.get(threshold.metric)
        if threshold.of in ("", name) and value is not None:
            yield f"{report['dataset']}: {name} {threshold.metric}", value
