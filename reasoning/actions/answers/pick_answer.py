"""The action `pick_answer`: a short answer from passages, by a small model.

One decision a call, and the choices named by code: a model of one to four billion parameters copies a value well, and
follows a list of rules badly. Both calls begin with the same text, so that a local server reads the passages once.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Annotated, Any

from pydantic import BaseModel, Field, create_model

from core.errors import MalformedReply
from core.ports.retrieval import Hit
from core.prompting.fences import neutral
from core.prompting.prompts import load_prompt
from core.text.answers import is_contained, normalise_answer
from core.text.value_kinds import ValueKind, find_kind
from reasoning.actions.replies import is_abstention
from reasoning.citations.markers import note_missing, parse_markers, strip_markers
from reasoning.engine.calls import ModelCall
from reasoning.engine.session import Session
from reasoning.reading import Form, find_form, list_candidates, list_judgements, list_sides

_MOST_WORDS = 6
"""A value of more words says more than was asked for."""
_FORMS = {
    ValueKind.DATE: "The answer is a date or a year, without any explanation.",
    ValueKind.NUMBER: "The answer is a number with its unit, without any explanation.",
    ValueKind.DURATION: "The answer is a length of time, without any explanation.",
    ValueKind.PERSON: "The answer is a name, without any explanation.",
    ValueKind.PLACE: "The answer is the name of a place, without any explanation.",
    ValueKind.NONE: "The answer is a name or a few words, without any explanation.",
}


class _Picked(BaseModel):
    answer: str = Field(max_length=4000)


async def pick_answer(session: Session, question: str, passages: Sequence[Hit], *, step: str = "") -> str:
    """Returns the answer to a question that asks for a value, a choice or a judgement; '' if the model knows none.

    If an answer is longer than a value, or stands in no passage, the model is asked again to choose among the values of
    the requested kind in the passages. Raises `ModelFailed` for an empty reply.
    """
    choices = _choices(question)
    text = await _ask(session, question, passages, choices, step)
    if choices or not text or _is_value(text, passages):
        return text
    candidates = list_candidates(question, passages)
    within = tuple(candidate for candidate in candidates if is_contained(candidate, text))
    if len(within) == 1:
        return within[0]
    if not candidates:
        return text
    return await _ask(session, question, passages, within or candidates, step) or text


async def _ask(session: Session, question: str, passages: Sequence[Hit], choices: tuple[str, ...], step: str) -> str:
    """Returns the answer; '' if the model says that it knows none. With `choices`, it is one of these, or ''."""
    call = ModelCall(
        prompt=load_prompt("reasoning.actions.answers", "pick_answer"),
        question=question,
        variables={"question": neutral(question), "form": _form(question)},
        passages=passages,
        step=step,
        conversation=True,
    )
    shape = _one_of(choices) if choices else _Picked
    try:
        reply, _ = await session.complete_structured(call, shape)
    except MalformedReply as error:
        if error.cut or "{" in error.text or not error.text.strip():
            raise
        text = error.text  # the answer itself, without the form around it
    else:
        text = str(getattr(reply, "answer", ""))
    unknown = [number for number in parse_markers(text) if not 1 <= number <= len(passages)]
    note_missing(session.trace, unknown, f" of step {step}" if step else "")
    return _read(text, choices)


def _read(text: str, choices: Sequence[str]) -> str:
    answer = " ".join(strip_markers(text).split())
    if is_abstention(answer):
        return ""
    if not choices:
        return answer
    named = [choice for choice in choices if normalise_answer(choice) == normalise_answer(answer)]
    named = named or [choice for choice in choices if is_contained(choice, answer)]
    return named[0] if named else ""


@lru_cache(maxsize=128)
def _one_of(choices: tuple[str, ...]) -> type[BaseModel]:
    """Returns the shape of a reply that is one of these. `_read` checks it: not every server heeds a schema."""
    fields: dict[str, Any] = {"answer": (Annotated[str, Field(json_schema_extra={"enum": list(choices)})], ...)}
    shape: type[BaseModel] = create_model("Picked", **fields)
    return shape


def _choices(question: str) -> tuple[str, ...]:
    match find_form(question):
        case Form.CHOICE:
            return list_sides(question)
        case Form.JUDGEMENT:
            return list_judgements(question)
    return ()


def _form(question: str) -> str:
    match find_form(question):
        case Form.CHOICE:
            return f"The answer is one of: {'; '.join(map(neutral, list_sides(question)))}."
        case Form.JUDGEMENT:
            return f"The answer is one of: {'; '.join(list_judgements(question))}."
    return _FORMS[find_kind(question)]


def _is_value(text: str, passages: Sequence[Hit]) -> bool:
    """Whether a text is short, and stands literally in a passage or its title."""
    return len(text.split()) <= _MOST_WORDS and any(
        is_contained(text, f"{hit.document.title}\n{hit.chunk.text}") for hit in passages
    )
