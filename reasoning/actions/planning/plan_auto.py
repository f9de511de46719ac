"""The action `plan_auto`: one call that corrects a question, finds its intents, and plans its searches as a DAG."""

from dataclasses import dataclass

from pydantic import BaseModel, Field, model_validator

from core.prompting.fences import neutral
from core.prompting.prompts import load_prompt
from reasoning.engine.calls import ModelCall
from reasoning.engine.session import Session
from reasoning.plans.dag import PlannedNode, find_sinks, parse_dag

__all__ = ["MAX_DEPTH", "MAX_NODES", "AutoPlan", "plan_auto"]

MAX_NODES = 12
MAX_DEPTH = 6


@dataclass(frozen=True, kw_only=True)
class AutoPlan:
    """`question` is the corrected question, `goals` are the ids of the nodes that answer it, in order: those that the
    intents name, and every sink.
    """

    question: str
    needs_retrieval: bool
    nodes: tuple[PlannedNode, ...]
    goals: tuple[str, ...]


class _Step(BaseModel):
    id: str
    question: str = Field(max_length=4000)


class _Intent(BaseModel):
    question: str
    step: str


class _Plan(BaseModel):
    question: str = Field(min_length=1, max_length=20_000)
    needs_retrieval: bool = True
    steps: list[_Step]
    intents: list[_Intent] = []

    @model_validator(mode="after")
    def _check(self) -> "_Plan":
        self.parse_nodes()
        return self

    def parse_nodes(self) -> tuple[PlannedNode, ...]:
        written = [(step.id, step.question) for step in self.steps]
        if not self.needs_retrieval:
            written = written or [("Q1.1", self.question)]
        return parse_dag(written, max_nodes=MAX_NODES, max_depth=MAX_DEPTH, words=self.question)


async def plan_auto(session: Session, question: str, *, known: str = "") -> AutoPlan:
    """Plans a question. `known` says what an earlier plan found and where it failed, for another plan.

    A plan that cannot be carried out (cyclic, empty, too large, tags that name nothing) is sent back to the model once;
    raises `ModelFailed` if the second is not better.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.planning", "plan_auto"),
        question=question,
        variables={"question": neutral(question), "known": known},
        conversation=True,
    )
    reply, _ = await session.complete_structured(call, _Plan)
    nodes = reply.parse_nodes()
    ids = {node.id for node in nodes}
    intents = (intent.step for intent in reply.intents if intent.step in ids)
    goals = dict.fromkeys((*intents, *(node.id for node in find_sinks(nodes))))
    return AutoPlan(
        question=reply.question.strip() or question,
        needs_retrieval=reply.needs_retrieval,
        nodes=nodes,
        goals=tuple(goals),
    )
