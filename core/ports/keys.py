"""The port of API keys, which all processes of an installation share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from core.keys import ApiKey, KeyUsage

__all__ = ["KeyMinute", "Keys"]


@dataclass(frozen=True, kw_only=True)
class KeyMinute:
    """What keys have used in the present minute of the store's clock, over all processes. `seconds` are left of it.

    `number` counts minutes.
    """

    number: int
    seconds: float
    usage: Mapping[str, KeyUsage]


class Keys(Protocol):
    """Keys by id. A revoked key stays in the list until it is deleted."""

    async def create(self, key: ApiKey) -> None: ...

    async def list(self) -> Sequence[ApiKey]:
        """Returns all keys, the oldest first, including expired and revoked keys."""
        ...

    async def revoke(self, key_id: str) -> ApiKey:
        """Ends a key, which stays in the list. A revoked key is returned as it is. Raises `NotFound`."""
        ...

    async def delete(self, key_id: str) -> ApiKey:
        """Deletes a key, so that no list shows it, and the questions that its holder asked. Raises `NotFound`."""
        ...

    async def add_usage(self, used: Mapping[str, KeyUsage]) -> KeyMinute:
        """Adds what keys have used to the present minute, and returns the sums of these keys.

        Older minutes are deleted.
        """
        ...
