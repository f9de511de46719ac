"""The port of receipts: what was answered to requests that must not be carried out twice."""

from typing import Protocol

__all__ = ["Receipts"]


class Receipts(Protocol):
    """Receipts by the key that a client chose. `Maintenance.prune` deletes those that are older than a day."""

    async def begin(self, key: str, request: str, *, lease_seconds: float) -> str | None:
        """Reserves the key for a request, and returns None: the caller carries it out, then calls `finish`.

        Returns the answer of `finish` if the request was carried out in the last 24 hours. Raises `Conflict` if another
        process has reserved the key for the same request less than `lease_seconds` ago, and `InvalidInput` if the key
        belongs to another request. `request` is a digest.
        """
        ...

    async def finish(self, key: str, answer: str) -> None:
        """Keeps the answer of the request that the key is reserved for."""
        ...

    async def release(self, key: str) -> None:
        """Ends the reservation of a request that failed. A key with an answer stays."""
        ...
