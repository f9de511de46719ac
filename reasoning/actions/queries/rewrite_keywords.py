"""Turn a query into the keywords that a text index finds its passages by."""

from collections.abc import Collection

from pydantic import BaseModel, field_validator

from core.prompting.fences import neutral
from core.prompting.prompts import load_prompt
from reasoning.engine.session import Call, Session

__all__ = ["MAX_KEYWORDS", "rewrite_keywords"]

MAX_KEYWORDS = 20


class _Rewritten(BaseModel):
    keywords: list[str]

    @field_validator("keywords")
    @classmethod
    def _some(cls, keywords: list[str]) -> list[str]:
        words = [keyword for keyword in keywords if any(map(str.isalnum, keyword))]
        if not words:
            raise ValueError("there is no keyword with a letter or a digit")
        return words


async def rewrite_keywords(
    session: Session, question: str, *, step: str = "", chunks: Collection[str] = ()
) -> tuple[str, ...]:
    """Words, and names of several words, each with a letter or a digit; at least one, at most `MAX_KEYWORDS`.

    `chunks` are ids of those whose words the question may hold.
    """
    call = Call(
        prompt=load_prompt("reasoning.actions.queries", "rewrite_keywords"),
        question=question,
        variables={"question": neutral(question)},
        chunks=frozenset(chunks),
        step=step,
    )
    said, _ = await session.structured(call, _Rewritten)
    return tuple(said.keywords[:MAX_KEYWORDS])
