"""The web, as a search engine tells of it."""

from dataclasses import dataclass
from typing import Protocol

__all__ = ["WebResult", "WebSearch"]


@dataclass(frozen=True, kw_only=True)
class WebResult:
    """A page that was found: an address of http or https, and plain text without markup. `text` is never empty."""

    url: str
    title: str
    text: str


class WebSearch(Protocol):
    """A search engine. The pages themselves are never fetched."""

    async def search(self, query: str, count: int) -> list[WebResult]:
        """At most `count` results, best first, no address twice; fewer where the engine has no more to give.

        No word of the query is taken for the engine's own syntax. Raises `Unavailable` where the engine cannot be
        reached or has no time, `ModelFailed` where it refuses or answers with what are no results.
        """
        ...

    async def close(self) -> None:
        """Give back connections; nothing is searched afterwards."""
        ...
