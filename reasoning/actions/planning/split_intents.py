"""The action `split_intents`: writes one query for each aspect of a question (Omni-RAG, arXiv 2506.21384)."""

from pydantic import BaseModel

from core.prompting.fences import neutral
from core.prompting.prompts import load_prompt
from reasoning.actions.distinct_texts import take_distinct
from reasoning.engine.calls import ModelCall
from reasoning.engine.session import Session

__all__ = ["split_intents"]

_UNBOUNDED = "as many as there are aspects"
"""What the prompt says in place of a number."""


class _Intents(BaseModel):
    queries: list[str]


async def split_intents(session: Session, question: str, limit: int) -> tuple[str, ...]:
    """Returns at most `limit` queries (0: any number), each once; the question itself if the model gave none.

    Raises `ModelFailed` if the reply cannot be read.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.planning", "split_intents"),
        question=question,
        variables={"question": neutral(question), "limit": str(limit) if limit else _UNBOUNDED},
        conversation=True,
    )
    reply, _ = await session.complete_structured(call, _Intents)
    return take_distinct(session, reply.queries, limit or len(reply.queries), "queries") or (question,)
