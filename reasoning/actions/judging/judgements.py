"""Actions that judge.

- `verify`, `verify_contexts`: are passages, or summaries of them, enough to answer a question (LevelRAG, arXiv
  2502.18139)?
- `critique`: the relevance, support and usefulness of an answer by its passage, with the scores of Self-RAG (arXiv
  2310.11511, appendix A.3).
- `need_retrieval`: does a question need passages at all (Self-RAG)?
- `same_answer`: are two answers to a question the same? Verification asks it.
- `review`: checks an answer against finer evidence, and keeps it, corrects it, or asks for what is missing (PAR RAG,
  arXiv 2504.16787, section 3).
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, Field, field_validator, model_validator

from core.ports.reasoning import Support
from core.ports.retrieval import Fact, Hit
from core.prompting.fences import fenced, neutral
from core.prompting.prompts import load_prompt
from reasoning.actions.answers.answer import (
    AnswerWithStatement,
    CitedAnswer,
    format_finding,
    format_known,
    format_purpose,
    resolve_citations,
)
from reasoning.actions.answers.contexts import Context, format_contexts
from reasoning.actions.replies import SupportWord
from reasoning.engine.calls import ModelCall
from reasoning.engine.session import Session
from reasoning.plans.known_answers import KnownAnswer, chunk_ids_of

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


class Verdict(StrEnum):  # without a docstring: it would be part of the schema that models are sent
    PASS = "PASS"  # noqa: S105  # not a password
    REVISED = "REVISED"
    UNCONFIDENT = "UNCONFIDENT"


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """The evidence that an answer is reviewed with: passages, best first, and facts that they assert.

    `asked` is the question of an earlier review that they were searched for with, or ''.
    """

    hits: tuple[Hit, ...] = ()
    facts: tuple[Fact, ...] = ()
    asked: str = ""


@dataclass(frozen=True, kw_only=True)
class Review:
    """The verdict with the resulting answer. `question` comes with UNCONFIDENT, and may be ''."""

    verdict: Verdict
    answer: CitedAnswer
    question: str = ""


class _Reviewed(BaseModel):
    reasoning: str = ""
    status: Verdict
    answer: str = Field(max_length=8000)
    support: SupportWord
    unstated: str
    citations: list[int]
    question: str

    @field_validator("status", mode="before")
    @classmethod
    def _fold_case(cls, status: object) -> object:
        return status.strip().upper() if isinstance(status, str) else status

    @model_validator(mode="before")
    @classmethod
    def _fill_in(cls, reply: object) -> object:
        """Adds missing fields: the published contract has only the fields that a verdict needs, and no support."""
        if not isinstance(reply, dict):
            return reply
        return {"answer": "", "support": "stated", "unstated": "", "citations": [], "question": "", **reply}


async def review(
    session: Session,
    question: str,
    reviewed: AnswerWithStatement,
    evidence: Evidence,
    *,
    purpose: str,
    step: str,
    known: Sequence[KnownAnswer] = (),
    chunks: Collection[str] = (),
) -> Review:
    """Reviews the answer to a question that serves the question `purpose`. `known` are answers that it may build on.

    - A PASS keeps the answer as stated.
    - A REVISED replaces the answer.
    - An UNCONFIDENT keeps the answer as not stated.

    A PASS that leaves the answer unstated, and a REVISED without a passage for its answer, count as UNCONFIDENT without
    a question, with a note. `chunks` are ids of the chunks whose words the answer may hold. Raises `ModelFailed` if the
    reply cannot be read.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.judging", "review"),
        question=question,
        variables={
            "purpose": format_purpose(purpose, question),
            "known": format_known(known),
            "asked": _format_asked(evidence.asked),
            "question": fenced("question", question),
            "answer": fenced("answer", _format_reviewed(question, reviewed, evidence.hits)),
        },
        passages=evidence.hits,
        facts=evidence.facts,
        chunks=chunk_ids_of(known) | frozenset(chunks),
        step=step,
    )
    reply, shown = await session.complete_structured(call, _Reviewed)
    answer, asked = reviewed.answer, ""
    match reply.status:
        case Verdict.PASS:
            confirmed = _confirm(session, answer, reply, shown, question=question, step=step, known=known)
            if confirmed is not None:
                return Review(verdict=Verdict.PASS, answer=confirmed)
            what = "no passage states" if answer.found else "is missing"
            session.trace.note(f"step {step}: its review passed an answer that {what}; it counts as UNCONFIDENT")
            unstated = reply.unstated
        case Verdict.REVISED:
            corrected = resolve_citations(session, reply, shown, question, step)
            if corrected.cited:
                return Review(verdict=Verdict.REVISED, answer=replace(corrected, shown=answer.shown))
            session.trace.note(f"step {step}: its review gave an answer without a passage, which was left out")
            unstated = ""
        case Verdict.UNCONFIDENT:
            unstated, asked = reply.unstated, reply.question.strip()
    return Review(verdict=Verdict.UNCONFIDENT, answer=_doubt(answer, unstated), question=asked)


def _confirm(
    session: Session,
    answer: CitedAnswer,
    reply: _Reviewed,
    shown: tuple[Hit, ...],
    *,
    question: str,
    step: str,
    known: Sequence[KnownAnswer],
) -> CitedAnswer | None:
    """Returns the answer as a stated answer, or None if the review does not find it stated.

    An answer that was stated keeps its passages. Any other answer gets the passages of the review, or follows from the
    `known` answers.
    """
    if not answer.found or reply.support.strip().lower() != Support.STATED:
        return None
    if answer.support is Support.STATED:
        return answer
    given = reply.model_copy(update={"answer": answer.text})
    confirmed = resolve_citations(session, given, shown, question, step, known=known)
    return replace(confirmed, shown=answer.shown) if confirmed.support is Support.STATED else None


def _doubt(answer: CitedAnswer, unstated: str) -> CitedAnswer:
    """Returns the answer with the support `inferred` if it was stated, else with the support that it has. `unstated`
    says what its review did not find.
    """
    missing = unstated.strip() or answer.unstated
    if answer.support is not Support.STATED:
        return replace(answer, unstated=missing)
    return replace(answer, support=Support.INFERRED, unstated=missing or "a review did not confirm it")


def _format_reviewed(question: str, reviewed: AnswerWithStatement, shown: Sequence[Hit]) -> str:
    """Returns the answer with what it stands on, and its statement with the numbers of the passages that it cites."""
    cited = {hit.chunk.id for hit in reviewed.answer.cited}
    numbers = [f" [{number}]" for number, hit in enumerate(shown, start=1) if hit.chunk.id in cited]
    lines = [format_finding(reviewed.answer.known(question)) + "".join(numbers)]
    if reviewed.statement:
        lines.append(f"Statement: {reviewed.statement}")
    return "\n".join(lines)


def _format_asked(asked: str) -> str:
    return f"An earlier review asked, and passages were looked up for it:\n{fenced('question', asked)}" if asked else ""
