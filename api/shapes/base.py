"""What all shapes share."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict

__all__ = ["In", "Out", "SpanOut", "Text"]


def _whole(text: str) -> str:
    """JSON can spell halves of surrogate pairs, which no tokenizer and no database takes."""
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise ValueError("holds half of a surrogate pair, which is no character")
    return text


Text = Annotated[str, AfterValidator(_whole)]


class In(BaseModel):
    """A body: a field that we do not know is an error that names it, so that no typo is silently ignored."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Out(BaseModel):
    """An answer, made of a value of `core` by attribute."""

    model_config = ConfigDict(frozen=True, from_attributes=True)


class SpanOut(Out):
    """Half-open, in Unicode code points."""

    start: int
    end: int
