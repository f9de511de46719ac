"""Actions that judge in a word or a number.

- `verify`, `verify_contexts`: are passages, or summaries of them, enough to answer a question (LevelRAG, arXiv
  2502.18139)?
- `critique`: the relevance, support and usefulness of an answer by its passage, with the scores of Self-RAG (arXiv
  2310.11511, appendix A.3).
- `need_retrieval`: does a question need passages at all (Self-RAG)?
- `same_answer`: are two answers to a question the same? Verification asks it.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel

from core.ports.retrieval import Hit
from core.prompting.fences import fenced, neutral
from core.prompting.prompts import load_prompt
from reasoning.actions.answers.answer import format_known
from reasoning.actions.answers.contexts import Context, format_contexts
from reasoning.engine.calls import ModelCall
from reasoning.engine.session import Session
from reasoning.plans.known_answers import KnownAnswer, chunk_ids_of

__all__ = ["Critique", "critique", "need_retrieval", "same_answer", "verify", "verify_contexts"]


_ROLE = "verify"


class _Verified(BaseModel):
    enough: bool


async def verify(
    session: Session, question: str, passages: Sequence[Hit], *, step: str = "", chunks: Collection[str] = ()
) -> bool:
    """Whether the passages are enough; without passages, False without a call.

    `chunks` are ids of the chunks whose words the question may hold. Raises `ModelFailed` if the reply cannot be read.
    """
    if not passages:
        return False
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.judging", "verify"),
        role=_ROLE,
        question=question,
        variables={"question": neutral(question)},
        passages=passages,
        chunks=frozenset(chunks),
        step=step,
    )
    reply, _ = await session.complete_structured(call, _Verified)
    return reply.enough


async def verify_contexts(
    session: Session, question: str, contexts: Sequence[Context], *, chunks: Collection[str]
) -> bool:
    """Whether contexts are enough. `chunks` are ids of the chunks that they were written from.

    Raises `ModelFailed` if the reply cannot be read.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.judging", "verify_contexts"),
        role=_ROLE,
        question=question,
        variables={"question": neutral(question), "contexts": format_contexts(contexts)},
        chunks=frozenset(chunks),
    )
    reply, _ = await session.complete_structured(call, _Verified)
    return reply.enough


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


class _Decided(BaseModel):
    retrieve: bool


async def need_retrieval(session: Session, question: str, *, step: str = "", known: Sequence[KnownAnswer] = ()) -> bool:
    """Whether a question has to be looked up; `known` are answers of earlier steps.

    Raises `ModelFailed` if the reply cannot be read.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.judging", "need_retrieval"),
        question=question,
        variables={"question": neutral(question), "known": format_known(known)},
        chunks=chunk_ids_of(known),
        step=step,
    )
    reply, _ = await session.complete_structured(call, _Decided)
    return reply.retrieve


_SAME = {"yes": True, "no": False, "unclear": None}


class _Compared(BaseModel):
    same: Literal["yes", "no", "unclear"]


async def same_answer(session: Session, question: str, first: str, second: str, chunks: Collection[str]) -> bool | None:
    """Whether both are the same answer; None if the model cannot tell.

    `chunks` are ids of the chunks whose words the answers may hold. Raises `ModelFailed` if the reply cannot be read.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.judging", "same_answer"),
        question=question,
        variables={
            "question": neutral(question),
            "first": fenced("answer", first),
            "second": fenced("answer", second),
        },
        chunks=frozenset(chunks),
    )
    reply, _ = await session.complete_structured(call, _Compared)
    return _SAME[reply.same]
