"""The action `pseudo_document`: writes a passage as the collection might have it, to search for similar ones.

The dense searcher of LevelRAG (arXiv 2502.18139) uses it.
"""

from collections.abc import Collection, Sequence

from pydantic import BaseModel

from core.errors import MalformedReply
from core.ports.retrieval import Hit
from core.prompting.fences import neutral
from core.prompting.prompts import load_prompt
from reasoning.engine.calls import ModelCall
from reasoning.engine.session import Session

__all__ = ["pseudo_document"]

_MAX_LENGTH = 2000
"""In characters; embedding models read little more."""


class _Written(BaseModel):
    passage: str


async def pseudo_document(
    session: Session,
    question: str,
    passages: Sequence[Hit] = (),
    *,
    step: str = "",
    chunks: Collection[str] = (),
) -> str:
    """Returns the passage on one line; with passages, it takes their content into account.

    It may be false, and is never shown to a user. A reply in prose is taken as the passage; another one that cannot
    be read gives ''. `chunks` are ids of the chunks whose words the question may hold. Raises `ModelFailed` for an
    empty reply.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.queries", "pseudo_document"),
        question=question,
        variables={"question": neutral(question)} | ({} if passages else {"passages": ""}),
        passages=passages,
        chunks=frozenset(chunks),
        step=step,
    )
    try:
        reply, _ = await session.complete_structured(call, _Written)
        text = reply.passage
    except MalformedReply as error:
        if not error.text:  # nothing was written: no form was broken
            raise
        text = "" if "{" in error.text else error.text
        session.trace.note(f"a pseudo-document was not in the requested form: {error}")
    return " ".join(text.split())[:_MAX_LENGTH]
