"""Say whether what was found is enough to answer a question."""

from collections.abc import Collection, Sequence

from pydantic import BaseModel

from core.ports.retrieval import Hit
from core.prompting.fences import fenced, neutral
from core.prompting.prompts import load_prompt
from reasoning.engine.session import Call, Session

__all__ = ["contexts_block", "verify", "verify_contexts"]

_ROLE = "verify"


class _Verified(BaseModel):
    enough: bool


async def verify(
    session: Session, question: str, passages: Sequence[Hit], *, step: str = "", chunks: Collection[str] = ()
) -> bool:
    """Whether the passages are enough; no passages never are, and no model is asked about them.

    `chunks` are ids of those whose words the question may hold.
    """
    if not passages:
        return False
    call = Call(
        prompt=load_prompt("reasoning.actions.judging", "verify"),
        role=_ROLE,
        question=question,
        variables={"question": neutral(question)},
        passages=passages,
        chunks=frozenset(chunks),
        step=step,
    )
    said, _ = await session.structured(call, _Verified)
    return said.enough


async def verify_contexts(session: Session, question: str, contexts: Sequence[str], *, chunks: Collection[str]) -> bool:
    """Whether summaries are enough; `chunks` are ids of those that they were written from."""
    call = Call(
        prompt=load_prompt("reasoning.actions.judging", "verify_contexts"),
        role=_ROLE,
        question=question,
        variables={"question": neutral(question), "contexts": contexts_block(contexts)},
        chunks=frozenset(chunks),
    )
    said, _ = await session.structured(call, _Verified)
    return said.enough


def contexts_block(contexts: Sequence[str]) -> str:
    """Summaries as LevelRAG hands them on: numbered, without what was asked for them."""
    lines = (f"Context {number}: {' '.join(text.split())}" for number, text in enumerate(contexts, start=1))
    return fenced("summaries", "\n".join(lines))
