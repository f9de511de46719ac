"""The action `plan`: plans the steps to an answer, top-down and without examples.

The source is PAR RAG (arXiv 2504.16787), section 3.
"""

from typing import Literal

from pydantic import BaseModel, field_validator

from core.prompting.fences import neutral
from core.prompting.prompts import load_prompt
from reasoning.engine.calls import ModelCall
from reasoning.engine.session import Session

__all__ = ["PlanItem", "plan"]


class PlanItem(BaseModel):  # its docstring is part of the schema that models are sent
    """A step; its question may refer to what earlier steps find out."""

    thought: str = ""
    question: str
    action: Literal["Retrieve", "Answer"]

    @field_validator("question")
    @classmethod
    def _check(cls, question: str) -> str:
        if not question.strip():
            raise ValueError("a step has no question")
        return question.strip()

    @field_validator("action", mode="before")
    @classmethod
    def _fold_case(cls, action: object) -> object:
        return action.strip().capitalize() if isinstance(action, str) else action


class _Plan(BaseModel):
    steps: list[PlanItem]

    @field_validator("steps")
    @classmethod
    def _check(cls, steps: list[PlanItem]) -> list[PlanItem]:
        if not steps:
            raise ValueError("the plan is empty; it needs at least one step")
        return steps


async def plan(session: Session, question: str) -> tuple[PlanItem, ...]:
    """Returns the steps in order, at least one. The call is shown no passage.

    Raises `ModelFailed` if the reply cannot be read.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.planning", "plan"),
        question=question,
        variables={"question": neutral(question)},
    )
    reply, _ = await session.complete_structured(call, _Plan)
    return tuple(reply.steps)
