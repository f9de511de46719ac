"""The port of web search."""

from dataclasses import dataclass
from typing import Protocol

__all__ = ["WebResult", "WebSearch"]


@dataclass(frozen=True, kw_only=True)
class WebResult:
    """A result: an address of http or https, and plain text without markup. `text` is never empty."""

    url: str
    title: str
    text: str


class WebSearch(Protocol):
    """A search engine. The pages themselves are never fetched."""

    async def search(self, query: str, count: int) -> list[WebResult]:
        """Returns at most `count` results, best first, no address twice; fewer if the engine has no more.

        No word of the query is read as the engine's own syntax. Raises `Unavailable` if the engine cannot be reached or
        is overloaded, `ModelFailed` if it refuses or its answer contains no list of results.
        """
        ...

    async def close(self) -> None:
        """Closes connections; nothing may be searched afterwards."""
        ...
