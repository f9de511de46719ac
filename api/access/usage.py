"""`Ledger`: what keys with limits have used in this minute, over all processes; and the meter of one request."""

import asyncio
import math
import time
from collections.abc import Callable

from api.access.caller import Caller
from app.access.metering import NO_METER, Meter
from core.errors import RateLimited, TooLarge
from core.keys import KeyUsage
from core.ports.keys import Keys

__all__ = ["Ledger"]

_SYNC_SECONDS = 1.0
"""How often a process writes what its keys have used, and reads what other processes wrote. In between, processes do
not know of one another, so a limit may be exceeded by what they admit in this time."""

_UNITS = {"requests": "requests", "tokens": "tokens of models", "ingest_bytes": "bytes of documents"}


class Ledger:
    """Counts in memory, and adds to the record once a second while keys with limits are in use."""

    def __init__(self, keys: Callable[[], Keys]) -> None:
        self._keys = keys
        self._pending: dict[str, KeyUsage] = {}
        self._sums: dict[str, KeyUsage] = {}
        self._minute_ends = 0.0
        self._synced_at = -math.inf
        self._lock = asyncio.Lock()

    async def admit(self, caller: Caller, used: KeyUsage) -> None:
        """Counts a use. Raises `RateLimited` if a limit would be exceeded, and `TooLarge` if waiting does not help."""
        if not caller.limits.any:
            return
        await self._sync(caller.id)
        sums = self._sum(caller.id)
        for name, unit in _UNITS.items():
            limit, more = getattr(caller.limits, name), getattr(used, name)
            if limit is None or not more:
                continue
            if more > limit:
                raise TooLarge(f"the request has {more:,} {unit}, and this key allows {limit:,} in a minute; send less")
            if getattr(sums, name) + more > limit:
                raise self._refuse(limit, unit)
        self.add(caller, used)

    async def check_tokens(self, caller: Caller) -> None:
        """Raises `RateLimited` if the tokens of the minute are used up. What a question takes is known afterwards."""
        limit = caller.limits.tokens
        if limit is None:
            return
        await self._sync(caller.id)
        if self._sum(caller.id).tokens >= limit:
            raise self._refuse(limit, _UNITS["tokens"])

    def add(self, caller: Caller, used: KeyUsage) -> None:
        if caller.limits.any:
            self._pending[caller.id] = self._pending.get(caller.id, KeyUsage()) + used

    def meter(self, caller: Caller) -> Meter:
        """Returns the meter of one request of a caller."""
        return _Meter(self, caller) if caller.limits.any else NO_METER

    def _sum(self, id: str) -> KeyUsage:
        known = self._sums.get(id, KeyUsage()) if time.monotonic() < self._minute_ends else KeyUsage()
        return known + self._pending.get(id, KeyUsage())

    def _refuse(self, limit: int, unit: str) -> RateLimited:
        seconds = max(1.0, self._minute_ends - time.monotonic())
        return RateLimited(
            f"this key has used up its {limit:,} {unit} of this minute; try again in {math.ceil(seconds)} seconds",
            retry_after=seconds,
        )

    async def _sync(self, id: str) -> None:
        async with self._lock:
            is_fresh = time.monotonic() - self._synced_at < _SYNC_SECONDS and time.monotonic() < self._minute_ends
            if is_fresh and id in self._sums:
                return
            used, self._pending = self._pending, {}
            try:
                minute = await self._keys().add_usage({id: KeyUsage(), **dict.fromkeys(self._sums, KeyUsage()), **used})
            except BaseException:  # also a client that disconnects; what it used is counted by the next request
                for key, one in used.items():
                    self._pending[key] = self._pending.get(key, KeyUsage()) + one
                raise
            self._synced_at = time.monotonic()
            self._minute_ends = self._synced_at + minute.seconds
            self._sums = {key: one for key, one in minute.usage.items() if one != KeyUsage() or key == id}


class _Meter:
    """Implements `app.access.metering.Meter` for one caller."""

    def __init__(self, ledger: Ledger, caller: Caller) -> None:
        self._ledger = ledger
        self._caller = caller

    async def admit_bytes(self, count: int) -> None:
        await self._ledger.admit(self._caller, KeyUsage(ingest_bytes=count))

    async def check_tokens(self) -> None:
        await self._ledger.check_tokens(self._caller)

    def add_tokens(self, count: int) -> None:
        self._ledger.add(self._caller, KeyUsage(tokens=count))
