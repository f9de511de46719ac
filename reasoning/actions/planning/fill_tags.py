"""The action `fill_tags`: rewrites a node's question with its parents' answers in place of the tags.

The source is Plan*RAG (arXiv 2410.20753), section 3.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import ClassVar

from pydantic import BaseModel, field_validator

from core.errors import MalformedReply
from core.prompting.fences import fenced
from core.prompting.prompts import load_prompt
from reasoning.actions.answers.answer import format_finding
from reasoning.engine.calls import ModelCall
from reasoning.engine.session import Session
from reasoning.plans.dag import PlannedNode, parse_tags, replace_tags, strip_tags
from reasoning.plans.known_answers import UNKNOWN, KnownAnswer, chunk_ids_of, list_marks

__all__ = ["fill_tags"]


class _Filled(BaseModel):
    """A subclass holds what may not be pasted: questions of parents without an answer, lists, and marks of supports."""

    pasted: ClassVar[tuple[str, ...]] = ()
    question: str

    @field_validator("question")
    @classmethod
    def _check(cls, question: str) -> str:
        if not question.strip():
            raise ValueError("the question is empty")
        # Only what stands in angle brackets is a tag here: an answer may look like `A1.1`.
        left = parse_tags(question, words=question)
        if left:
            raise ValueError(f"the question still holds the tag <A{left[0][1:]}>")
        for words in cls.pasted:
            if words.casefold() in question.casefold():
                raise ValueError(f"the words {words!r} were pasted in place of a tag; the sentence must read naturally")
        return question.strip()


async def fill_tags(
    session: Session, node: PlannedNode, answers: Mapping[str, KnownAnswer], *, always: bool = False
) -> str:
    """Returns the question without tags; `answers` are those of the node's parents, by id.

    Answers that are not stated are marked. A question that holds a tag, a mark, a list or a parent's question is sent
    back to the model once. If the second is not better, the result is '', and a note says so: nobody can look up a
    question with a hole in it. With `always`, as in the paper, the question is what the model writes, whatever is in
    place of the tags; if tags stay, answers are put in their place as they are, also "(not found)".
    """
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.planning", "fill_tags"),
        question=node.question,
        variables={
            "purpose": fenced("question", session.question.text),
            "known": "\n".join(fenced("known", _format(id, one)) for id, one in answers.items()),
            "question": fenced("question", node.question),
        },
        chunks=chunk_ids_of(list(answers.values())),
        step=node.id,
    )

    class Filled(_Filled):
        pasted = () if always else _unpasteable(answers, node.question)

    try:
        reply, _ = await session.complete_structured(call, Filled)
    except MalformedReply as error:
        if always:
            session.trace.note(f"step {node.id} was asked with the answers in place of its tags ({error})")
            return replace_tags(node.question, {id: strip_tags(known.answer) for id, known in answers.items()})
        session.trace.note(f"step {node.id} was not asked: its question could not be completed ({error})")
        return ""
    return reply.question


def _format(id: str, known: KnownAnswer) -> str:
    asked = f"<A{id[1:]}>, the answer to: {known.question}"
    values = [UNKNOWN] if known.answer == UNKNOWN else _split_values(known)
    return "\n".join([asked, *(strip_tags(format_finding(replace(known, answer=value))) for value in values)])


def _split_values(known: KnownAnswer) -> list[str]:
    return [value.strip() for value in known.answer.split(";") if value.strip()]


def _unpasteable(answers: Mapping[str, KnownAnswer], asked: str) -> tuple[str, ...]:
    found = list_marks(list(answers.values()), asked)
    for known in answers.values():
        if known.answer == UNKNOWN:
            found += [UNKNOWN, known.question.rstrip("?？ ")]
        elif len(values := _split_values(known)) > 1:
            found.append("; ".join(values[:2]))
    return tuple(found)
