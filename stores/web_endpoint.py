"""The endpoint of a search engine: JSON over HTTP. Its failures become Hopweave's errors, which never show the key.

`read_results` reads its results: plain text, http and https URLs only, each URL once.
"""

import asyncio
import json
import re
from collections.abc import Mapping
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

import httpx
from pydantic import SecretStr

from core.errors import InvalidSettings, ModelFailed, Unavailable
from core.execution.bounded_answers import AnswerBounds, AnswerRefused, bounding_hooks
from core.ports.retrieval import WebResult

_TEMPORARY = {408, 425, 429}  # timeout, too early, too many requests; also everything from 500 on
_LARGEST = 8 * 1024 * 1024
_SHOWN = 200


class WebEndpoint:
    """One endpoint of a search engine. Redirects are refused; responses may have up to 8 MB.

    `hints` explain HTTP statuses of this engine in error messages.
    """

    def __init__(
        self, *, engine: str, url: str, api_key: SecretStr, timeout: float, hints: Mapping[int, str] | None = None
    ) -> None:
        try:
            self._url = httpx.URL(url)
        except httpx.InvalidURL as error:
            raise InvalidSettings(f"HOPWEAVE_WEB__URL cannot be read as an address: {error}") from error
        if self._url.scheme not in {"http", "https"} or not self._url.host:
            raise InvalidSettings(
                "HOPWEAVE_WEB__URL is not an address of http or https, such as https://search.example"
            )
        self.name = f"{engine} at {self._url.scheme}://{self._url.netloc.decode('ascii')}"
        self._key = api_key.get_secret_value()
        self._timeout = timeout
        self._hints = dict(hints or {})
        # connections belong to the event loop that opened them
        self._clients: WeakKeyDictionary[asyncio.AbstractEventLoop, httpx.AsyncClient] = WeakKeyDictionary()

    async def get(self, parameters: Mapping[str, str]) -> dict[str, Any]:
        return await self._request(httpx.Request("GET", self._url, params=dict(parameters)))

    async def post(self, body: Mapping[str, Any]) -> dict[str, Any]:
        return await self._request(httpx.Request("POST", self._url, json=dict(body)))

    async def close(self) -> None:
        """Closes the connections of this event loop. A later call opens new ones."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.aclose()

    async def _request(self, request: httpx.Request) -> dict[str, Any]:
        if self._key:
            request.headers["Authorization"] = f"Bearer {self._key}"
        request.headers["Accept"] = "application/json"
        try:
            async with asyncio.timeout(self._timeout):
                status, content = await self._send(request)
        except AnswerRefused as error:
            raise ModelFailed(f"{self.name} {error}") from error
        except (TimeoutError, httpx.TimeoutException) as error:
            raise Unavailable(
                f"{self.name} did not answer within {self._timeout:g} seconds (HOPWEAVE_WEB__TIMEOUT)"
            ) from error
        except httpx.HTTPError as error:
            raise Unavailable(
                f"{self.name} cannot be reached ({self._shorten(str(error))}): start it, or correct HOPWEAVE_WEB__URL"
            ) from error
        if status != httpx.codes.OK:
            is_temporary = status in _TEMPORARY or status >= 500
            said = self._shorten(content.decode("utf-8", "replace"))
            hint = f" ({self._hints[status]})" if status in self._hints else ""
            raise (Unavailable if is_temporary else ModelFailed)(
                f"{self.name} answered {status}: {said or 'nothing'}{hint}"
            )
        return self._parse(content)

    async def _send(self, request: httpx.Request) -> tuple[int, bytes]:
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            hooks = bounding_hooks(AnswerBounds(whole=_LARGEST, seconds=self._timeout))
            self._clients[loop] = httpx.AsyncClient(timeout=self._timeout, follow_redirects=False, event_hooks=hooks)
        response = await self._clients[loop].send(request)
        return response.status_code, response.content

    def _parse(self, content: bytes) -> dict[str, Any]:
        try:
            answer = json.loads(content)
        except RecursionError as error:
            raise ModelFailed(f"{self.name} answered with JSON that is nested too deeply") from error
        except ValueError as error:
            shown = self._shorten(content.decode("utf-8", "replace"))
            raise ModelFailed(f"{self.name} answered with invalid JSON: {shown or 'nothing'}") from error
        if not isinstance(answer, dict):
            raise ModelFailed(f"{self.name} answered with JSON that is not an object")
        return answer

    def _shorten(self, text: str) -> str:
        text = text.replace(self._key, "***") if self._key else text
        return " ".join(text[: 4 * _SHOWN].split())[:_SHOWN]


_LONGEST = 4000
"""Maximum number of characters of a snippet; some engines send whole pages."""

_INVISIBLE = re.compile(r"[\s\x00-\x1f\x7f]")
_HIDDEN = frozenset({"script", "style", "template", "noscript"})


def read_results(rows: Any, count: int, engine: str) -> list[WebResult]:
    """Returns at most `count` results of a list of objects with `url`, `title` and `content`.

    Rows without text are skipped, and rows whose URL names no page. Raises `ModelFailed`, with the engine, if
    `rows` is not a list.
    """
    if not isinstance(rows, list):
        raise ModelFailed(f"{engine} answered without a list of results")
    found: dict[str, WebResult] = {}
    for row in rows:
        if isinstance(row, dict) and (result := _make_result(row)) is not None:
            found.setdefault(result.url, result)
    return list(found.values())[: max(0, count)]


def extract_text(html: str) -> str:
    """Returns the visible text of HTML, on one line."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return " ".join("".join(reader.parts).split())


def _make_result(row: dict[str, Any]) -> WebResult | None:
    url, title, text = (row.get(field) for field in ("url", "title", "content"))
    if not (isinstance(url, str) and isinstance(text, str) and _is_page_url(url)):
        return None
    text = extract_text(text[: 4 * _LONGEST])[:_LONGEST]
    title = extract_text(title)[:_LONGEST] if isinstance(title, str) else ""
    return WebResult(url=url, title=title or url, text=text) if text else None


def _is_page_url(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and not _INVISIBLE.search(url)
    except ValueError:
        return False


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._hidden_depth = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002 - the base's
        if tag in _HIDDEN:
            self._hidden_depth += 1
        elif tag in {"br", "p", "div", "li", "td"}:
            self.parts.append(" ")

    def handle_endtag(self, tag: str) -> None:
        if tag in _HIDDEN:
            self._hidden_depth = max(0, self._hidden_depth - 1)

    def handle_data(self, data: str) -> None:
        if not self._hidden_depth:
            self.parts.append(data)
