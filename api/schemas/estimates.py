"""The response of the route that estimates costs."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import BeforeValidator

from api.schemas.base import Out

__all__ = ["EstimateNoteOut", "EstimateOut", "ModelEstimateOut", "RejectedOut"]


class RejectedOut(Out):
    """A document that could not be indexed, by its key, and the reason."""

    source: str
    reason: str


class ModelEstimateOut(Out):
    """The calls of a language model. The numbers are as good as the `assumptions`."""

    calls: int
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    assumptions: list[str]


class EstimateNoteOut(Out):
    """What a loader tells of the document with a key, such as a guessed encoding."""

    key: str
    note: str


def _name_parts(notes: Sequence[tuple[str, str]]) -> list[EstimateNoteOut]:
    return [EstimateNoteOut(key=key, note=note) for key, note in notes]


class EstimateOut(Out):
    """`unchanged` documents are already indexed and cost nothing; `tokens` are those that the embedding model reads.

    `model` is null if the corpus' extractor calls no language model.
    """

    documents: int
    unchanged: int
    bytes: int
    chunks: int
    tokens: int
    model: ModelEstimateOut | None
    rejected: list[RejectedOut]
    notes: Annotated[list[EstimateNoteOut], BeforeValidator(_name_parts)]
