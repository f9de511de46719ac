"""Web search by a SearXNG instance's JSON API, which its settings must allow (`search.formats`)."""

from typing import Any

from pydantic import SecretStr

from core.errors import InvalidSettings, Unavailable
from core.ports.web import WebResult
from stores.web_endpoint import WebEndpoint
from stores.web_results import read_results

__all__ = ["SearxngWebSearch"]

_SYNTAX = "!?:<"
"""A word that begins so chooses engines, a language or a time limit, or (`!!`) sends the question elsewhere."""

_FORBIDDEN = "it refuses so where search.formats in its settings lack json, or where its limiter is on"
_NO_KEY = SecretStr("")


class SearxngWebSearch:
    """Reads the first page of results. A key is sent as a bearer token, for instances behind a gateway."""

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
        if not found and (silent := _silent(answer.get("unresponsive_engines"))):
            raise Unavailable(f"{self._endpoint.name}: none of its engines had results, and some failed ({silent})")
        return found

    async def close(self) -> None:
        await self._endpoint.close()


def _silent(rows: Any) -> str:
    """The engines that gave no answer, with the reason: [[name, reason], …]."""
    if not isinstance(rows, list):
        return ""
    return "; ".join(": ".join(map(str, row)) for row in rows[:5] if isinstance(row, list))[:200]
