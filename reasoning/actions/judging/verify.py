"""The action `verify`: says whether passages, or summaries of them, are enough to answer a question.

The source is LevelRAG (arXiv 2502.18139).
"""

from collections.abc import Collection, Sequence

from pydantic import BaseModel

from core.ports.retrieval import Hit
from core.prompting.fences import neutral
from core.prompting.prompts import load_prompt
from reasoning.actions.contexts import Context, format_contexts
from reasoning.engine.calls import ModelCall
from reasoning.engine.session import Session

__all__ = ["verify", "verify_contexts"]

_ROLE = "verify"


class _Verified(BaseModel):
    enough: bool


async def verify(
    session: Session, question: str, passages: Sequence[Hit], *, step: str = "", chunks: Collection[str] = ()
) -> bool:
    """Whether the passages are enough; without passages, False without a call.

    `chunks` are ids of the chunks whose words the question may hold. Raises `ModelFailed` if the reply cannot be read.
    """
    if not passages:
        return False
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.judging", "verify"),
        role=_ROLE,
        question=question,
        variables={"question": neutral(question)},
        passages=passages,
        chunks=frozenset(chunks),
        step=step,
    )
    reply, _ = await session.complete_structured(call, _Verified)
    return reply.enough


async def verify_contexts(
    session: Session, question: str, contexts: Sequence[Context], *, chunks: Collection[str]
) -> bool:
    """Whether contexts are enough. `chunks` are ids of the chunks that they were written from.

    Raises `ModelFailed` if the reply cannot be read.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.judging", "verify_contexts"),
        role=_ROLE,
        question=question,
        variables={"question": neutral(question), "contexts": format_contexts(contexts)},
        chunks=frozenset(chunks),
    )
    reply, _ = await session.complete_structured(call, _Verified)
    return reply.enough
