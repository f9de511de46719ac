"""Find the entities that a query names."""

from collections.abc import Collection

from pydantic import BaseModel

from core.prompting.fences import fenced
from core.prompting.prompts import load_prompt
from reasoning.engine.session import Call, Session

__all__ = ["MAX_ENTITIES", "query_entities"]

MAX_ENTITIES = 20


class _Entities(BaseModel):
    entities: list[str]


async def query_entities(
    session: Session, text: str, *, step: str = "", chunks: Collection[str] = ()
) -> tuple[str, ...]:
    """Names, each once, at most `MAX_ENTITIES`; `chunks` are ids of those whose words the text may hold."""
    call = Call(
        prompt=load_prompt("reasoning.actions.queries", "query_entities"),
        question=text,
        variables={"text": fenced("document", text)},
        chunks=frozenset(chunks),
        step=step,
    )
    found, _ = await session.structured(call, _Entities)
    names = dict.fromkeys(name.strip() for name in found.entities)
    return tuple(name for name in names if name)[:MAX_ENTITIES]
