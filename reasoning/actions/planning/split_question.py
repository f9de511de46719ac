"""Split a question into sub-questions that can be asked independently of one another."""

from pydantic import BaseModel

from core.prompting.fences import neutral
from core.prompting.prompts import load_prompt
from reasoning.engine.session import Call, Session
from reasoning.shared.listing import bounded

__all__ = ["split_question"]


class _Split(BaseModel):
    questions: list[str]


async def split_question(session: Session, question: str, limit: int) -> tuple[str, ...]:
    """At most `limit` sub-questions, each once; the question itself where none came."""
    call = Call(
        prompt=load_prompt("reasoning.actions.planning", "split_question"),
        question=question,
        variables={"question": neutral(question), "limit": str(limit)},
        conversation=True,
    )
    said, _ = await session.structured(call, _Split)
    return bounded(session, said.questions, limit, "sub-questions") or (question,)
