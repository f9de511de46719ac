"""Limits of callers: wrong keys in a minute, open streams, and what keys with limits have used.

`Attempts` counts how often an address may show a wrong key in a minute, so that nobody tries keys one after another. A
right key is accepted all the same, unless it might be guessed: otherwise anybody behind the same proxy could keep its
holder out.

`CallerStream` is the response to one caller, which counts among the caller's open streams, and ends with the key.
`Ledger` has what keys with limits have used in this minute, over all processes, and gives the meter of one request.
"""

import asyncio
import contextlib
import ipaddress
import math
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from http import HTTPStatus

from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive, Scope, Send

from api.access.keys import Caller, Keyring
from api.problems import problem_of
from app.access.access import NO_METER, Meter
from core.errors import RateLimited, TooLarge, Unavailable
from core.keys import KeyUsage
from core.ports.record.questions import Keys

MOST = 10
"""Wrong keys of one address in a minute, per process."""

_SECONDS = 60.0
_ADDRESSES = 10_000
_NETWORK_BITS = 64


class Attempts:
    """Counts in memory. An address of IPv6 counts with its network: one machine has all addresses of it."""

    def __init__(self) -> None:
        self._wrong: dict[str, tuple[float, int]] = {}
        """For each address the end of its minute, and the number of wrong keys; the oldest first."""

    def judge(self, address: str, found: Caller | str, *, guessable: bool) -> Caller | str:
        """Returns the holder of a key that an address has shown, or what is wrong with the key, which is counted.

        `guessable` says whether the key is short. Raises `RateLimited` for a wrong or short key if the address has
        shown as many wrong keys as it may. No call waits in between, so keys that are shown at the same time count.
        """
        network, now = network_of(address), time.monotonic()
        end, count = self._wrong.get(network, (0.0, 0))
        is_exceeded = count >= MOST and end > now
        if is_exceeded and (guessable or isinstance(found, str)):
            raise RateLimited(
                f"this address has shown {MOST} wrong keys in a minute; try again in {math.ceil(end - now)} seconds",
                retry_after=end - now,
            )
        if isinstance(found, str):
            self._count(network, now)
        return found

    def _count(self, network: str, now: float) -> None:
        end, count = self._wrong.pop(network, (0.0, 0))
        self._wrong[network] = (end, count + 1) if end > now else (now + _SECONDS, 1)
        if len(self._wrong) > _ADDRESSES:
            self._wrong = {one: kept for one, kept in self._wrong.items() if kept[0] > now}
        while len(self._wrong) > _ADDRESSES:
            del self._wrong[next(iter(self._wrong))]


def network_of(address: str) -> str:
    """Returns the network of an address of IPv6, since one machine has all addresses of it; any other text as it is."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:  # the name of a socket, or none
        return address
    if found.version == 4:
        return address
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return str(mapped or ipaddress.ip_network((found, _NETWORK_BITS), strict=False))


_NO_BODY = frozenset({HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED})
_STREAM_RETRY_SECONDS = 5.0
_LOOK_SECONDS = 0.5
"""Between two looks at the key of a stream. Keys are read about every second, so a stream outlives its key by two."""


class CallerStream:
    """The response of one request. If it is a stream, it counts among the streams of its caller.

    Beyond the limit, the stream is refused before its first byte. A stream whose key is revoked or expires, or whose
    session ends, is cut off at its next piece, or within seconds if there is none. In both cases its work ends as if
    the client were gone.
    """

    def __init__(self, open_now: Counter[str], caller: Caller, most: int, send: Send, keyring: Keyring) -> None:
        self._open_now = open_now
        self._caller = caller
        self._most = most
        self._send = send
        self._keyring = keyring
        self._counted = False
        self._task: asyncio.Task[object] | None = None
        self._watch: asyncio.Task[None] | None = None
        self.refused = False
        self.cut = False

    async def run(self, work: Awaitable[None]) -> None:
        """Awaits the application, which sends the response, until it ends or is cut off."""
        self._task = task = asyncio.current_task()
        try:
            await work
        except asyncio.CancelledError:
            if not self.cut or task is None or task.uncancel():
                raise
        except Exception:
            if not self.cut:  # what the application raises when it is cut off depends on where it is
                raise
        finally:
            self._end()

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start" and self._caller.id and _is_stream(message):
            self._begin()
        elif self._counted:
            await self._look_at_key()
        if self.cut:
            raise ClientDisconnect
        await self._send(message)

    def _begin(self) -> None:
        if self._open_now[self._caller.id] >= self._most:
            self.refused = self.cut = True
        else:
            self._open_now[self._caller.id] += 1
            self._counted = True
            self._watch = asyncio.create_task(self._cut_off_with_key(), name="watching the key of a stream")

    async def _look_at_key(self) -> None:
        if self._caller.is_of_token:
            self.cut = self.cut or self._caller.is_expired
            return
        with contextlib.suppress(Unavailable):  # a stream goes on while the record does not answer
            await self._keyring.refresh()
        self.cut = self.cut or self._caller.is_expired or not self._keyring.is_active(self._caller.id)

    async def _cut_off_with_key(self) -> None:
        """Cancels the application once the key is gone: it may have nothing to send for long, or wait for a client."""
        while not self.cut:
            await asyncio.sleep(_LOOK_SECONDS)
            await self._look_at_key()
        if self._task is not None:
            self._task.cancel()

    def _end(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
        if self._counted:
            self._open_now[self._caller.id] -= 1
            self._open_now += Counter()  # keeps no entry of callers without a stream

    async def refuse(self, scope: Scope, receive: Receive) -> None:
        error = RateLimited(
            f"this key has {self._most} streams open, as many as this server allows "
            "(HOPWEAVE_API__MAX_STREAMS); close one",
            retry_after=_STREAM_RETRY_SECONDS,
        )
        await problem_of(error, scope["path"])(scope, receive, self._send)


def _is_stream(message: Message) -> bool:
    """Whether a response has a body whose length nobody knows yet: events, lines of JSON, an export."""
    has_length = any(name.lower() == b"content-length" for name, _ in message["headers"])
    return not has_length and message["status"] not in _NO_BODY


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
    """Implements `app.access.access.Meter` for one caller."""

    def __init__(self, ledger: Ledger, caller: Caller) -> None:
        self._ledger = ledger
        self._caller = caller

    async def admit_bytes(self, count: int) -> None:
        await self._ledger.admit(self._caller, KeyUsage(ingest_bytes=count))

    async def check_tokens(self) -> None:
        await self._ledger.check_tokens(self._caller)

    def add_tokens(self, count: int) -> None:
        self._ledger.add(self._caller, KeyUsage(tokens=count))
