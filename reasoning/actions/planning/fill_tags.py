"""The action `fill_tags`: rewrites a node's question with its parents' answers in place of the tags.

The source is Plan*RAG (arXiv 2410.20753), section 3.
"""

from collections.abc import Mapping

from pydantic import BaseModel, field_validator

from core.prompting.fences import fenced
from core.prompting.prompts import load_prompt
from reasoning.engine.calls import ModelCall
from reasoning.engine.session import Session
from reasoning.plans.dag import PlannedNode, parse_tags, strip_tags
from reasoning.plans.known_answers import KnownAnswer, chunk_ids_of

__all__ = ["fill_tags"]


class _Filled(BaseModel):
    question: str

    @field_validator("question")
    @classmethod
    def _check(cls, question: str) -> str:
        if not question.strip():
            raise ValueError("the question is empty")
        left = parse_tags(
            question, words=question
        )  # only what stands in angle brackets: an answer may look like `A1.1`
        if left:
            raise ValueError(f"the question still holds the tag <A{left[0][1:]}>")
        return question.strip()


async def fill_tags(session: Session, node: PlannedNode, answers: Mapping[str, KnownAnswer]) -> str:
    """Returns the question without tags; `answers` are those of the node's parents, by id.

    Raises `ModelFailed` if the reply cannot be read or still holds a tag.
    """
    known = [
        fenced("known", f"<A{id[1:]}>, the answer to: {one.question}\nAnswer: {strip_tags(one.answer)}")
        for id, one in answers.items()
    ]
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.planning", "fill_tags"),
        question=node.question,
        variables={"known": "\n".join(known), "question": fenced("question", node.question)},
        chunks=chunk_ids_of(list(answers.values())),
        step=node.id,
    )
    reply, _ = await session.complete_structured(call, _Filled)
    return reply.question
