"""The action `refine`: rewrites the next step's question with the answers of earlier steps.

The source is PAR RAG (arXiv 2504.16787), section 3.
"""

from collections.abc import Sequence

from pydantic import BaseModel, field_validator

from core.prompting.fences import fenced
from core.prompting.prompts import load_prompt
from reasoning.actions.answers.answer import format_known
from reasoning.engine.calls import ModelCall
from reasoning.engine.session import Session
from reasoning.plans.known_answers import KnownAnswer, chunk_ids_of, without_quotes

__all__ = ["refine"]


class _Refined(BaseModel):
    question: str

    @field_validator("question")
    @classmethod
    def _check(cls, question: str) -> str:
        if not question.strip():
            raise ValueError("the question is empty")
        return question.strip()


async def refine(
    session: Session, question: str, following: str, chain: Sequence[KnownAnswer], *, step: str = ""
) -> str:
    """Returns `following` with its references resolved; `question` is the question that it serves.

    The answers of `chain` are shown without quotes. Raises `ModelFailed` if the reply cannot be read.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.planning", "refine"),
        question=following,
        variables={
            "question": fenced("question", question),
            "known": format_known(without_quotes(chain)),
            "next": fenced("question", following),
        },
        chunks=chunk_ids_of(chain),
        step=step,
    )
    reply, _ = await session.complete_structured(call, _Refined)
    return reply.question
