"""The report of a comparison of reasoners as one Markdown page, made from rows alone.

It ends with the worst questions of each strategy, with their traces.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from core.ports.reasoning import Support
from evaluation.report.aggregates import OUTCOMES, RIGHT, aggregate_answers, group_by_strategy
from evaluation.report.cells import (
    MODEL_HEADINGS,
    escape,
    format_code,
    format_number,
    format_percent,
    list_model_cells,
    make_markdown_table,
)
from evaluation.rows.answer_rows import AnswerRow
from evaluation.rows.scored_answers import ABSTENTION
from evaluation.rows.step_rows import StepRow
from evaluation.scores import mean

__all__ = ["build_page", "select_worst"]


_COLUMNS = (
    "strategy", "EM", "F1", "calls", "tokens", "longest prompt", "seconds", "abstained", "needless",
    "EM, answered", "F1, answered", *(support.value for support in Support), "failed",
)  # fmt: skip
_EXPLAINED = (
    "EM, F1 and shares in percent; calls, tokens and seconds are means for a question. The longest prompt is in "
    "tokens. *abstained* counts questions "
    "without an answer, *needless* those of them for which all supporting passages were retrieved. *EM, answered* and "
    "*F1, answered* leave abstentions out. The last columns are the shares of what the answers stand on."
)
_UNANSWERABLE = "Questions that the corpus does not answer: the share on which each strategy abstained, in percent."
_REVIEWED = (
    f"An answer is right if its F1 with the gold answer of its step is {RIGHT:g} or more. A step has the gold answer "
    "of the hop in its place if there are as many steps as hops; otherwise only the last step has one, that of the "
    "question. *unknown* are reviews of the other steps."
)
_PROMPTED = "The longest prompt of each role, in tokens, and its mean number of calls for a question."

_MODELLED = (
    "The model of all roles, and the roles with other settings. Without a temperature, each call has its own, which is "
    "0 except for sampled drafts; without a limit of output tokens, the endpoint decides. Prompts are named by a hash "
    "of their wording."
)
_MODEL_COLUMNS = ("strategy", *MODEL_HEADINGS)

_Strategies = Mapping[str, Sequence[AnswerRow]]


def build_page(datasets: Mapping[str, Sequence[AnswerRow]], worst: int = 5) -> str:
    """Returns the page. `datasets` are the rows of each dataset; `worst` is the number of questions with their traces.

    It has no date and no path, so that the same rows give the same page.
    """
    parts = ["# Reasoners compared"]
    for dataset, rows in datasets.items():
        parts += _describe_dataset(dataset, group_by_strategy(rows), worst)
    return "\n\n".join(parts) + "\n"


def _describe_dataset(dataset: str, strategies: _Strategies, worst: int) -> Iterator[str]:
    scores = {name: aggregate_answers(rows) for name, rows in strategies.items()}
    asked = {row.gold or row.question_id for rows in strategies.values() for row in rows}
    yield f"## {escape(dataset)}: {len(asked)} questions"
    yield from _describe_models(strategies)
    yield "### Cost and quality"
    yield _EXPLAINED
    yield make_markdown_table(_COLUMNS, (_summarise(name, own) for name, own in scores.items()))
    yield "Totals, with failed questions:"
    yield make_markdown_table(
        ("strategy", "calls", "tokens", "seconds"),
        (
            [format_code(name), *(format_number(own["totals"][kind], 0) for kind in ("calls", "tokens", "seconds"))]
            for name, own in scores.items()
        ),
    )
    if any(own["abstention"] is not None for own in scores.values()):
        yield "### Unanswerable questions"
        yield _UNANSWERABLE
        rates = ([format_code(name), format_percent(own["abstention"])] for name, own in scores.items())
        yield make_markdown_table(("strategy", "abstention"), rates)
    yield from _describe_types(strategies)
    yield from _describe_reviews(scores)
    prompts = list(_list_prompts(scores))
    if prompts:
        yield "### Prompts"
        yield _PROMPTED
        yield make_markdown_table(("strategy", "role", "longest prompt", "calls"), prompts, texts=2)
    for name, rows in strategies.items():
        yield from _describe_worst(format_code(name), rows, worst)


def _describe_models(strategies: _Strategies) -> Iterator[str]:
    """Yields the models of each strategy; nothing if no row names a model, as in earlier releases."""
    if not any(rows[0].models for rows in strategies.values()):
        return
    yield "### Models and prompts"
    yield _MODELLED
    yield make_markdown_table(
        _MODEL_COLUMNS,
        (
            [format_code(name), *(format_code(cell) if cell else "–" for cell in cells)]
            for name, rows in strategies.items()
            for cells in list_model_cells(rows[0].models, rows[0].prompt_set)
        ),
        texts=len(_MODEL_COLUMNS),
    )


def _summarise(name: str, scores: Mapping[str, Any]) -> list[str]:
    needless = scores["abstained_with_all_supporting"]
    tokens = scores["prompt_tokens_per_query"] + scores["completion_tokens_per_query"]
    longest = max((prompt["longest_prompt"] or 0 for prompt in scores["prompts"].values()), default=0) or None
    return [
        format_code(name),
        *(format_percent(scores[metric]) for metric in ("em", "f1")),
        format_number(scores["calls_per_query"], 1),
        format_number(tokens, 0),
        format_number(longest, 0),
        format_number(scores["seconds_per_query"], 1),
        str(scores["abstained"]),
        "–" if needless is None else str(needless),
        *(format_percent(scores["answered"][metric]) for metric in ("em", "f1")),
        *(format_percent(scores["supports"][support.value]) for support in Support),
        str(scores["failed"]),
    ]


def _describe_types(strategies: _Strategies) -> Iterator[str]:
    """Yields F1 by type of question, if the dataset has types."""
    every = [row for rows in strategies.values() for row in rows if row.type and row.answerable]
    types = sorted({row.type for row in every})
    if not types:
        return
    yield "### F1 by type of question"
    counts = {type: len({row.gold or row.question_id for row in every if row.type == type}) for type in types}
    yield make_markdown_table(
        ("strategy", *(f"{escape(type)} ({counts[type]})" for type in types)),
        (
            [
                format_code(name),
                *(format_percent(_mean_f1([row for row in rows if row.type == type])) for type in types),
            ]
            for name, rows in strategies.items()
        ),
    )


def _mean_f1(rows: Sequence[AnswerRow]) -> float | None:
    scores = [row.scores["f1"] for row in rows if "f1" in row.scores]
    return mean(scores) if scores else None


def _describe_reviews(scores: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    reviewed = {name: own["reviews"] for name, own in scores.items() if own["reviews"]}
    if not reviewed:
        return
    columns = [(verdict, outcome) for verdict, outcomes in OUTCOMES.items() for outcome in (*outcomes, "unknown")]
    yield "### Reviews against gold answers"
    yield _REVIEWED
    yield make_markdown_table(
        ("strategy", *(f"{verdict}, {outcome}" for verdict, outcome in columns)),
        (
            [format_code(name), *(str(own[verdict][outcome]) for verdict, outcome in columns)]
            for name, own in reviewed.items()
        ),
    )


def _list_prompts(scores: Mapping[str, Mapping[str, Any]]) -> Iterator[list[str]]:
    for name, own in scores.items():
        for role, prompt in own["prompts"].items():
            longest = format_number(prompt["longest_prompt"], 0)
            yield [format_code(name), format_code(role), longest, format_number(prompt["calls_per_query"], 2)]


_WORST = (
    "First those that had every supporting passage, and among them those whose answer is the best supported: there the "
    "reasoner failed, not the search."
)


def _describe_worst(name: str, rows: Sequence[AnswerRow], most: int) -> Iterator[str]:
    """Yields the heading and the questions; nothing if no question went wrong."""
    worst = select_worst(rows, most)
    if not worst:
        return
    yield f"### The worst questions of {name}"
    yield _WORST
    for row in worst:
        yield f"#### {escape(row.question)}"
        yield "\n".join(_list_facts(row))
        if row.steps:
            headings = ("step", "question", "answer", "support", "retrieved")
            yield make_markdown_table(headings, (_format_step(step, row) for step in row.steps), texts=5)


def select_worst(rows: Sequence[AnswerRow], most: int) -> list[AnswerRow]:
    """Returns the questions with the lowest scores, the most instructive first; none that is right.

    A question that is not answerable is wrong if it got an answer.
    """
    wrong = [row for row in rows if _score(row) < 1.0]
    return sorted(wrong, key=lambda row: (_score(row), -row.scores.get("union_recall", 0.0), -_rank(row)))[:most]


def _score(row: AnswerRow) -> float:
    return row.scores["f1"] if row.answerable else row.scores[ABSTENTION]


def _rank(row: AnswerRow) -> int:
    return Support(row.support).rank


def _list_facts(row: AnswerRow) -> Iterator[str]:
    yield f"- question {format_code(row.question_id)}" + (f", {escape(row.type)}" if row.type else "")
    gold = " / ".join(map(escape, row.gold_answers)) if row.answerable else "(the corpus has no answer)"
    yield f"- gold: {gold}"
    if row.error is not None:
        yield f"- failed: {escape(row.error)}"
    else:
        yield f"- {'abstained' if row.abstained else 'answer'}: {escape(row.answer)} ({row.support})"
    if row.note:
        yield f"- note: {escape(row.note)}"
    yield from (f"- note of the trace: {escape(note)}" for note in row.notes)
    if row.supporting:
        found = {label for step in row.steps for label in step.found}
        states = (f"{escape(one)} {'retrieved' if one in found else '**not retrieved**'}" for one in row.supporting)
        yield f"- supporting passages: {', '.join(states)}"
    yield from (
        f"- review of step {escape(one.step)}: {one.verdict}, from {escape(one.before) or '(no answer)'}"
        f" to {escape(one.after) or '(no answer)'}"
        for one in row.reviews
    )


def _format_step(step: StepRow, row: AnswerRow) -> list[str]:
    support = step.support if not step.unstated else f"{step.support}: not stated: {escape(step.unstated)}"
    retrieved = f"{len(step.found)} of {len(row.supporting)}" if row.supporting else "–"
    return [escape(step.id), escape(step.question), escape(step.answer) or "–", support, retrieved]
