"""The action `supplement`: finds the queries that are still to be looked up after the first rounds.

The source is LevelRAG (arXiv 2502.18139).
"""

from collections.abc import Collection, Sequence

from pydantic import BaseModel

from core.ports.retrieval import Hit
from core.prompting.fences import fenced, neutral
from core.prompting.prompts import load_prompt
from reasoning.actions.contexts import Context, format_contexts
from reasoning.actions.distinct_texts import format_limit, take_distinct
from reasoning.engine.calls import ModelCall
from reasoning.engine.session import Session

__all__ = ["supplement", "supplement_from_passages"]

_NOTHING = "no additional information is required"


class _Supplemented(BaseModel):
    queries: list[str]


async def supplement(
    session: Session,
    question: str,
    contexts: Sequence[Context],
    *,
    asked: Sequence[str],
    limit: int | None,
    chunks: Collection[str],
) -> tuple[str, ...]:
    """Returns new queries from contexts, or none if nothing more is needed. `asked` are the earlier queries.

    `chunks` are ids of the chunks that the contexts were written from.
    Raises `ModelFailed` if the reply cannot be read.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.planning", "supplement"),
        question=question,
        variables={"contexts": format_contexts(contexts), **_variables(question, asked, limit)},
        chunks=frozenset(chunks),
    )
    return await _complete_queries(session, call, limit)


async def supplement_from_passages(
    session: Session,
    question: str,
    passages: Sequence[Hit],
    *,
    asked: Sequence[str],
    limit: int | None,
    chunks: Collection[str],
) -> tuple[str, ...]:
    """Returns new queries as `supplement` does, from the passages themselves.

    `chunks` are ids of the chunks whose words earlier queries may hold.
    Raises `ModelFailed` if the reply cannot be read.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.planning", "supplement_from_passages"),
        role="supplement",
        question=question,
        variables=_variables(question, asked, limit),
        passages=passages,
        chunks=frozenset(chunks),
    )
    return await _complete_queries(session, call, limit)


def _variables(question: str, asked: Sequence[str], limit: int | None) -> dict[str, str]:
    lines = (" ".join(query.split()) for query in asked)
    return {"question": neutral(question), "asked": fenced("known", "\n".join(lines)), "limit": format_limit(limit)}


async def _complete_queries(session: Session, call: ModelCall, limit: int | None) -> tuple[str, ...]:
    reply, _ = await session.complete_structured(call, _Supplemented)
    queries = [query for query in reply.queries if _NOTHING not in query.casefold()]
    return take_distinct(session, queries, limit, "supplements")
