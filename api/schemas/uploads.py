"""The parts of an upload that are no files."""

from typing import Any

from pydantic import Field

from api.schemas.base import In, Text
from core.documents import MAX_METADATA_VALUES, OnConflict

__all__ = ["ManifestFileIn", "UploadIn"]


class ManifestFileIn(In):
    """What the sender states about a file. All fields are optional.

    `media_type` chooses the loader; without it the suffix of the file's name does, else the content type of its part.
    """

    key: Text | None = None
    title: Text | None = None
    metadata: dict[str, Any] = Field(default_factory=dict, max_length=MAX_METADATA_VALUES)
    media_type: str | None = None


class UploadIn(In):
    """The fields of an upload. `budget_tokens` is what the job may spend on language models before it pauses."""

    on_conflict: OnConflict = OnConflict.REPLACE
    budget_tokens: int | None = Field(default=None, ge=1)
