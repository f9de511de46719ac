"""The base class of the sections of settings, and the type of keys that are sent to other services."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, SecretStr

__all__ = ["Section", "SentKey"]


class Section(BaseModel):
    """A section of settings: frozen, and an unknown field is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def _check_key(key: SecretStr) -> SecretStr:
    if not all(" " <= character <= "~" for character in key.get_secret_value()):
        raise ValueError("a key is one line of ASCII characters; this value has a line break or another character")
    return key


SentKey = Annotated[SecretStr, AfterValidator(_check_key)]
"""A key that is sent in a header. HTTP clients refuse any other value, and show it in their message."""
