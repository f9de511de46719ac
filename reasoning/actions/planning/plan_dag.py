"""The action `plan_dag`: plans a question as a graph of sub-questions, with examples.

The source is Plan*RAG (arXiv 2410.20753), section 3.
"""

from dataclasses import dataclass
from typing import ClassVar, Self

from pydantic import BaseModel, model_validator

from core.prompting.fences import neutral
from core.prompting.prompts import load_prompt
from reasoning.engine.calls import ModelCall
from reasoning.engine.session import Session
from reasoning.plans.dag import PlannedNode, parse_dag

__all__ = ["make_planning_call", "plan_dag"]


class _Node(BaseModel):
    id: str
    question: str


@dataclass(frozen=True, kw_only=True)
class _Bounds:
    max_nodes: int
    max_depth: int
    words: str


class _Written(BaseModel):  # its docstring is part of the schema that models may be sent
    """A plan as it is written. A subclass says how large it may be, and the words of the question that it is for."""

    bounds: ClassVar[_Bounds]
    nodes: list[_Node]

    @model_validator(mode="after")
    def _check(self) -> Self:
        self.parse_nodes()
        return self

    def parse_nodes(self) -> tuple[PlannedNode, ...]:
        written = [(node.id, node.question) for node in self.nodes]
        bounds = self.bounds
        return parse_dag(written, max_nodes=bounds.max_nodes, max_depth=bounds.max_depth, words=bounds.words)


async def plan_dag(session: Session, question: str, *, max_nodes: int, max_depth: int) -> tuple[PlannedNode, ...]:
    """Returns the nodes by depth and position. The call is shown no passage.

    A plan that cannot be carried out is sent back to the model once; raises `ModelFailed` if the second is not better.
    """
    call = make_planning_call(question, max_nodes=max_nodes, max_depth=max_depth)

    class Plan(_Written):
        bounds = _Bounds(max_nodes=max_nodes, max_depth=max_depth, words=question)

    reply, _ = await session.complete_structured(call, Plan)
    return reply.parse_nodes()


def make_planning_call(question: str, *, max_nodes: int, max_depth: int) -> ModelCall:
    """Returns the call that plans a question; planners are trained on its messages, too."""
    return ModelCall(
        prompt=load_prompt("reasoning.actions.planning", "plan_dag"),
        question=question,
        variables={"question": neutral(question), "max_nodes": str(max_nodes), "max_depth": str(max_depth)},
    )
