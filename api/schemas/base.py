"""What all shapes share."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict

from core.text.characters import NO_CHARACTER, is_valid_text

__all__ = ["In", "Out", "SpanOut", "Text"]


def _whole(text: str) -> str:
    if not is_valid_text(text):
        raise ValueError(NO_CHARACTER)
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
