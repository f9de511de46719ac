"""The action `refine`: rewrites the next step's question with the answers of earlier steps.

The source is PAR RAG (arXiv 2504.16787), section 3.
"""

from collections.abc import Sequence

from pydantic import BaseModel, field_validator

from core.errors import MalformedReply
from core.prompting.fences import fenced
from core.prompting.prompts import load_prompt
from reasoning.actions.answers.answer import format_known
from reasoning.engine.calls import ModelCall
from reasoning.engine.session import Session
from reasoning.plans.known_answers import UNKNOWN, KnownAnswer, chunk_ids_of, list_marks, without_quotes

__all__ = ["refine"]


async def refine(session: Session, question: str, following: str, chain: Sequence[KnownAnswer], *, step: str) -> str:
    """Returns `following` with its references resolved; `question` is the question that it serves.

    The answers of `chain` are shown without quotes, marked if they are not stated. A reply that holds a missing answer,
    a mark, or an answer of several values as a list, is sent back once; after a second one `following` is returned
    unchanged, and a note says so.
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.planning", "refine"),
        question=following,
        variables={
            "question": fenced("question", question),
            "known": format_known(without_quotes(chain)),
            "next": fenced("question", following),
        },
        chunks=chunk_ids_of(chain),
        step=step,
    )
    try:
        reply, _ = await session.complete_structured(call, _make_shape(chain, following))
    except MalformedReply as error:
        session.trace.note(f"step {step} is asked as it was planned: {error}")
        return following
    return reply.question.strip()


class _Refined(BaseModel):
    question: str


def _make_shape(chain: Sequence[KnownAnswer], following: str) -> type[_Refined]:
    """Returns the shape of a reply that refuses answers which must not be pasted into a question."""
    lists = [one.answer for one in chain if ";" in one.answer and one.answer not in following]
    marks = list_marks(chain, following)

    class Refined(_Refined):
        @field_validator("question")
        @classmethod
        def _check(cls, question: str) -> str:
            if not question.strip():
                raise ValueError("the question is empty")
            if UNKNOWN in question:
                raise ValueError(f"the question holds {UNKNOWN}; describe the thing instead")
            if any(answer in question for answer in lists):
                raise ValueError("the question holds a list of values; use one of them, or describe the thing instead")
            for mark in marks:
                if mark in question:
                    raise ValueError(f"the question holds the mark {mark!r} of an answer; use the answer without it")
            return question

    return Refined
