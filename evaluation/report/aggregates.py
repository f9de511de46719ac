"""Scores over all rows of a strategy, their means over datasets, and comparisons with a baseline; pure.

Cells of tables come last: how numbers are formatted, and text that no markup in it can change.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from rich.table import Table
from rich.text import Text

from core.ports.reasoning import Support
from core.text.shortening import shorten
from evaluation.rows.answer_rows import AnswerRow, ModelRow, ReviewRow, format_names, format_parameters
from evaluation.rows.scored_answers import ANSWER_METRICS
from evaluation.rows.search_rows import SEARCH_MEASURES, SearchRow
from evaluation.scores import Interval, bootstrap_interval, mean, mean_of_known, percentile

DEEPEST = 6
"""Deeper plans are counted with plans of this depth."""

_COSTS = ("calls", "cached", "prompt_tokens", "completion_tokens")


def aggregate_answers(rows: Sequence[AnswerRow]) -> dict[str, Any]:
    """Returns the scores of one reasoner's rows.

    Scores are means over all questions that have them, with zeros for failed questions (None: no question has the
    score). Scores in `answered` are means over the answerable questions that got an answer. Seconds, calls, tokens,
    depths and supports leave out failed questions; totals count all questions.
    """
    asked = [row for row in rows if row.error is None]
    given = [row for row in asked if row.answerable and not row.abstained]
    return {
        **{name: mean_of_known([row.scores.get(name) for row in rows]) for name in ANSWER_METRICS},
        "answered": {
            "questions": len(given),
            **{name: mean([row.scores[name] for row in given]) if given else None for name in ("em", "f1")},
        },
        "supports": {
            support.value: mean([float(row.support == support) for row in asked]) if asked else None
            for support in Support
        },
        "depths": _depths(asked),
        "seconds_per_query": mean([row.seconds for row in asked]),
        **{f"{name}_per_query": mean([getattr(row.cost, name) for row in asked]) for name in _COSTS},
        "totals": {
            "calls": sum(row.cost.calls for row in rows),
            "tokens": sum(row.cost.prompt_tokens + row.cost.completion_tokens for row in rows),
            "seconds": sum(row.seconds for row in rows),
        },
        "abstained": sum(row.abstained for row in rows),
        "abstained_with_all_supporting": _count_needless(rows),
        "failed": len(rows) - len(asked),
        "reviews": count_verdicts([review for row in rows for review in row.reviews]),
        "prompts": _summarise_prompts(asked),
    }


def _count_needless(rows: Sequence[AnswerRow]) -> int | None:
    """Returns how often it abstained although all supporting passages were retrieved; None if none are known."""
    known = [row for row in rows if "union_recall" in row.scores]
    return sum(row.abstained and row.scores["union_recall"] == 1.0 for row in known) if known else None


def _depths(rows: Sequence[AnswerRow]) -> Mapping[str, float]:
    """Returns the share of plans of each depth; keys are texts, as in JSON."""
    depths = [min(row.depth, DEEPEST) for row in rows]
    return {str(depth): mean([float(reached == depth) for reached in depths]) for depth in range(DEEPEST + 1)}


RIGHT = 0.5
"""The F1 with the gold answer from which the answer of a step counts as right."""

OUTCOMES = {
    "PASS": ("right", "wrong"),
    "REVISED": ("repaired", "broke", "neither"),
    "UNCONFIDENT": ("right", "wrong"),
}
_UNKNOWN = "unknown"


def count_verdicts(reviews: Sequence[ReviewRow]) -> Mapping[str, Mapping[str, int]]:
    """Returns how many reviews of each verdict had each outcome; nothing without reviews.

    PASS and UNCONFIDENT have as outcome whether the reviewed answer was right. REVISED repaired a wrong answer, broke a
    right one, or did neither. `unknown` are reviews of steps that have no gold answer.
    """
    if not reviews:
        return {}
    counts = {verdict: dict.fromkeys((*outcomes, _UNKNOWN), 0) for verdict, outcomes in OUTCOMES.items()}
    for review in reviews:
        counts[review.verdict][_judge(review)] += 1
    return counts


def _judge(review: ReviewRow) -> str:
    if review.before_f1 is None or review.after_f1 is None:
        return _UNKNOWN
    before, after = review.before_f1 >= RIGHT, review.after_f1 >= RIGHT
    if review.verdict != "REVISED":
        return "right" if before else "wrong"
    if before == after:
        return "neither"
    return "repaired" if after else "broke"


def _summarise_prompts(rows: Sequence[AnswerRow]) -> Mapping[str, Mapping[str, Any]]:
    """Returns the mean calls of each role for a question, and its longest prompt in tokens (None: all were cached)."""
    roles = dict.fromkeys(prompt.role for row in rows for prompt in row.prompts)
    summary = {}
    for role in roles:
        own = [prompt for row in rows for prompt in row.prompts if prompt.role == role]
        longest = max(prompt.longest for prompt in own)
        summary[role] = {
            "calls_per_query": sum(prompt.calls for prompt in own) / len(rows),
            "longest_prompt": longest or None,
        }
    return summary


@dataclass(frozen=True, kw_only=True)
class SearchScores:
    """A searcher's means over all questions; latencies in milliseconds, of the questions that did not fail."""

    means: Mapping[str, float | None]
    """None: what it compares with is unknown for all questions. Measures of grades are there only if there are some."""
    latency_ms: Mapping[str, float]
    without_embedding_ms: Mapping[str, float]
    stages_ms: Mapping[str, float] = field(default_factory=dict)
    """The median of each stage of the trace, over the questions that have it."""
    failed: int = 0


