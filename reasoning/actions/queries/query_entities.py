"""The action `query_entities`: finds the entities that a query names (HippoRAG, arXiv 2405.14831, section 2)."""

from collections.abc import Collection

from pydantic import BaseModel

from core.prompting.fences import fenced
from core.prompting.prompts import load_prompt
from reasoning.engine.calls import ModelCall
from reasoning.engine.session import Session

__all__ = ["MAX_ENTITIES", "query_entities"]

MAX_ENTITIES = 20


class _Entities(BaseModel):
    entities: list[str]


async def query_entities(
    session: Session, text: str, *, step: str = "", chunks: Collection[str] = ()
) -> tuple[str, ...]:
    """Returns at most `MAX_ENTITIES` names, each once; none, without a call, for a text without letters, such as `48%`.

    `chunks` are ids of the chunks whose words the text may hold. Raises `ModelFailed` if the reply cannot be read.
    """
    if not any(map(str.isalpha, text)):
        return ()
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.queries", "query_entities"),
        question=text,
        variables={"text": fenced("document", text)},
        chunks=frozenset(chunks),
        step=step,
    )
    reply, _ = await session.complete_structured(call, _Entities)
    names = dict.fromkeys(name.strip() for name in reply.entities)
    return tuple(name for name in names if name)[:MAX_ENTITIES]
