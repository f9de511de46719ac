"""The action `restate_question`: makes the last question of a conversation understandable without the conversation."""

from pydantic import BaseModel, Field, field_validator

from core.errors import MalformedReply
from core.ports.chat import Message, Speaker
from core.prompting.fences import fenced, neutral
from core.prompting.prompts import load_prompt
from reasoning.engine.calls import ModelCall
from reasoning.engine.session import Session

__all__ = ["restate_question"]

_MAX_LENGTH = 4000
_MAX_CONVERSATION = 12_000
"""In characters: what a question refers to is rarely further back."""
_NAMES = {Speaker.USER: "User", Speaker.ASSISTANT: "Assistant"}


class _Restated(BaseModel):
    question: str = Field(max_length=_MAX_LENGTH)

    @field_validator("question")
    @classmethod
    def _check(cls, question: str) -> str:
        if not question.strip():
            raise ValueError("the question is empty")
        return question


async def restate_question(session: Session) -> str | None:
    """Returns the session's question as one that its history is not needed for; without history as it is, without a
    call. Returns None, with a note, if the model's reply cannot be read.

    Raises `ModelFailed` for an empty reply.
    """
    question = session.question
    if not session.has_history:
        return question.text
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.queries", "restate_question"),
        question=question.text,
        variables={
            "question": neutral(question.text),
            "conversation": fenced("document", _format_conversation(question.history)),
        },
    )
    try:
        reply, _ = await session.complete_structured(call, _Restated)
    except MalformedReply as error:
        if not error.text:  # nothing was written: no form was broken
            raise
        session.trace.note(f"the question was not restated from the conversation: {error}")
        return None
    restated = " ".join(reply.question.split())
    if restated != " ".join(question.text.split()):
        session.trace.note(f"the question was understood as: {restated}")
    return restated


def _format_conversation(history: tuple[Message, ...]) -> str:
    """Returns the turns as text. Of a long conversation only the last characters are kept."""
    text = "\n\n".join(f"{_NAMES.get(turn.speaker, turn.speaker)}: {turn.content}" for turn in history)
    return text if len(text) <= _MAX_CONVERSATION else f"…{text[-_MAX_CONVERSATION:]}"
