"""`Turns`: the middleware that lets addresses take turns at the event loop, so that none keeps the others waiting."""

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable, Coroutine, Generator
from functools import partial
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from api.access.limits import network_of

HEALTH = frozenset({"/healthz", "/readyz"})
"""Paths that wait for no others: their callers must know in time whether the server answers."""

_AT_ONCE = 2
"""Requests that begin in a round of the event loop, of different addresses."""
_BUSY = 0.5
"""The part of the event loop's time from which on an address gets no more than its share of it."""
_MEMORY_SECONDS = 1.0
_STEP_SECONDS = 0.05
_LEAST = 0.001
"""The share of the time below which an address is forgotten, and does not count among the addresses that share it."""
_PAUSE_SECONDS = 0.01


class Turns:
    """ASGI middleware. In a round of the event loop two requests begin, of different addresses; addresses take turns.

    If requests take more than half of the time of the event loop, requests of an address that took more than the others
    wait, too, until it has not. An address that asks alone has all the time. Time counts that a request takes in the
    event loop, not in threads, processes and models, and is forgotten within seconds. Questions about health have a
    lane of their own, so that they wait for each other alone, and never for their share.
    """

    def __init__(self, app: ASGIApp, *, clock: Callable[[], float] = time.perf_counter) -> None:
        self._app = app
        self._clock = clock
        self._used: dict[str, float] = {}
        """The part of the last second that each address took."""
        self._total = 0.0
        self._health = _Lane(lambda _: True)
        self._others = _Lane(self._has_time)
        self._faded = clock()
        self._is_due = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        client = scope.get("client")
        if scope["type"] != "http" or not client:
            await self._app(scope, receive, send)
            return
        network = network_of(client[0])
        await self._wait(self._health if scope["path"] in HEALTH else self._others, network)
        await _Measured(self._run(scope, receive, send), self._clock, partial(self._count, network))

    async def _run(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)

    async def _wait(self, lane: "_Lane", network: str) -> None:
        """Waits for a turn, which is then taken."""
        self._go_on_soon()
        if not lane.begin_at_once(network):
            await lane.queue(network)

    def _has_time(self, network: str) -> bool:
        self._fade()
        return self._total <= _BUSY or self._used.get(network, 0.0) <= self._total / len(self._used)

    def _go_on_soon(self, seconds: float = 0.0) -> None:
        if not self._is_due:
            self._is_due = True
            loop = asyncio.get_running_loop()
            if seconds:
                loop.call_later(seconds, self._go_on)
            else:
                loop.call_soon(self._go_on)

    def _go_on(self) -> None:
        """Begins the next round."""
        self._is_due = False
        begun = self._health.begin_round() + self._others.begin_round()
        if begun or self._health.is_used or self._others.is_used:
            self._go_on_soon(0.0 if begun else _PAUSE_SECONDS)

    def _count(self, network: str, seconds: float) -> None:
        self._fade()
        part = seconds / _MEMORY_SECONDS
        self._used[network] = self._used.get(network, 0.0) + part
        self._total += part

    def _fade(self) -> None:
        """Forgets time that has passed."""
        now = self._clock()
        if (passed := now - self._faded) < _STEP_SECONDS:
            return
        self._faded = now
        rest = math.exp(-passed / _MEMORY_SECONDS)
        self._used = {network: used * rest for network, used in self._used.items() if used * rest > _LEAST}
        self._total = sum(self._used.values())


class _Lane:
    """Requests that wait, by address, the address whose turn is next first. `may_begin` says whether a request of an
    address may begin now.
    """

    def __init__(self, may_begin: Callable[[str], bool]) -> None:
        self._may_begin = may_begin
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}
        self._begun: set[str] = set()
        """The addresses of which a request began in this round."""

    @property
    def is_used(self) -> bool:
        """Whether a request waits, or has begun in this round."""
        return bool(self._waiting or self._begun)

    def begin_at_once(self, network: str) -> bool:
        """Returns whether a request of the address begins in this round, ahead of none that waits."""
        may = not self._waiting and network not in self._begun and len(self._begun) < _AT_ONCE
        if not may or not self._may_begin(network):
            return False
        self._begun.add(network)
        return True

    def queue(self, network: str) -> asyncio.Future[None]:
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(network, deque()).append(turn)
        return turn

    def begin_round(self) -> int:
        """Begins requests that wait, and returns how many."""
        self._begun.clear()
        for network in list(self._waiting):
            if len(self._begun) == _AT_ONCE:
                break
            self._begin(network)
        return len(self._begun)

    def _begin(self, network: str) -> None:
        """Begins the request of the address that has waited for the longest time, if it may begin."""
        turns = self._waiting.pop(network)
        while turns and turns[0].done():  # it was cancelled
            turns.popleft()
        if not turns:
            return
        if self._may_begin(network):
            turns.popleft().set_result(None)
            self._begun.add(network)
        if turns:
            self._waiting[network] = turns


class _Measured:
    """Awaits `work`, and counts the seconds in which it does not wait."""

    def __init__(
        self, work: Coroutine[Any, Any, None], clock: Callable[[], float], count: Callable[[float], None]
    ) -> None:
        self._work = work
        self._clock = clock
        self._count = count

    def __await__(self) -> Generator[Any, Any, None]:
        go_on: Callable[[], Any] = partial(self._work.send, None)
        while True:
            began = self._clock()
            try:
                awaited = go_on()
            except StopIteration:
                return
            finally:
                self._count(self._clock() - began)
            try:
                yield awaited
            except BaseException as error:  # noqa: BLE001 - it is raised where the work waits
                go_on = partial(self._work.throw, error)
            else:
                go_on = partial(self._work.send, None)
