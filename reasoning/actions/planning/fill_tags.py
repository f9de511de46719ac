"""Rewrite a node's question with its parents' answers in place of the tags (Plan*RAG, section 3)."""

from collections.abc import Mapping

from pydantic import BaseModel, field_validator

from core.prompting.fences import fenced
from core.prompting.prompts import load_prompt
from reasoning.actions.answers.answer import KnownAnswer
from reasoning.engine.session import Call, Session
from reasoning.plans.chains import chunks_of
from reasoning.plans.dag import PlannedNode, tags, untagged

__all__ = ["fill_tags"]


class _Filled(BaseModel):
    question: str

    @field_validator("question")
    @classmethod
    def _asks(cls, question: str) -> str:
        if not question.strip():
            raise ValueError("the question is empty")
        left = tags(question, words=question)  # only what stands in angle brackets: an answer may look like `A1.1`
        if left:
            raise ValueError(f"the question still holds the tag <A{left[0][1:]}>")
        return question.strip()


async def fill_tags(session: Session, node: PlannedNode, answers: Mapping[str, KnownAnswer]) -> str:
    """`answers` are those of the node's parents, by id."""
    known = [
        fenced("known", f"<A{id[1:]}>, the answer to: {one.question}\nAnswer: {untagged(one.answer)}")
        for id, one in answers.items()
    ]
    call = Call(
        prompt=load_prompt("reasoning.actions.planning", "fill_tags"),
        question=node.question,
        variables={"known": "\n".join(known), "question": fenced("question", node.question)},
        chunks=chunks_of(list(answers.values())),
        step=node.id,
    )
    filled, _ = await session.structured(call, _Filled)
    return filled.question
