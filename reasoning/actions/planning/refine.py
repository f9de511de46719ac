"""Write the next step's question anew with what earlier steps found out."""

from collections.abc import Sequence

from pydantic import BaseModel, field_validator

from core.prompting.fences import fenced
from core.prompting.prompts import load_prompt
from reasoning.actions.answers.answer import KnownAnswer, known_block
from reasoning.engine.session import Call, Session
from reasoning.plans.chains import chunks_of, pairs

__all__ = ["refine"]


class _Refined(BaseModel):
    question: str

    @field_validator("question")
    @classmethod
    def _asks(cls, question: str) -> str:
        if not question.strip():
            raise ValueError("the question is empty")
        return question.strip()


async def refine(
    session: Session, question: str, following: str, chain: Sequence[KnownAnswer], *, step: str = ""
) -> str:
    """`following` with its references resolved; `question` is what it serves. Answers are shown without quotes."""
    call = Call(
        prompt=load_prompt("reasoning.actions.planning", "refine"),
        question=following,
        variables={
            "question": fenced("question", question),
            "known": known_block(pairs(chain)),
            "next": fenced("question", following),
        },
        chunks=chunks_of(chain),
        step=step,
    )
    refined, _ = await session.structured(call, _Refined)
    return refined.question
