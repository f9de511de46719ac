"""Judge an answer against the passage that it was written from: relevance, support and usefulness."""

from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel

from core.ports.retrieval import Hit
from core.prompting.fences import fenced, neutral
from core.prompting.prompts import load_prompt
from reasoning.engine.session import Call, Session

__all__ = ["Critique", "critique"]

_SUPPORT = {"full": 1.0, "partial": 0.5, "none": 0.0}
_USEFULNESS = {1: -1.0, 2: -0.5, 3: 0.0, 4: 0.5, 5: 1.0}


@dataclass(frozen=True, kw_only=True)
class Critique:
    """The three judgements as Self-RAG scores them (appendix A.3), each token taken as certain."""

    relevance: float
    support: float
    usefulness: float
    verdict: str


class _Judged(BaseModel):
    relevant: bool
    support: Literal["full", "partial", "none"]
    usefulness: Literal[1, 2, 3, 4, 5]


async def critique(session: Session, question: str, answer: str, passage: Hit, *, step: str = "") -> Critique:
    call = Call(
        prompt=load_prompt("reasoning.actions.judging", "critique"),
        question=question,
        variables={"question": neutral(question), "answer": fenced("answer", answer)},
        passages=(passage,),
        chunks=frozenset({passage.chunk.id} if passage.url is None else ()),
        step=step,
    )
    said, _ = await session.structured(call, _Judged)
    return Critique(
        relevance=float(said.relevant),
        support=_SUPPORT[said.support],
        usefulness=_USEFULNESS[said.usefulness],
        verdict=f"{'relevant' if said.relevant else 'irrelevant'}, support {said.support}, use {said.usefulness}",
    )
