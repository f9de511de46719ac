"""Write the next step's question anew with what earlier steps found out."""

from collections.abc import Sequence

from pydantic import BaseModel, field_validator

from core.fences import fenced
from core.prompts import load_prompt
from reasoning.actions.answer import KnownAnswer, known_block
from reasoning.chains import chunks_of, pairs
from reasoning.session import Call, Session

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
        prompt=load_prompt("reasoning.actions", "refine"),
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
