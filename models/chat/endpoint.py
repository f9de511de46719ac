"""An endpoint that speaks OpenAI's chat protocol, its connections, and the limits of its requests.

First come limits of concurrent requests, and of requests and tokens per minute; slots and timeouts cover only the time
on the wire.
"""

import asyncio
import functools
import logging
import math
import ssl
import threading
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from pydantic import SecretStr

from core.errors import BudgetExhausted, InvalidSettings
from core.execution.bounded_answers import AnswerBounds, bounding_hooks
from core.execution.limits import FairSlots, current_caller
from core.telemetry.spans import add_headers
from models.endpoint_errors import show_address

_MINUTE = 60.0


@dataclass(kw_only=True)
class Spent:
    """A request of the last minute; its tokens are estimated until they are known."""

    at: float
    tokens: int


@dataclass
class _Gate:
    """The slots and lock of one event loop."""

    slots: FairSlots
    rates: asyncio.Lock = field(default_factory=asyncio.Lock)


class Limits:
    """Shared by all models of one endpoint in one process. None means no limit.

    Rates are counted over the last 60 seconds. A request larger than a minute's tokens is sent alone.
    """

    def __init__(
        self,
        *,
        concurrency: int,
        requests_per_minute: int | None = None,
        tokens_per_minute: int | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._concurrency = concurrency
        self._requests = requests_per_minute
        self._tokens = tokens_per_minute
        self._clock = clock
        self._sleep = sleep
        self._lock = threading.Lock()
        self._spent: deque[Spent] = deque()
        self._waiting = 0
        self._gates: WeakKeyDictionary[asyncio.AbstractEventLoop, _Gate] = WeakKeyDictionary()

    async def enter(self, tokens: int) -> Spent:
        """Waits for a slot, for which callers take turns, and then for the rates; `leave` releases the slot."""
        gate = self._of_this_loop()
        self._waiting += 1
        try:
            await gate.slots.acquire(current_caller())
        finally:
            self._waiting -= 1
        try:
            async with gate.rates:  # one at a time: small requests would overtake a large request forever
                while isinstance(spent := self._try(tokens), float):
                    await self._sleep(spent)
        except BaseException:
            gate.slots.release()
            raise
        return spent

    @property
    def has_waiting(self) -> bool:
        """Whether requests wait for a slot."""
        return self._waiting > 0

    def leave(self) -> None:
        """Releases a slot."""
        self._of_this_loop().slots.release()

    def _of_this_loop(self) -> "_Gate":
        return self._gates.setdefault(asyncio.get_running_loop(), _Gate(FairSlots(self._concurrency)))

    def _try(self, tokens: int) -> Spent | float:
        """Returns the entered request, or the seconds after which there may be room."""
        with self._lock:
            now = self._clock()
            while self._spent and self._spent[0].at <= now - _MINUTE:
                self._spent.popleft()
            if not self._spent or self._has_room(tokens):
                spent = Spent(at=now, tokens=tokens)
                self._spent.append(spent)
                return spent
            return self._spent[0].at + _MINUTE - now

    def _has_room(self, tokens: int) -> bool:
        if self._requests is not None and len(self._spent) >= self._requests:
            return False
        return self._tokens is None or sum(spent.tokens for spent in self._spent) + tokens <= self._tokens


_READ_LATER = 0.01
"""Seconds for which an answer is not parsed while other calls wait for a slot: answers come in bunches, prepared
requests leave within a millisecond, and parsing an answer takes several."""

_TURN: ContextVar["RequestSlot | None"] = ContextVar("turn", default=None)
_TIMER: ContextVar["tuple[asyncio.Timeout, float] | None"] = ContextVar("timer", default=None)


class NeverSent(BudgetExhausted):
    """Other calls used up the budget while this one waited for a slot."""


class RequestSlot:
    """The rate-limit slot of one call, which may send several requests. Within `hold` the requests of the task use it.

    `check` is called last, before a request leaves. With `early` the slot ends with the answer's last byte, otherwise
    with `hold`, so that the next check knows what this answer cost.
    """

    def __init__(self, limits: Limits, tokens: int, check: Callable[[], None], *, early: bool) -> None:
        self._limits = limits
        self._tokens = tokens
        self._check = check
        self.early = early
        self._spent: Spent | None = None
        self._on = False

    @contextmanager
    def hold(self) -> Iterator[None]:
        before = _TURN.set(self)
        try:
            yield
        finally:
            _TURN.reset(before)
            self.end()

    async def begin(self) -> None:
        if self._on:  # another request of the same call
            return
        first = self._spent is None
        self.cost(0)
        self._spent = await self._limits.enter(self._tokens)
        self._on = True
        try:
            self._check()
        except BudgetExhausted as error:
            if not first:
                raise
            raise NeverSent(str(error)) from error

    def end(self) -> None:
        if self._on:
            self._on = False
            self._limits.leave()

    @property
    def others_wait(self) -> bool:
        """Whether other calls wait for a slot."""
        return self._limits.has_waiting

    def cost(self, tokens: int) -> None:
        """Replaces the estimated tokens of the last request."""
        if self._spent is not None:
            self._spent.tokens = tokens


@contextmanager
def start_on_send(timer: asyncio.Timeout, seconds: float) -> Iterator[None]:
    """Starts `timer` when a request is sent, so that waiting for a slot does not count."""
    before = _TIMER.set((timer, seconds))
    try:
        yield
    finally:
        _TIMER.reset(before)


@contextmanager
def outside_calls() -> Iterator[None]:
    """Within it, requests take no slot and start no timer: they ask an endpoint about itself."""
    turn, timer = _TURN.set(None), _TIMER.set(None)
    try:
        yield
    finally:
        _TIMER.reset(timer)
        _TURN.reset(turn)


async def _on_request(request: Any) -> None:  # noqa: ARG001  # the client's hook
    """Called by the client before a request is sent."""
    turn, timer = _TURN.get(), _TIMER.get()
    if turn is not None:
        await turn.begin()
    if timer is not None:
        timer[0].reschedule(asyncio.get_running_loop().time() + timer[1])


async def _on_response(response: Any) -> None:
    """Called by the client when an answer starts; the slot ends when the answer's stream is closed."""
    turn = _TURN.get()
    if turn is None or not turn.early:
        return
    close = response.stream.aclose

    async def close_and_end() -> None:
        others_wait = turn.others_wait
        try:
            await close()
        finally:
            turn.end()
        if others_wait:
            await asyncio.sleep(_READ_LATER)

    response.stream.aclose = close_and_end


if TYPE_CHECKING:
    from openai import AsyncOpenAI

_PUBLIC = "https://api.openai.com/v1"
_NO_KEY = SecretStr("")
_CONNECT_SECONDS = 5.0


class Endpoint:
    """Connects, and imports the client library, with the first call. `url` has no secrets and is for messages;
    `address` may have some.

    A connection belongs to the event loop that opened it, so each loop has its own client.
    """

    def __init__(self, *, base_url: str = "", api_key: SecretStr = _NO_KEY, timeout: float = 120.0) -> None:
        if not base_url and not api_key.get_secret_value():
            raise InvalidSettings(
                "a language model needs HOPWEAVE_LLM__BASE_URL (a server of yours) or HOPWEAVE_LLM__API_KEY (OpenAI's)"
            )
        self.address = base_url or _PUBLIC
        self.url = show_address(self.address)
        self.key = api_key
        self.timeout = timeout
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, AsyncOpenAI] = WeakKeyDictionary()

    def client(self) -> "AsyncOpenAI":
        """Returns the client of the running event loop; the client itself does not retry."""
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            from openai import AsyncOpenAI, DefaultAsyncHttpxClient, Timeout

            _keep_prompts_out_of_logs()
            timeout = Timeout(self.timeout, connect=min(self.timeout, _CONNECT_SECONDS))
            hooks = bounding_hooks(AnswerBounds(seconds=math.inf))  # a timer limits the whole call
            hooks["request"] += [add_headers, _on_request]
            hooks["response"] += [_on_response]
            self._clients[loop] = AsyncOpenAI(
                api_key=self.key.get_secret_value() or "none",  # the client requires a key, local servers do not
                base_url=self.address,
                timeout=timeout,
                max_retries=0,
                # A redirect would send the prompt to an address that is not configured.
                http_client=DefaultAsyncHttpxClient(
                    timeout=timeout, event_hooks=hooks, follow_redirects=False, verify=make_ssl_context()
                ),
            )
        return self._clients[loop]

    async def close(self) -> None:
        """Closes this event loop's connections; a later call opens new ones."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.close()


@functools.cache
def make_ssl_context() -> ssl.SSLContext:
    """Returns the context of all clients. It takes a tenth of a second to make, so a server does it in a thread."""
    import httpx

    return httpx.create_ssl_context()


def _keep_prompts_out_of_logs() -> None:
    """Raises the client's log level, which at DEBUG logs whole requests. Setting the level of `openai` overrides it."""
    logger = logging.getLogger("openai")
    if logger.level == logging.NOTSET:
        logger.setLevel(logging.INFO)
