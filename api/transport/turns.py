"""`Turns`: the middleware that lets addresses take turns at the event loop, so that none keeps the others waiting."""

import asyncio
import math
import time
from collections import deque
from collections.abc import Callable, Coroutine, Generator
from functools import partial
from typing import Any

from starlette.types import ASGIApp, Receive, Scope, Send

from api.access.attempts import network_of

__all__ = ["HEALTH", "Turns"]

HEALTH = frozenset({"/healthz", "/readyz"})
"""Paths that are answered at once: who asks for them has to know in time whether the server answers."""

_BUSY = 0.5
"""The part of the event loop's time from which on an address gets no more than its share of it."""
_MEMORY_SECONDS = 1.0
_STEP_SECONDS = 0.05
_LEAST = 0.001
"""The part of the time below which an address is forgotten, and is not one of those that share."""
_PAUSE_SECONDS = 0.01


class Turns:
    """ASGI middleware. Of each address one request begins in a round of the event loop; the others of it wait.

    If requests take more than half of the time of the event loop, those of an address that took more than the others
    wait, too, until it has not. An address that asks alone has all the time. Time counts that a request takes in the
    event loop, not in threads, processes and models, and is forgotten within seconds. Health is told without a turn.
    """

    def __init__(self, app: ASGIApp, *, clock: Callable[[], float] = time.perf_counter) -> None:
        self._app = app
        self._clock = clock
        self._used: dict[str, float] = {}
        """The part of the last second that each address took."""
        self._total = 0.0
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}
        self._begun: set[str] = set()
        """The addresses of which a request began in this round."""
        self._faded = clock()
        self._is_due = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        client = scope.get("client")
        if scope["type"] != "http" or not client or scope["path"] in HEALTH:
            await self._app(scope, receive, send)
            return
        network = network_of(client[0])
        await self._wait(network)
        await _Measured(self._run(scope, receive, send), self._clock, partial(self._count, network))

    async def _run(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)

    async def _wait(self, network: str) -> None:
        """Waits for a turn, which is then taken."""
        self._go_on_soon()
        if network not in self._waiting and self._may_begin(network):
            self._begun.add(network)
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(network, deque()).append(turn)
        await turn

    def _may_begin(self, network: str) -> bool:
        if network in self._begun:
            return False
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
        self._begun.clear()
        for network in list(self._waiting):
            self._begin(network)
        if self._waiting or self._begun:
            self._go_on_soon(0.0 if self._begun else _PAUSE_SECONDS)

    def _begin(self, network: str) -> None:
        """Begins the request of the address that has waited for the longest time, if the address may begin it."""
        turns = self._waiting[network]
        while turns and turns[0].done():  # it was cancelled
            turns.popleft()
        if turns and self._may_begin(network):
            turns.popleft().set_result(None)
            self._begun.add(network)
        if not turns:
            del self._waiting[network]

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
