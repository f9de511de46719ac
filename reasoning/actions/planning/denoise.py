"""The action `denoise`: corrects the spelling and grammar of a question (Omni-RAG, arXiv 2506.21384)."""

from pydantic import BaseModel, Field

from core.prompting.fences import neutral
from core.prompting.prompts import load_prompt
from reasoning.engine.calls import ModelCall
from reasoning.engine.session import Session

__all__ = ["denoise"]


class _Rewritten(BaseModel):
    question: str = Field(max_length=100_000)


async def denoise(session: Session, question: str) -> str:
    """Returns the rewritten question. If the model gave none, returns the question unchanged and notes it.

    Raises `ModelFailed` if the reply cannot be read.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.planning", "denoise"),
        question=question,
        variables={"question": neutral(question)},
        conversation=True,
    )
    reply, _ = await session.complete_structured(call, _Rewritten)
    rewritten = reply.question.strip()
    if not rewritten:
        session.trace.note("denoise: the model rewrote the question to nothing; it is used as it was asked")
    return rewritten or question
