"""One call that cleans a question, finds what it asks, and plans the searches that lead there as a DAG."""

from dataclasses import dataclass

from pydantic import BaseModel, Field, model_validator

from core.prompting.fences import neutral
from core.prompting.prompts import load_prompt
from reasoning.engine.session import Call, Session
from reasoning.plans.dag import PlannedNode, parse_dag, sinks

__all__ = ["MAX_DEPTH", "MAX_NODES", "AutoPlan", "plan_auto"]

MAX_NODES = 12
MAX_DEPTH = 6


@dataclass(frozen=True, kw_only=True)
class AutoPlan:
    """`goals` are the ids of the nodes that settle what is asked, in order: those of the intents, and every sink."""

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
    def _can_be_carried_out(self) -> "_Plan":
        self.nodes()
        return self

    def nodes(self) -> tuple[PlannedNode, ...]:
        written = [(step.id, step.question) for step in self.steps]
        if not self.needs_retrieval:
            written = written or [("Q1.1", self.question)]
        return parse_dag(written, max_nodes=MAX_NODES, max_depth=MAX_DEPTH, words=self.question)


async def plan_auto(session: Session, question: str, *, known: str = "") -> AutoPlan:
    """`known` says what an earlier plan has found and where it failed, for a plan that goes another way.

    A plan that cannot be carried out (cyclic, empty, too large, tags that name nothing) is told back once.
    """
    call = Call(
        prompt=load_prompt("reasoning.actions.planning", "plan_auto"),
        question=question,
        variables={"question": neutral(question), "known": known},
        conversation=True,
    )
    said, _ = await session.structured(call, _Plan)
    nodes = said.nodes()
    there = {node.id for node in nodes}
    intents = (intent.step for intent in said.intents if intent.step in there)
    goals = dict.fromkeys((*intents, *(node.id for node in sinks(nodes))))
    return AutoPlan(
        question=said.question.strip() or question,
        needs_retrieval=said.needs_retrieval,
        nodes=nodes,
        goals=tuple(goals),
    )
