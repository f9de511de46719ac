"""Images of pages of PDF files, which a parser process of its own draws, one after the other."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

from core.errors import LoadFailed, NotFound
from indexer.isolation.frames import DRAW, decode_drawn_page
from indexer.isolation.lane import Lane, LaneLimits
from indexer.isolation.limits import ParserLimits
from indexer.isolation.parser_process import ParserProcess
from indexer.loading.pdf.drawing import DrawnPage

__all__ = ["PageImages", "has_page_images"]

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
