"""The action `summarize`: condenses the passages of an atomic query to one sentence that can be understood without it.

The source is LevelRAG (arXiv 2502.18139).
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, Field

from core.ports.reasoning import Quote
from core.ports.retrieval import Hit
from core.prompting.fences import neutral
from core.prompting.prompts import load_prompt
from reasoning.actions.answers.answer import select_cited
from reasoning.citations.quotes import select_quote
from reasoning.engine.calls import ModelCall
from reasoning.engine.session import Session

__all__ = ["QuerySummary", "summarize"]

_PASSAGES_ALONE = (
    "Use the passages and nothing else. Where they do not hold the answer, `sufficient` is false, `citations` is "
    "empty, and the sentence says what it was that could not be found. Do not guess and do not answer from memory."
)
_MEMORY_TOO = (
    "Where the passages do not hold the answer, answer from memory if you know it, with no citations. Where you do not "
    "know it either, `sufficient` is false, and the sentence says what it was that could not be found."
)


@dataclass(frozen=True, kw_only=True)
class QuerySummary:
    """One sentence. If it is not `sufficient`, it says what was not found. Without quotes, no passage supports it."""

    text: str
    sufficient: bool
    quotes: tuple[Quote, ...]
    shown: tuple[Hit, ...]


class _Summarized(BaseModel):
    sufficient: bool
    summary: str = Field(max_length=4000)
    citations: list[int]


async def summarize(
    session: Session,
    question: str,
    passages: Sequence[Hit],
    *,
    memory: bool = False,
    step: str = "",
    chunks: Collection[str] = (),
) -> QuerySummary:
    """Summarizes passages; with `memory` the model may answer from what it knows.

    `chunks` are ids of the chunks whose words the question may hold. Raises `ModelFailed` if the reply cannot be read.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.answers", "summarize"),
        question=question,
        variables={"question": neutral(question), "sources": _MEMORY_TOO if memory else _PASSAGES_ALONE},
        passages=passages,
        chunks=frozenset(chunks),
        step=step,
    )
    reply, shown = await session.complete_structured(call, _Summarized)
    text = " ".join(reply.summary.split())
    if not (reply.sufficient and text):
        return QuerySummary(text=text, sufficient=False, quotes=(), shown=shown)
    cited = select_cited(session, reply.citations, shown, step)
    quotes = tuple(select_quote(hit, text, question) for hit in cited)
    return QuerySummary(text=text, sufficient=True, quotes=quotes, shown=shown)
