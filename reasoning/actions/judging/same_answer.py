"""The action `same_answer`: says whether two answers to a question are the same. Verification asks it."""

from collections.abc import Collection
from typing import Literal

from pydantic import BaseModel

from core.prompting.fences import fenced, neutral
from core.prompting.prompts import load_prompt
from reasoning.engine.calls import ModelCall
from reasoning.engine.session import Session

__all__ = ["same_answer"]

_SAME = {"yes": True, "no": False, "unclear": None}


class _Compared(BaseModel):
    same: Literal["yes", "no", "unclear"]


async def same_answer(session: Session, question: str, first: str, second: str, chunks: Collection[str]) -> bool | None:
    """Whether both are the same answer; None if the model cannot tell.

    `chunks` are ids of the chunks whose words the answers may hold. Raises `ModelFailed` if the reply cannot be read.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.judging", "same_answer"),
        question=question,
        variables={
            "question": neutral(question),
            "first": fenced("answer", first),
            "second": fenced("answer", second),
        },
        chunks=frozenset(chunks),
    )
    reply, _ = await session.complete_structured(call, _Compared)
    return _SAME[reply.same]
