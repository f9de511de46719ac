"""Condense the passages of an atomic query to one sentence that answers it and can be understood without it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, Field

from core.ports.reasoning import Quote
from core.ports.retrieval import Hit
from core.prompting.fences import neutral
from core.prompting.prompts import load_prompt
from reasoning.actions.answers.answer import cited_hits
from reasoning.citations.quoting import best_quote
from reasoning.engine.session import Call, Session

__all__ = ["Summary", "summarize"]

_PASSAGES_ALONE = (
    "Use the passages and nothing else. Where they do not hold the answer, `sufficient` is false, `citations` is "
    "empty, and the sentence says what it was that could not be found. Do not guess and do not answer from memory."
)
_MEMORY_TOO = (
    "Where the passages do not hold the answer, answer from memory if you know it, with no citations. Where you do not "
    "know it either, `sufficient` is false, and the sentence says what it was that could not be found."
)


@dataclass(frozen=True, kw_only=True)
class Summary:
    """One sentence. Not `sufficient`: it says what was not found. Without quotes, no passage holds what it says."""

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
) -> Summary:
    """With `memory` the model may answer from what it knows. `chunks` are those whose words the question may hold."""
    call = Call(
        prompt=load_prompt("reasoning.actions.answers", "summarize"),
        question=question,
        variables={"question": neutral(question), "sources": _MEMORY_TOO if memory else _PASSAGES_ALONE},
        passages=passages,
        chunks=frozenset(chunks),
        step=step,
    )
    said, shown = await session.structured(call, _Summarized)
    text = " ".join(said.summary.split())
    if not (said.sufficient and text):
        return Summary(text=text, sufficient=False, quotes=(), shown=shown)
    cited = cited_hits(session, said.citations, shown, step)
    quotes = tuple(best_quote(hit, text, question) for hit in cited)
    return Summary(text=text, sufficient=True, quotes=quotes, shown=shown)