def aggregate_searches(rows: Sequence[SearchRow]) -> SearchScores:
    """Returns the scores of one searcher's rows."""
    answered = [row for row in rows if row.error is None]
    measures = dict.fromkeys((*SEARCH_MEASURES, *(name for row in rows for name in row.scores)))
    stages = dict.fromkeys(stage for row in answered for stage in row.stages)
    return SearchScores(
        means={name: mean_of_known([row.scores.get(name) for row in rows]) for name in measures},
        latency_ms=_latency([row.seconds for row in answered]),
        without_embedding_ms=_latency([row.seconds_without_embedding for row in answered]),
        stages_ms={
            stage: 1000 * percentile([row.stages[stage] for row in answered if stage in row.stages], 0.5)
            for stage in stages
        },
        failed=len(rows) - len(answered),
    )


def _latency(seconds: Sequence[float]) -> dict[str, float]:
    return {"p50": 1000 * percentile(seconds, 0.5), "p95": 1000 * percentile(seconds, 0.95)}


_LEFT_OUT = frozenset(
    {
        "difference",
        "latency_ms",
        "without_embedding_ms",
        "stages_ms",
        "fingerprint",
        "models",
        "prompt_set",
        "reference_from",
    }
)


def average_scores(scores: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Returns the mean of each number over the datasets that have it (None: none has), also within nested objects.

    Latencies, intervals, fingerprints, models, prompts and the kind of references are left out, since their mean over
    two corpora has no meaning.
    """
    names = dict.fromkeys(name for report in scores for name in report if name not in _LEFT_OUT)
    return {name: _mean([report[name] for report in scores if name in report]) for name in names}


def _mean(values: Sequence[Any]) -> Any:
    if any(isinstance(value, Mapping) for value in values):
        return average_scores([value for value in values if isinstance(value, Mapping)])
    return mean_of_known([None if value is None else float(value) for value in values])


SEARCH_COMPARED = ("recall@5", "ndcg@10")
ANSWER_COMPARED = ("em", "f1")

_SEED = 0


class ScoredRow(Protocol):
    """A row of a searcher or a reasoner."""

    @property
    def question_id(self) -> str: ...

    @property
    def scores(self) -> Mapping[str, float]: ...


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """The differences to the baseline, by metric; a positive difference is better than the baseline."""

    baseline: str
    differences: Mapping[str, Interval]


def compare(
    rows: Mapping[str, Sequence[ScoredRow]], metrics: Sequence[str], baseline: str | None
) -> dict[str, Comparison]:
    """Returns the comparison of each name but the baseline; if the baseline is not among `rows`, it is the first.

    A failed question counts with its scores of 0, as in the means; a question without a metric does not count for it.
    """
    if not rows:
        return {}
    base = baseline if baseline is not None and baseline in rows else next(iter(rows))
    reference = {row.question_id: row.scores for row in rows[base]}
    return {
        name: Comparison(baseline=base, differences=dict(_differences(own, reference, metrics)))
        for name, own in rows.items()
        if name != base
    }


def _differences(
    rows: Sequence[ScoredRow], reference: Mapping[str, Mapping[str, float]], metrics: Sequence[str]
) -> Iterator[tuple[str, Interval]]:
    for metric in metrics:
        pairs = [(row.scores, reference[row.question_id]) for row in rows if metric in row.scores]
        if pairs:
            yield metric, bootstrap_interval([own[metric] - base[metric] for own, base in pairs], seed=_SEED)


@dataclass(frozen=True, kw_only=True)
class _Run:
    """What tells one run of a reasoner from the others."""

    reasoner: str
    unsupported: str
    models: tuple[ModelRow, ...]
    prompt_set: str
    fingerprint: str

    @property
    def facets(self) -> tuple[str, ...]:
        """What a name may say of the run, the most telling first."""
        prompts = self.prompt_set and f"prompts {self.prompt_set}"
        return self.unsupported, format_names(self.models), format_parameters(self.models), prompts


def group_by_strategy(rows: Sequence[AnswerRow]) -> Mapping[str, Sequence[AnswerRow]]:
    """Returns the rows of each reasoner, in the order of their first row.

    Rows of different models, parameters or prompts are different runs. A reasoner that was run in several ways is named
    with what its runs differ in (what is permitted below `stated`, the models, their parameters, the prompts), and with
    a number where that does not tell them apart.
    """
    runs: dict[_Run, list[AnswerRow]] = {}
    for row in rows:
        runs.setdefault(_identify(row), []).append(row)
    named: dict[str, Sequence[AnswerRow]] = {}
    for run, own in runs.items():
        others = [other.facets for other in runs if other.reasoner == run.reasoner]
        told = [
            facet for facet, values in zip(run.facets, zip(*others, strict=True), strict=True) if set(values) != {facet}
        ]
        name = ", ".join(filter(None, [run.reasoner, *told]))
        place = 1 + sum(taken == name or taken.startswith(f"{name} (run ") for taken in named)
        named[name if place == 1 else f"{name} (run {place})"] = own
    return named


def _identify(row: AnswerRow) -> _Run:
    # The kind of a server is not always told, and so makes no run: the fingerprint knows the address.
    models = tuple(replace(model, endpoint="") for model in row.models)
    return _Run(
        reasoner=row.reasoner,
        unsupported=row.unsupported,
        models=models,
        prompt_set=row.prompt_set,
        fingerprint=row.fingerprint,
    )


MODEL_HEADINGS = ("role", "model", "endpoint", "temperature", "output tokens", "profile", "prompts")

_NO_VALUE = "–"


def make_table(kind: str, numbers: Sequence[str]) -> Table:
    """Returns a table with a column of names under `kind`, and a column for each number."""
    made = Table(box=None, header_style="dim", pad_edge=False)
    made.add_column(Text(kind))
    for name in numbers:
        made.add_column(name, justify="right", no_wrap=True)
    return made


def make_model_table() -> Table:
    """Returns a table with the columns of `list_model_cells`, whose names of reasoners and models may be folded."""
    made = Table(box=None, header_style="dim", pad_edge=False)
    made.add_column(Text("models"), overflow="fold", min_width=14)
    for name in MODEL_HEADINGS:
        made.add_column(name, overflow="fold")
    return made


def format_percent(fraction: float | None) -> str:
    return _NO_VALUE if fraction is None else f"{100 * fraction:.1f}"


def format_number(value: float | None, digits: int) -> str:
    return _NO_VALUE if value is None else f"{value:,.{digits}f}"


def format_count(count: float) -> str:
    """Returns a whole number as such, and the average of several with its decimals."""
    return f"{count:g}"


def list_model_cells(models: Sequence[ModelRow], prompt_set: str) -> Iterator[list[str]]:
    """Yields the cells under `MODEL_HEADINGS` of each model; '' is not set. Without a model there is one row."""
    for model in models:
        temperature = "" if model.temperature is None else f"{model.temperature:g}"
        tokens = "" if model.max_output_tokens is None else str(model.max_output_tokens)
        prompts = "" if model.role else prompt_set
        yield [model.role or "all", model.name, model.endpoint, temperature, tokens, model.profile, prompts]
    if not models:
        yield [""] * len(MODEL_HEADINGS)


_MARKUP = re.compile(r"([\\`*_\[\]<>|#~&$])")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
"""Control characters, and characters that change the direction of writing and so what a line seems to say."""
_LONGEST = 400


def escape(text: str, longest: int = _LONGEST) -> str:
    """Returns the text on one line, cut to its first characters, with its markup escaped."""
    return _MARKUP.sub(r"\\\1", _CONTROL.sub("\ufffd", shorten(text, longest)))


def format_code(text: str) -> str:
    """Returns the text as code on one line. A backtick or a column of a table in it would end the code."""
    return f"`{_CONTROL.sub(chr(0xFFFD), ' '.join(text.split())).replace('`', chr(39)).replace('|', '¦')}`"


def make_markdown_table(headings: Sequence[str], rows: Iterable[Sequence[str]], texts: int = 1) -> str:
    """Returns a table; its first `texts` columns are text, the others numbers."""
    lines = [_line(headings), _line([*["---"] * texts, *["---:"] * (len(headings) - texts)])]
    return "\n".join([*lines, *map(_line, rows)])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
