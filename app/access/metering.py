"""`Meter`: what the holder of a key may still use in this minute. `api` implements it over all processes."""

from typing import Protocol

__all__ = ["NO_METER", "Meter"]


class Meter(Protocol):
    """Counts what one request uses. A method raises `RateLimited` before the limit of its kind is exceeded."""

    async def admit_bytes(self, count: int) -> None:
        """Counts bytes of documents that are about to be submitted."""
        ...

    async def check_tokens(self) -> None:
        """Raises if no tokens are left. What a question takes is known only afterwards."""
        ...

    def add_tokens(self, count: int) -> None:
        """Counts tokens that models have read and written."""
        ...


class _NoMeter:
    """Of callers without limits."""

    async def admit_bytes(self, count: int) -> None: ...

    async def check_tokens(self) -> None: ...

    def add_tokens(self, count: int) -> None: ...


NO_METER: Meter = _NoMeter()
