"""Find the aspects that a question has: one query each."""

from pydantic import BaseModel

from core.prompting.fences import neutral
from core.prompting.prompts import load_prompt
from reasoning.engine.session import Call, Session
from reasoning.shared.listing import bounded

__all__ = ["split_intents"]


class _Intents(BaseModel):
    queries: list[str]


async def split_intents(session: Session, question: str, limit: int) -> tuple[str, ...]:
    """At most `limit` queries, each once; the question itself where none came."""
    call = Call(
        prompt=load_prompt("reasoning.actions.planning", "split_intents"),
        question=question,
        variables={"question": neutral(question), "limit": str(limit)},
        conversation=True,
    )
    said, _ = await session.structured(call, _Intents)
    return bounded(session, said.queries, limit, "queries") or (question,)
