"""Web search with the JSON API of a SearXNG instance, which its settings must allow (`search.formats`)."""

from typing import Any

from pydantic import SecretStr

from core.errors import InvalidSettings, Unavailable
from core.ports.retrieval import WebResult
from stores.web_endpoint import WebEndpoint, read_results

_SYNTAX = "!?:<"
"""A word with such a prefix chooses engines, a language or a time limit, or (`!!`) redirects the query."""

_FORBIDDEN = "a cause is that search.formats in its settings lack json, or that its limiter is on"
_NO_KEY = SecretStr("")


class SearxngWebSearch:
    """Fills `core.ports.retrieval.WebSearch` with the first page of results.

    A key is sent as a bearer token, for instances behind a gateway.
    """

    def __init__(self, *, url: str, api_key: SecretStr = _NO_KEY, timeout: float = 10.0) -> None:
        if not url:
            raise InvalidSettings("web.kind 'searxng' needs the instance's address: set HOPWEAVE_WEB__URL")
        address = url.rstrip("/").removesuffix("/search") + "/search"
        self._endpoint = WebEndpoint(
            engine="SearXNG", url=address, api_key=api_key, timeout=timeout, hints={403: _FORBIDDEN}
        )

    async def search(self, query: str, count: int) -> list[WebResult]:
        words = " ".join(filter(None, (word.lstrip(_SYNTAX) for word in query.split())))
        if not words or count < 1:
            return []
        answer = await self._endpoint.get({"q": words, "format": "json"})
        found = read_results(answer.get("results"), count, self._endpoint.name)
        if not found and (unresponsive := _describe_unresponsive(answer.get("unresponsive_engines"))):
            raise Unavailable(
                f"{self._endpoint.name}: none of its engines had results, and some failed ({unresponsive})"
            )
        return found

    async def close(self) -> None:
        await self._endpoint.close()


def _describe_unresponsive(rows: Any) -> str:
    """Returns the engines that did not answer, with reasons, from [[name, reason], …]."""
    if not isinstance(rows, list):
        return ""
    return "; ".join(": ".join(map(str, row)) for row in rows[:5] if isinstance(row, list))[:200]
