"""The action `next_queries`: refines the query of a question by rewriting, decomposing or disambiguating it, or ends.

The source is RQ-RAG (arXiv 2404.00610), section 3. Its model was trained to write a special token for each of these.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel, Field

from core.ports.retrieval import Hit
from core.prompting.fences import fenced, neutral
from core.prompting.prompts import load_prompt
from reasoning.engine.calls import ModelCall
from reasoning.engine.session import Session

__all__ = ["QueryKind", "QueryMove", "next_queries"]

QueryKind = Literal["rewrite", "decompose", "disambiguate", "answer"]

_MEANINGS: dict[QueryKind, str] = {
    "rewrite": "the question in other words, which a passage that states its answer is likely to have",
    "decompose": "one part of the question, whose answer is needed and not known yet",
    "disambiguate": "one meaning of the question, if a name or a word in it may stand for several things",
    "answer": "nothing more is to be searched for; `query` is empty",
}


@dataclass(frozen=True, kw_only=True)
class QueryMove:
    """A way on. The `query` of a move that answers the question is not used."""

    kind: QueryKind
    query: str = ""


class _Move(BaseModel):
    kind: QueryKind
    query: str = Field(default="", max_length=8000)


class _Moves(BaseModel):
    moves: list[_Move]


async def next_queries(
    session: Session,
    question: str,
    searched: Sequence[str],
    passages: Sequence[Hit],
    *,
    kinds: Sequence[QueryKind],
    width: int,
    step: str = "",
    temperature: float = 0.0,
) -> tuple[QueryMove, ...]:
    """Returns at most `width` moves of these `kinds`. `searched` are the queries so far, which found `passages`.

    A move of another kind, or without the query that it needs, is dropped. Raises `ModelFailed` if the reply cannot be
    read.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.queries", "next_queries"),
        question=question,
        variables={
            "question": neutral(question),
            "kinds": "\n".join(f'  - "{kind}": {_MEANINGS[kind]}' for kind in kinds),
            "example": kinds[0],
            "width": str(width),
            "searched": _format_searched(searched),
        }
        | ({} if searched else {"passages": ""}),
        passages=passages,
        step=step,
        conversation=True,
        temperature=temperature,
    )
    reply, _ = await session.complete_structured(call, _Moves)
    moves = (QueryMove(kind=move.kind, query=" ".join(move.query.split())) for move in reply.moves)
    return tuple(move for move in moves if move.kind in kinds and (move.query or move.kind == "answer"))[:width]


def _format_searched(queries: Sequence[str]) -> str:
    if not queries:
        return "Nothing was searched for yet."
    return "Searched for before, in this order:\n" + fenced("known", "\n".join(queries))
