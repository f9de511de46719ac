"""The action `atomic_queries`: splits a question into queries that can be looked up before anything is known.

The source is LevelRAG (arXiv 2502.18139).
"""

from pydantic import BaseModel

from core.prompting.fences import neutral
from core.prompting.prompts import load_prompt
from reasoning.actions.distinct_texts import format_limit, take_distinct
from reasoning.engine.calls import ModelCall
from reasoning.engine.session import Session

__all__ = ["atomic_queries"]


class _Broken(BaseModel):
    queries: list[str]


async def atomic_queries(session: Session, question: str, limit: int | None) -> tuple[str, ...]:
    """Returns at most `limit` queries, each once; the question itself if the model gave none.

    Raises `ModelFailed` if the reply cannot be read.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.planning", "atomic_queries"),
        question=question,
        variables={"question": neutral(question), "limit": format_limit(limit)},
        conversation=True,
    )
    reply, _ = await session.complete_structured(call, _Broken)
    return take_distinct(session, reply.queries, limit, "atomic queries") or (question,)
