"""The action `need_retrieval`: decides whether a question needs passages at all (Self-RAG, arXiv 2310.11511)."""

from collections.abc import Sequence

from pydantic import BaseModel

from core.prompting.fences import neutral
from core.prompting.prompts import load_prompt
from reasoning.actions.answers.answer import format_known
from reasoning.engine.calls import ModelCall
from reasoning.engine.session import Session
from reasoning.plans.known_answers import KnownAnswer, chunk_ids_of

__all__ = ["need_retrieval"]


class _Decided(BaseModel):
    retrieve: bool


async def need_retrieval(session: Session, question: str, *, step: str = "", known: Sequence[KnownAnswer] = ()) -> bool:
    """Whether a question has to be looked up; `known` are answers of earlier steps.

    Raises `ModelFailed` if the reply cannot be read.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.judging", "need_retrieval"),
        question=question,
        variables={"question": neutral(question), "known": format_known(known)},
        chunks=chunk_ids_of(known),
        step=step,
    )
    reply, _ = await session.complete_structured(call, _Decided)
    return reply.retrieve
