"""Write a passage as it might stand in the collection, to search by its likeness."""

from collections.abc import Collection, Sequence

from core.ports.retrieval import Hit
from core.prompting.fences import neutral
from core.prompting.prompts import load_prompt
from reasoning.engine.session import Call, Session

__all__ = ["pseudo_document"]

_LONGEST = 2000
"""Characters: embedding models read little more."""


async def pseudo_document(
    session: Session,
    question: str,
    passages: Sequence[Hit] = (),
    *,
    step: str = "",
    chunks: Collection[str] = (),
) -> str:
    """On one line; with passages, what they tell is taken into account. What it states need not be true: it is never
    shown to anyone. `chunks` are ids of those whose words the question may hold.
    """
    call = Call(
        prompt=load_prompt("reasoning.actions.queries", "pseudo_document"),
        question=question,
        variables={"question": neutral(question)},
        passages=passages,
        chunks=frozenset(chunks),
        step=step,
    )
    text, _ = await session.text(call)
    return " ".join(text.split())[:_LONGEST]
