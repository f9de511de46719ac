"""Plan the steps to an answer, top-down and without examples (PAR RAG, section 3)."""

from typing import Literal

from pydantic import BaseModel, field_validator

from core.prompting.fences import neutral
from core.prompting.prompts import load_prompt
from reasoning.engine.session import Call, Session

__all__ = ["PlanItem", "plan"]


class PlanItem(BaseModel):
    """A step; its question may refer to what earlier steps find out."""

    thought: str = ""
    question: str
    action: Literal["Retrieve", "Answer"]

    @field_validator("question")
    @classmethod
    def _asks(cls, question: str) -> str:
        if not question.strip():
            raise ValueError("a step has no question")
        return question.strip()

    @field_validator("action", mode="before")
    @classmethod
    def _in_any_case(cls, action: object) -> object:
        return action.strip().capitalize() if isinstance(action, str) else action


class _Plan(BaseModel):
    steps: list[PlanItem]

    @field_validator("steps")
    @classmethod
    def _not_empty(cls, steps: list[PlanItem]) -> list[PlanItem]:
        if not steps:
            raise ValueError("the plan is empty; it needs at least one step")
        return steps


async def plan(session: Session, question: str) -> tuple[PlanItem, ...]:
    """The steps in order, at least one. No passage is shown to this call."""
    call = Call(
        prompt=load_prompt("reasoning.actions.planning", "plan"),
        question=question,
        variables={"question": neutral(question)},
    )
    planned, _ = await session.structured(call, _Plan)
    return tuple(planned.steps)
