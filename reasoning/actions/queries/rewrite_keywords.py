"""The action `rewrite_keywords`: turns a query into keywords for a text index (LevelRAG, arXiv 2502.18139)."""

from collections.abc import Collection

from pydantic import BaseModel, field_validator

from core.prompting.fences import neutral
from core.prompting.prompts import load_prompt
from reasoning.engine.calls import ModelCall
from reasoning.engine.session import Session

__all__ = ["MAX_KEYWORDS", "rewrite_keywords"]

MAX_KEYWORDS = 20


class _Rewritten(BaseModel):
    keywords: list[str]

    @field_validator("keywords")
    @classmethod
    def _check(cls, keywords: list[str]) -> list[str]:
        words = [keyword for keyword in keywords if any(map(str.isalnum, keyword))]
        if not words:
            raise ValueError("there is no keyword with a letter or a digit")
        return words


async def rewrite_keywords(
    session: Session, question: str, *, step: str = "", chunks: Collection[str] = ()
) -> tuple[str, ...]:
    """Returns words, and names of several words, each with a letter or a digit: at least one, at most `MAX_KEYWORDS`.

    `chunks` are ids of the chunks whose words the question may hold. Raises `ModelFailed` if the reply cannot be read.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.queries", "rewrite_keywords"),
        question=question,
        variables={"question": neutral(question)},
        chunks=frozenset(chunks),
        step=step,
    )
    reply, _ = await session.complete_structured(call, _Rewritten)
    return tuple(reply.keywords[:MAX_KEYWORDS])
