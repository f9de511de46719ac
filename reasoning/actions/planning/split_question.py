"""The action `split_question`: splits a question into sub-questions that do not depend on one another."""

from pydantic import BaseModel

from core.prompting.fences import neutral
from core.prompting.prompts import load_prompt
from reasoning.actions.distinct_texts import take_distinct
from reasoning.engine.calls import ModelCall
from reasoning.engine.session import Session

__all__ = ["split_question"]


class _Split(BaseModel):
    questions: list[str]


async def split_question(session: Session, question: str, limit: int) -> tuple[str, ...]:
    """Returns at most `limit` sub-questions, each once; the question itself if the model gave none.

    Raises `ModelFailed` if the reply cannot be read.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.planning", "split_question"),
        question=question,
        variables={"question": neutral(question), "limit": str(limit)},
        conversation=True,
    )
    reply, _ = await session.complete_structured(call, _Split)
    return take_distinct(session, reply.questions, limit, "sub-questions") or (question,)
