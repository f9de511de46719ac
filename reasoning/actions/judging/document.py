"""The action `decide_document`: does one document meet a condition? Surveys ask it where words do not decide.

One short call for each document, with one decision and the sentence that it stands on, so that a model of 1.5 billion
parameters manages it and code can check it.
"""

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, Field

from core.ports.retrieval import Hit
from core.prompting.fences import neutral
from core.prompting.prompts import load_prompt
from reasoning.engine.calls import ModelCall
from reasoning.engine.session import Session

__all__ = ["ROLE", "Decision", "decide_document"]

ROLE = "decide_document"


class Decision(BaseModel):
    sentence: str = Field(default="", max_length=4000)
    verdict: Literal["yes", "no", "unclear"]


async def decide_document(session: Session, condition: str, passages: Sequence[Hit], *, step: str = "") -> Decision:
    """Returns what the model says of a document by some of its passages. Nothing of it is checked.

    The messages depend on the condition and the passages alone, so that the answer is cached for other questions with
    the same condition. Raises `ModelFailed` if the reply cannot be read.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.judging", ROLE),
        question=condition,
        variables={"condition": neutral(condition)},
        passages=passages,
        step=step,
    )
    reply, _ = await session.complete_structured(call, Decision)
    return reply
