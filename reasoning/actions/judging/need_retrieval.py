"""Decide whether a question has to be looked up at all."""

from collections.abc import Sequence

from pydantic import BaseModel

from core.prompting.fences import neutral
from core.prompting.prompts import load_prompt
from reasoning.actions.answers.answer import KnownAnswer, known_block
from reasoning.engine.session import Call, Session

__all__ = ["need_retrieval"]


class _Decided(BaseModel):
    retrieve: bool


async def need_retrieval(session: Session, question: str, *, step: str = "", known: Sequence[KnownAnswer] = ()) -> bool:
    call = Call(
        prompt=load_prompt("reasoning.actions.judging", "need_retrieval"),
        question=question,
        variables={"question": neutral(question), "known": known_block(known)},
        chunks=frozenset(quote.hit.chunk.id for one in known for quote in one.quotes),
        step=step,
    )
    said, _ = await session.structured(call, _Decided)
    return said.retrieve
