"""An answer from the model's own memory, without any passage."""

from collections.abc import Sequence

from core.prompting.fences import neutral
from core.prompting.prompts import load_prompt
from reasoning.actions.answers.answer import KnownAnswer, known_block
from reasoning.actions.answers.conclude import said_in
from reasoning.citations.citing import cited_text
from reasoning.engine.session import Call, Session
from reasoning.engine.streaming import TokenStream

__all__ = ["conclude_memory"]


async def conclude_memory(
    session: Session,
    question: str,
    *,
    step: str = "",
    known: Sequence[KnownAnswer] = (),
    streamed: bool = True,
) -> str:
    """The answer, any marker taken out; '' where the model does not know. Not `streamed`: it is not the last word."""
    call = Call(
        prompt=load_prompt("reasoning.actions.answers", "conclude_memory"),
        role="conclude",
        question=question,
        variables={"question": neutral(question), "known": known_block(known)},
        chunks=frozenset(quote.hit.chunk.id for one in known for quote in one.quotes),
        step=step,
        conversation=True,
    )
    tokens = TokenStream(session.trace, sources=0)
    text, _ = await session.text(call, tokens if streamed else None)
    tokens.end()
    return cited_text(said_in(text), (), session.trace)[0].strip()
