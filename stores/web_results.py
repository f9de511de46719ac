"""Reads results from the response of a search engine: plain text, http and https URLs only, each URL once."""

import re
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlsplit

from core.errors import ModelFailed
from core.ports.retrieval import WebResult

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
