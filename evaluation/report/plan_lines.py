"""Questions with their plans as JSON lines, for those who train planners: as rows with scores, or as chat messages."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from enum import StrEnum

from core.prompting.prompts import PromptLibrary, use_prompts
from core.strategies import StrategySpec, parse_config, parse_spec
from evaluation.rows.answer_rows import AnswerRow, format_names
from reasoning import REASONERS
from reasoning.actions.planning.plan import make_planning_call
from reasoning.plans.dag import MalformedPlan, PlannedNode, parse_dag

__all__ = ["PlanForm", "PlanSelection", "build_plan_lines"]

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
    messages = [{"role": one.speaker.value, "content": one.content} for one in call.prompt.messages(call.variables)]
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
