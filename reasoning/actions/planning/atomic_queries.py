"""Break a question into the atomic queries that can be looked up before anything is known."""

from pydantic import BaseModel

from core.prompting.fences import neutral
from core.prompting.prompts import load_prompt
from reasoning.engine.session import Call, Session
from reasoning.shared.listing import bounded

__all__ = ["atomic_queries"]


class _Broken(BaseModel):
    queries: list[str]


async def atomic_queries(session: Session, question: str, limit: int) -> tuple[str, ...]:
    """At most `limit`, each once; the question itself where none came."""
    call = Call(
        prompt=load_prompt("reasoning.actions.planning", "atomic_queries"),
        question=question,
        variables={"question": neutral(question), "limit": str(limit)},
        conversation=True,
    )
    said, _ = await session.structured(call, _Broken)
    return bounded(session, said.queries, limit, "atomic queries") or (question,)
