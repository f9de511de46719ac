"""The action `answer_with_statement`: answers one question, and says the answer in a sentence that can stand alone.

The source is PAR RAG (arXiv 2504.16787), section 3, whose answers are such sentences.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from pydantic import BaseModel, Field

from core.ports.retrieval import Fact, Hit
from core.prompting.fences import fenced
from core.prompting.prompts import load_prompt
from reasoning.actions.answers.answer import CitedAnswer, format_known, resolve_citations
from reasoning.actions.support import SupportWord, format_support_rule
from reasoning.citations.markers import strip_markers
from reasoning.engine.calls import ModelCall
from reasoning.engine.session import Session
from reasoning.plans.known_answers import KnownAnswer, chunk_ids_of

__all__ = ["AnswerWithStatement", "answer_with_statement", "format_purpose"]


@dataclass(frozen=True, kw_only=True)
class AnswerWithStatement:
    """An answer, and the sentence that says it without the question ('' if the model wrote none)."""

    answer: CitedAnswer = field(default_factory=CitedAnswer)
    statement: str = ""


class _Stated(BaseModel):
    statement: str = Field(default="", max_length=8000)
    answer: str = Field(max_length=8000)
    support: SupportWord
    unstated: str = ""
    citations: list[int] = []


async def answer_with_statement(
    session: Session,
    question: str,
    passages: Sequence[Hit],
    *,
    purpose: str,
    step: str,
    facts: Sequence[Fact] = (),
    known: Sequence[KnownAnswer] = (),
) -> AnswerWithStatement:
    """Answers a question that serves the question `purpose`. `known` are answers that it may build on.

    The call is counted as `answer`. Raises `ModelFailed` if the reply cannot be read.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.answers", "answer_with_statement"),
        role="answer",
        question=question,
        variables={
            "purpose": format_purpose(purpose, question),
            "known": format_known(known),
            "question": fenced("question", question),
            "support": format_support_rule(session),
        },
        passages=passages,
        facts=facts,
        chunks=chunk_ids_of(known),
        step=step,
    )
    reply, shown = await session.complete_structured(call, _Stated)
    cited = resolve_citations(session, reply, shown, question, step, known=known)
    return AnswerWithStatement(answer=cited, statement=strip_markers(reply.statement) if cited.found else "")


def format_purpose(purpose: str, question: str) -> str:
    """Returns the block of the question that another question serves; '' if they are the same."""
    return "" if purpose == question else f"The larger question:\n{fenced('question', purpose)}"
