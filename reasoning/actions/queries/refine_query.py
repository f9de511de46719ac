"""The action `refine_query`: proposes words to add to a keyword query, to emphasize and to exclude.

The source is LevelRAG (arXiv 2502.18139).
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, Field

from core.ports.retrieval import Hit
from core.prompting.fences import fenced, neutral
from core.prompting.prompts import load_prompt
from reasoning.engine.calls import ModelCall
from reasoning.engine.session import Session

__all__ = ["Refinement", "refine_query"]


@dataclass(frozen=True, kw_only=True)
class Refinement:
    """A word, or a name of several words, for each of LevelRAG's three operations; '' if the model has none."""

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
    tried: Sequence[str] = (),
    step: str = "",
    chunks: Collection[str] = (),
) -> Refinement:
    """Proposes all three in one call, from the passages that the query found; the paper makes one call for each.

    `tried` are other queries that did not find enough. `chunks` are ids of the chunks whose words the question or the
    query may hold. Raises `ModelFailed` if the reply cannot be read.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.queries", "refine_query"),
        question=question,
        variables={
            "question": neutral(question),
            "query": fenced("known", query),
            "tried": _format_tried(tried),
        },
        passages=passages,
        chunks=frozenset(chunks),
        step=step,
    )
    reply, _ = await session.complete_structured(call, _Refined)
    return Refinement(extend=reply.extend.strip(), emphasize=reply.emphasize.strip(), filter=reply.filter.strip())


def _format_tried(queries: Sequence[str]) -> str:
    return "Other queries that were tried:\n" + fenced("known", "\n".join(queries)) if queries else ""
