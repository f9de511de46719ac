"""The bases of all schemas, and the fields that several of them use."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, JsonValue

from app.services.questions import MAX_QUESTION
from core.text.characters import NO_CHARACTER, is_valid_text

__all__ = ["NOT_BLANK", "In", "Out", "SpanOut", "Text"]


def _check_whole(text: str) -> str:
    if not is_valid_text(text):
        raise ValueError(NO_CHARACTER)
    return text


Text = Annotated[str, AfterValidator(_check_whole)]
"""A string of whole characters: JSON can hold halves of surrogate pairs, which no store takes."""


NOT_BLANK: dict[str, JsonValue] = {"minLength": 1, "maxLength": MAX_QUESTION, "pattern": r"\S"}
"""What a schema says of a question. The service checks it, whose message tells what to do."""


class In(BaseModel):
    """A request body. An unknown field is an error that names it, so that a typo is not ignored."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Out(BaseModel):
    """A response body, made from the attributes of a value of `core`."""

    model_config = ConfigDict(frozen=True, from_attributes=True)


class SpanOut(Out):
    """A half-open range in Unicode code points."""

    start: int
    end: int
