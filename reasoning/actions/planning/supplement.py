"""Find the atomic queries that are still to be looked up, now that something is known."""

from collections.abc import Collection, Sequence

from pydantic import BaseModel

from core.ports.retrieval import Hit
from core.prompting.fences import fenced, neutral
from core.prompting.prompts import load_prompt
from reasoning.actions.judging.verify import contexts_block
from reasoning.engine.session import Call, Session
from reasoning.shared.listing import bounded

__all__ = ["supplement", "supplement_from_passages"]

_NOTHING = "no additional information is required"


class _Supplemented(BaseModel):
    queries: list[str]


async def supplement(
    session: Session,
    question: str,
    contexts: Sequence[str],
    *,
    asked: Sequence[str],
    limit: int,
    chunks: Collection[str],
) -> tuple[str, ...]:
    """New queries, or none where nothing more is needed. `chunks` are ids of those that the contexts stand on."""
    call = Call(
        prompt=load_prompt("reasoning.actions.planning", "supplement"),
        question=question,
        variables={"contexts": contexts_block(contexts), **_variables(question, asked, limit)},
        chunks=frozenset(chunks),
    )
    return await _written(session, call, limit)


async def supplement_from_passages(
    session: Session,
    question: str,
    passages: Sequence[Hit],
    *,
    asked: Sequence[str],
    limit: int,
    chunks: Collection[str],
) -> tuple[str, ...]:
    """As `supplement`, from the passages themselves; `chunks` are those whose words earlier queries may hold."""
    call = Call(
        prompt=load_prompt("reasoning.actions.planning", "supplement_from_passages"),
        role="supplement",
        question=question,
        variables=_variables(question, asked, limit),
        passages=passages,
        chunks=frozenset(chunks),
    )
    return await _written(session, call, limit)


def _variables(question: str, asked: Sequence[str], limit: int) -> dict[str, str]:
    return {"question": neutral(question), "asked": fenced("known", "\n".join(asked)), "limit": str(limit)}


async def _written(session: Session, call: Call, limit: int) -> tuple[str, ...]:
    said, _ = await session.structured(call, _Supplemented)
    queries = [query for query in said.queries if _NOTHING not in query.casefold()]
    return bounded(session, queries, limit, "supplements")
