"""The action `conclude_memory`: an answer from the model's memory, without any passage."""

from collections.abc import Sequence

from core.prompting.fences import neutral
from core.prompting.prompts import load_prompt
from reasoning.actions.answers.answer import format_known
from reasoning.actions.answers.conclude import extract_answer
from reasoning.citations.markers import cite_passages
from reasoning.engine.calls import ModelCall
from reasoning.engine.session import Session
from reasoning.engine.streaming import TokenStream
from reasoning.plans.known_answers import KnownAnswer, chunk_ids_of

__all__ = ["conclude_memory"]


async def conclude_memory(
    session: Session,
    question: str,
    *,
    step: str = "",
    known: Sequence[KnownAnswer] = (),
    stream: bool = True,
) -> str:
    """Returns the answer without any marker; '' if the model does not know it.

    Set `stream` to False if it is not the final answer. Raises `ModelFailed` for an empty reply.
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
    tokens = TokenStream(session.trace, sources=0)
    text, _ = await session.complete_text(call, tokens if stream else None)
    tokens.end()
    return cite_passages(extract_answer(text), (), session.trace)[0].strip()
