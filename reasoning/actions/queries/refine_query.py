"""Three words by which a keyword query can be made better, having seen what it found: one to add, stress or exclude."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, Field

from core.ports.retrieval import Hit
from core.prompting.fences import fenced, neutral
from core.prompting.prompts import load_prompt
from reasoning.engine.session import Call, Session

__all__ = ["Refinement", "refine_query"]


@dataclass(frozen=True, kw_only=True)
class Refinement:
    """A word, or a name of several, for each of LevelRAG's three operations; '' where the model has none."""

    extend: str
    emphasize: str
    filter: str


class _Refined(BaseModel):
    extend: str = Field(max_length=200)
    emphasize: str = Field(max_length=200)
    filter: str = Field(max_length=200)


async def refine_query(
    session: Session,
    question: str,
    query: str,
    passages: Sequence[Hit],
    *,
    step: str = "",
    chunks: Collection[str] = (),
) -> Refinement:
    """All three in one call (the paper makes one for each); `chunks` are those whose words question or query hold."""
    call = Call(
        prompt=load_prompt("reasoning.actions.queries", "refine_query"),
        question=question,
        variables={"question": neutral(question), "query": fenced("known", query)},
        passages=passages,
        chunks=frozenset(chunks),
        step=step,
    )
    said, _ = await session.structured(call, _Refined)
    return Refinement(extend=said.extend.strip(), emphasize=said.emphasize.strip(), filter=said.filter.strip())
