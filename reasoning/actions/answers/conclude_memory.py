"""The action `conclude_memory`: an answer from the model's memory, without any passage."""

from collections.abc import Sequence

from pydantic import BaseModel, Field

from core.errors import MalformedReply
from core.prompting.fences import neutral
from core.prompting.prompts import load_prompt
from reasoning.actions.abstention import is_abstention
from reasoning.actions.answers.answer import format_known
from reasoning.actions.answers.conclude import is_streamed, rescue_answer
from reasoning.citations.markers import cite_passages
from reasoning.engine.calls import ModelCall
from reasoning.engine.session import Session
from reasoning.engine.streaming import AnswerStream
from reasoning.plans.known_answers import KnownAnswer, chunk_ids_of

__all__ = ["conclude_memory"]


class _Remembered(BaseModel):
    answer: str = Field(max_length=40_000)


async def conclude_memory(
    session: Session,
    question: str,
    *,
    step: str = "",
    known: Sequence[KnownAnswer] = (),
    stream: bool = True,
) -> str:
    """Returns the answer without any marker; '' if the model does not know it.

    Set `stream` to False if it is not the final answer. Raises `ModelFailed` if nothing of the reply can be
    read.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.answers", "conclude_memory"),
        role="conclude",
        question=question,
        variables={"question": neutral(question), "known": format_known(known)},
        chunks=chunk_ids_of(known),
        step=step,
        conversation=True,
    )
    tokens = AnswerStream(session.trace, sources=0) if stream and is_streamed(session) else None
    try:
        reply, _ = await session.complete_structured(call, _Remembered, tokens)
    except MalformedReply as error:
        written = rescue_answer(session, error)
    else:
        written = reply.answer
        if tokens is not None:
            tokens.end()
    text = cite_passages(written, (), session.trace)[0].strip()
    return "" if is_abstention(text) else text
