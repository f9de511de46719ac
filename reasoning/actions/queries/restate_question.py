"""The action `restate_question`: makes the last question of a conversation understandable without the conversation.

Services call `restate` before a reasoner answers.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from pydantic import BaseModel, Field, field_validator

from core.errors import ContextTooLong, MalformedReply
from core.ports.chat import ChatModels, Message, Speaker
from core.ports.reasoning import Question
from core.ports.retrieval import Searcher
from core.prompting.fences import fenced, neutral
from core.prompting.prompts import load_prompt
from core.text.terms import split_words
from core.trace import Trace
from reasoning.engine.calls import ModelCall
from reasoning.engine.session import Session

_MAX_LENGTH = 4000
"""In characters. A longer message brings its own context, and is not restated."""
_MOST_ADDED = 1000
"""Characters that a restatement may have more than the question: names, and not the answer."""
_LIMITS = (8_000, 2_000)
"""Characters of the conversation that the model is shown, and that it is shown if it cannot read so many."""
_SHARE = 4
"""No message has more than this part of the characters, so that a long answer leaves room for its question."""
_CUT = " […] "
_NAMES = {Speaker.USER: "User", Speaker.ASSISTANT: "Assistant"}
_REMEDY = "; another model for this step is set by HOPWEAVE_LLM__ROLES__RESTATE_QUESTION__MODEL"


class _Restated(BaseModel):
    question: str = Field(max_length=_MAX_LENGTH + _MOST_ADDED)

    @field_validator("question")
    @classmethod
    def _check(cls, question: str) -> str:
        if not question.strip():
            raise ValueError("the question is empty")
        return question


async def restate_question(session: Session) -> str | None:
    """Returns the session's question, restated so that its history is not needed. Without a history, the question is
    returned as it is, without a call.

    Returns None, with a note, if the question is too long to be restated, or the model's reply is no restatement of it.
    Raises `ModelFailed` for an empty reply, and as a call of a model does.
    """
    question = session.question
    if not any(turn.content.strip() for turn in question.history):
        return question.text
    if len(question.text) > _MAX_LENGTH:
        session.trace.note(
            f"the question was not restated from the conversation: it has more than {_MAX_LENGTH} characters"
        )
        return None
    try:
        restated = await _ask(session)
    except MalformedReply as error:
        if not error.text:  # nothing was written: no form was broken
            raise
        session.trace.note(f"the question was not restated from the conversation: {error}")
        return None
    if fault := _find_fault(restated, question.text, question.history):
        session.trace.note(f"the question was not restated from the conversation: {fault}{_REMEDY}")
        return None
    if restated != " ".join(question.text.split()):
        session.trace.note(f"the question was understood as: {restated}")
    return restated


async def _ask(session: Session, limits: Sequence[int] = _LIMITS) -> str:
    """Returns what the model writes, on one line. A model that cannot read the conversation is shown less of it."""
    question = session.question
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.queries", "restate_question"),
        question=question.text,
        variables={
            "question": neutral(question.text),
            "conversation": fenced("conversation", _format_conversation(question.history, limits[0])),
        },
    )
    try:
        reply, _ = await session.complete_structured(call, _Restated)
    except ContextTooLong:
        if len(limits) == 1:
            raise
        return await _ask(session, limits[1:])
    return " ".join(reply.question.split())


def _find_fault(restated: str, question: str, history: Sequence[Message]) -> str:
    """Returns why a reply is no restatement of the question, or ''.

    A restatement has words of the conversation. A refusal, or an answer from the model's memory, mostly has none.
    """
    if len(restated) > len(question) + _MOST_ADDED:
        return f"the model wrote {len(restated)} characters"
    stems = _list_stems((restated,))
    said = (question, *(turn.content for turn in _last_turns(history, _LIMITS[0])))
    if stems and not stems & _list_stems(said):
        return "the model's text has no word in common with the conversation"
    return ""


def _list_stems(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(word.stem for text in texts for word in split_words(text))


def _format_conversation(history: Sequence[Message], limit: int) -> str:
    """Returns the last messages that fit, one line each, so that no message can contain the beginning of another."""
    return "\n".join(f"{_NAMES[turn.speaker]}: {turn.content}" for turn in _last_turns(history, limit))


def _last_turns(history: Sequence[Message], limit: int) -> list[Message]:
    """Returns the last messages that have at most `limit` characters together, without line breaks, and shortened."""
    kept = list[Message]()
    left = limit
    for turn in reversed(history):
        text = _shorten(" ".join(turn.content.split()), limit // _SHARE)
        left -= len(text)
        if left < 0:
            break
        kept += [replace(turn, content=text)] if text else []
    return kept[::-1]


def _shorten(text: str, most: int) -> str:
    """Returns the beginning and the end of a long text. Answers name what they are about at their beginning, and list
    their sources at the end.
    """
    if len(text) <= most:
        return text
    tail = most // 4
    return text[: most - tail - len(_CUT)] + _CUT + text[-tail:]


async def restate(question: Question, models: ChatModels, searcher: tuple[str, Searcher], trace: Trace) -> str | None:
    """Returns the text of the question without references to its history, or None if the model's reply cannot be used.
    Raises as a call of a model does.

    `searcher` is the searcher of the reasoner that answers afterwards; nothing is searched here.
    """
    return await restate_question(Session("conversation", question, models, searcher, trace))
