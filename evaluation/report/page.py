"""The report of a comparison of reasoners as one Markdown page, made from rows alone.

The end has questions with their plans as JSON lines, for those who train planners: as rows with scores, or as chat
messages.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from core.ports.reasoning import Support
from core.prompting.prompts import PromptLibrary, use_prompts
from core.strategies import StrategySpec, parse_config, parse_spec
from evaluation.report.aggregates import (
    MODEL_HEADINGS,
    OUTCOMES,
    RIGHT,
    aggregate_answers,
    escape,
    format_code,
    format_number,
    format_percent,
    group_by_strategy,
    list_model_cells,
    make_markdown_table,
)
from evaluation.rows.answer_rows import AnswerRow, StepRow, format_names
from evaluation.rows.scored_answers import ABSTENTION
from evaluation.scores import mean
from reasoning import REASONERS
from reasoning.actions.planning.plan import make_planning_call
from reasoning.plans.dag import MalformedPlan, PlannedNode, parse_dag

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
        states = (
            f"{escape(label)} {'retrieved' if label in found else '**not retrieved**'}" for label in row.supporting
        )
        yield f"- supporting passages: {', '.join(states)}"
    yield from (
        f"- review of step {escape(review.step)}: {review.verdict}, from {escape(review.before) or '(no answer)'}"
        f" to {escape(review.after) or '(no answer)'}"
        for review in row.reviews
    )


def _format_step(step: StepRow, row: AnswerRow) -> list[str]:
    support = step.support if not step.unstated else f"{step.support}: not stated: {escape(step.unstated)}"
    retrieved = f"{len(step.found)} of {len(row.supporting)}" if row.supporting else "–"
    return [escape(step.id), escape(step.question), escape(step.answer) or "–", support, retrieved]


_PLANNER = StrategySpec(name="plan_star")
_WHOLE = "Q0.1"
"""The id of the only node of a plan that does not divide its question."""


class PlanForm(StrEnum):
    """`rows`: a plan with the scores of its answer. `chat`: the messages of a planning call, with the plan as reply."""

    ROWS = "rows"
    CHAT = "chat"


@dataclass(frozen=True, kw_only=True)
class PlanSelection:
    """Which plans are written: of these reasoners (names, or with their options; none: all), whose answers have at
    least this F1.
    """

    form: PlanForm = PlanForm.ROWS
    reasoners: tuple[str, ...] = ()
    min_f1: float = 0.0

    def takes(self, row: AnswerRow) -> bool:
        """Returns whether a row is selected. With a least F1, a question without gold answers is not."""
        named = not self.reasoners or {row.reasoner, parse_spec(row.reasoner).name} & set(self.reasoners)
        return bool(named) and (not self.min_f1 or row.scores.get("f1", 0.0) >= self.min_f1)


_EVERYTHING = PlanSelection()
_OWN_PROMPTS = PromptLibrary()


def build_plan_lines(
    rows: Iterable[AnswerRow], selection: PlanSelection = _EVERYTHING, library: PromptLibrary = _OWN_PROMPTS
) -> tuple[list[str], int]:
    """Returns the lines of the selected plans, and the number of plans that the form cannot express.

    As rows, each planned question has a line with the scores of its answer. As `chat`, a line has `messages`: the
    system's and the user's message of `plan_star`'s planning call, with the prompts of `library`, and the plan as the
    assistant's reply; equal lines are written once. Plans of other reasoners are written as chat if they are graphs
    with tags, as `plan_star` reads them.
    """
    selected = [row for row in rows if selection.takes(row)]
    if selection.form is PlanForm.ROWS:
        return list(_build_rows(selected)), 0
    with use_prompts(library):
        made = [_build_chat(row) for row in selected if row.plan or _is_whole(row)]
    return list(dict.fromkeys(line for line in made if line is not None)), made.count(None)


def _build_rows(rows: Iterable[AnswerRow]) -> Iterator[str]:
    """Yields a line for each planned question. Steps are as they were planned: tags stand where answers of their
    parents are needed.
    """
    for row in rows:
        if row.plan:
            scores = {name: row.scores[name] for name in ("em", "f1", "union_recall") if name in row.scores}
            yield json.dumps(
                {
                    "id": row.question_id,
                    "question": row.question,
                    "plan": [asdict(step) for step in row.plan],
                    "reasoner": row.reasoner,
                    **({"model": format_names(row.models)} if row.models else {}),
                    "support": row.support,
                    **scores,
                },
                ensure_ascii=False,
            )


def _build_chat(row: AnswerRow) -> str | None:
    """Returns the line of a plan; None if `plan_star` could not read it."""
    spec = parse_spec(row.reasoner)
    bounds = parse_config(REASONERS, spec if spec.name == _PLANNER.name else _PLANNER, "reasoner").model_dump()
    max_nodes, max_depth = bounds["max_nodes"], bounds["max_depth"]
    written = [(step.id, step.question) for step in row.plan] or [(_WHOLE, row.question)]
    try:
        nodes = parse_dag(written, max_nodes=max_nodes, max_depth=max_depth, words=row.question)
    except MalformedPlan:
        return None
    call = make_planning_call(row.question, max_nodes=max_nodes, max_depth=max_depth)
    messages = [
        {"role": message.speaker.value, "content": message.content} for message in call.prompt.messages(call.variables)
    ]
    reply = {"role": "assistant", "content": _format_plan(nodes)}
    return json.dumps({"messages": [*messages, reply]}, ensure_ascii=False)


def _format_plan(nodes: Iterable[PlannedNode]) -> str:
    """Returns a plan as the prompt's examples write it."""
    return json.dumps({"nodes": [{"id": node.id, "question": node.question} for node in nodes]}, ensure_ascii=False)


def _is_whole(row: AnswerRow) -> bool:
    """Returns whether the planner left the question undivided. Such a plan is not in the row, but its only step is.

    The first look of `auto` is such a step too, and is no plan.
    """
    return parse_spec(row.reasoner).name == _PLANNER.name and [step.id for step in row.steps] == [_WHOLE]
