"""The action `critique`: judges an answer by its passage for relevance, support and usefulness, as Self-RAG does.

The scores are those of the paper (arXiv 2310.11511), appendix A.3.
"""

from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel

from core.ports.retrieval import Hit
from core.prompting.fences import fenced, neutral
from core.prompting.prompts import load_prompt
from reasoning.engine.calls import ModelCall
from reasoning.engine.session import Session

__all__ = ["Critique", "critique"]

_SUPPORT = {"full": 1.0, "partial": 0.5, "none": 0.0}
_USEFULNESS = {1: -1.0, 2: -0.5, 3: 0.0, 4: 0.5, 5: 1.0}


@dataclass(frozen=True, kw_only=True)
class Critique:
    """The three scores, as if the model were certain of each: an endpoint does not tell the likelihood of a token.

    `verdict` says the same in words.
    """

    relevance: float
    support: float
    usefulness: float
    verdict: str


class _Judged(BaseModel):
    relevant: bool
    support: Literal["full", "partial", "none"]
    usefulness: Literal[1, 2, 3, 4, 5]


async def critique(session: Session, question: str, answer: str, passage: Hit, *, step: str = "") -> Critique:
    """Judges an answer that was written from one passage. Raises `ModelFailed` if the reply cannot be read."""
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.judging", "critique"),
        question=question,
        variables={"question": neutral(question), "answer": fenced("answer", answer)},
        passages=(passage,),
        chunks=frozenset({passage.chunk.id} if passage.url is None else ()),
        step=step,
    )
    reply, _ = await session.complete_structured(call, _Judged)
    return Critique(
        relevance=float(reply.relevant),
        support=_SUPPORT[reply.support],
        usefulness=_USEFULNESS[reply.usefulness],
        verdict=f"{'relevant' if reply.relevant else 'irrelevant'}, support {reply.support}, use {reply.usefulness}",
    )
