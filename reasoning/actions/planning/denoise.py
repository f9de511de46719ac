"""Rewrite a noisy question without changing what it asks."""

from pydantic import BaseModel, Field

from core.prompting.fences import neutral
from core.prompting.prompts import load_prompt
from reasoning.engine.session import Call, Session

__all__ = ["denoise"]


class _Rewritten(BaseModel):
    question: str = Field(max_length=100_000)


async def denoise(session: Session, question: str) -> str:
    """The rewritten question; where nothing came back, the question as it was, which is noted."""
    call = Call(
        prompt=load_prompt("reasoning.actions.planning", "denoise"),
        question=question,
        variables={"question": neutral(question)},
        conversation=True,
    )
    said, _ = await session.structured(call, _Rewritten)
    rewritten = said.question.strip()
    if not rewritten:
        session.trace.note("denoise: the model rewrote the question to nothing; it is used as it was asked")
    return rewritten or question
