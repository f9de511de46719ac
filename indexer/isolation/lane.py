"""A lane: one thread in which the files of several callers are parsed or drawn, one after the other.

Images of pages of PDF files are drawn in a lane, by a parser process of its own.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from core.errors import LoadFailed, NotFound, RateLimited, Unavailable
from core.execution.limits import FairSlots
from indexer.isolation.frames import DRAW, decode_drawn_page
from indexer.isolation.limits import ParserLimits
from indexer.isolation.parser_process import ParserProcess
from indexer.loading.pdf.drawing import DrawnPage

T = TypeVar("T")
RunInLane = Callable[..., Awaitable[Any]]
"""Runs a function with its arguments in the thread of a lane."""

_STOPPING = "the server is stopping"
_SECONDS_BETWEEN_INTERRUPTS = 0.2


@dataclass(frozen=True, kw_only=True)
class LaneLimits:
    """How many calls are admitted at a time, in all and of one caller. `what` names them in messages."""

    what: str
    all: int
    of_one: int


class Lane:
    """Callers take turns, so that a caller with many calls makes others wait for at most one of them.

    A call that is cancelled while it waits is not carried out. If it runs already, `interrupt` ends its work.
    """

    def __init__(self, name: str, limits: LaneLimits, interrupt: Callable[[], None]) -> None:
        self._limits = limits
        self._interrupt = interrupt
        self._thread = ThreadPoolExecutor(1, name)
        self._admitted: dict[str, int] = {}
        self._turns = FairSlots(1)
        self._is_closed = False

    @property
    def admitted(self) -> int:
        """The number of calls that wait or run."""
        return sum(self._admitted.values())

    @asynccontextmanager
    async def admit(self, caller: str) -> AsyncIterator[None]:
        """Admits a call, which may take any number of turns. Raises `RateLimited` if too many are admitted already."""
        if self._is_closed:
            raise Unavailable(_STOPPING)
        own = self._admitted.get(caller, 0)
        if own >= self._limits.of_one or self.admitted >= self._limits.all:
            raise RateLimited(
                f"{own or 'too many'} {self._limits.what} are waited for already; ask for fewer at a time"
            )
        self._admitted[caller] = own + 1
        try:
            yield
        finally:
            self._admitted[caller] -= 1
            if not self._admitted[caller]:
                del self._admitted[caller]

    @asynccontextmanager
    async def turn(self, caller: str) -> AsyncIterator[RunInLane]:
        """Waits for the turn of an admitted call, and yields what runs functions in the thread."""
        await self._turns.acquire(caller)
        running: list[asyncio.Future[Any]] = []

        async def run(function: Callable[..., T], *arguments: object) -> T:
            loop = asyncio.get_running_loop()
            running.append(future := loop.run_in_executor(self._thread, function, *arguments))
            return await asyncio.shield(future)

        try:
            yield run
        finally:
            self._end_turn(running[-1] if running else None)

    def close(self) -> None:
        """Refuses calls that still wait. What runs goes on to its end."""
        self._is_closed = True
        self._thread.shutdown(wait=False, cancel_futures=True)
        self._turns.fail_waiting(lambda: Unavailable(_STOPPING))

    def _end_turn(self, last: "asyncio.Future[Any] | None") -> None:
        """Passes the turn on when nothing runs in the thread any more."""
        if last is None or last.done():
            self._turns.release()
            return
        last.add_done_callback(self._end_abandoned)
        self._interrupt_until_done(last)

    def _interrupt_until_done(self, running: "asyncio.Future[Any]") -> None:
        """The work may be between two steps that can be interrupted."""
        if not running.done():
            self._interrupt()
            loop = asyncio.get_running_loop()
            loop.call_later(_SECONDS_BETWEEN_INTERRUPTS, self._interrupt_until_done, running)

    def _end_abandoned(self, ended: "asyncio.Future[Any]") -> None:
        if not ended.cancelled():
            ended.exception()  # nobody waits for it
        self._turns.release()


_LIMITS = LaneLimits(what="images of pages", all=64, of_one=16)
_MODULES = ("indexer.loading.pdf.drawing", "pypdfium2")
"""Imported when the process starts, so that the first page does not wait for them."""


def has_page_images(media_type: str) -> bool:
    """Returns whether pages of documents of a media type can be drawn."""
    from indexer.loaders.pdf import MEDIA_TYPES  # imports no parser, and many modules

    return media_type.partition(";")[0].strip().lower() in MEDIA_TYPES


class PageImages:
    """Draws pages, one at a time, so that loading does not wait for it. `seconds` limit the time of each page."""

    def __init__(self, limits: ParserLimits | None = None, seconds: float = 20.0) -> None:
        limits = replace(limits or ParserLimits(), seconds=seconds, seconds_setting="HOPWEAVE_PARSER__IMAGE_SECONDS")
        self._process = ParserProcess(limits, _MODULES)
        self._lane = Lane("page-images", _LIMITS, self._process.interrupt)

    @property
    def parser_pid(self) -> int | None:
        """The number of the parser process, if it runs."""
        return self._process.pid

    async def prepare(self) -> None:
        """Starts the process, and from now on each successor in advance, so that no page waits for a start.

        Does not wait for the start. Raises `Unavailable` if the system starts no process.
        """
        await asyncio.to_thread(self._process.prepare)

    async def draw(
        self,
        key: str,
        content: bytes | Callable[[], Awaitable[bytes]],
        number: int,
        *,
        width: int,
        mark: str = "",
        caller: str = "",
    ) -> DrawnPage:
        """Draws page `number`, counted from 1, with the words of `mark` highlighted.

        If `content` is a function, it is called when the call has its turn, so that only one file is in memory.

        Raises `NotFound`, which says how many pages there are, `LoadFailed`, and `RateLimited` if too many calls wait.
        A call that is cancelled is not carried out, or ends.
        """
        request = {"task": DRAW, "key": key, "page": number, "width": width, "mark": mark}
        async with self._lane.admit(caller), self._lane.turn(caller) as run:
            read = content if isinstance(content, bytes) else await content()
            reply = await run(self._process.parse, key, request, read)
        try:
            drawn = decode_drawn_page(reply)
        except ValueError as error:
            raise LoadFailed(f"{key!r} cannot be drawn: its parser sent no valid reply ({error})") from error
        if not drawn.png:
            has = f"it has {drawn.pages:,} page{'s' if drawn.pages > 1 else ''}"
            raise NotFound(f"document {key!r} has no page {number}; {has}")
        return drawn

    async def close(self) -> None:
        """Ends the process, and refuses calls that still wait."""
        self._lane.close()
        await asyncio.to_thread(self._process.close)
