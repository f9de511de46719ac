"""The base class of the sections of settings."""

from pydantic import BaseModel, ConfigDict

__all__ = ["Section"]


class Section(BaseModel):
    """A section of settings: frozen, and an unknown field is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")
