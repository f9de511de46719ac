"""Rows of a search engine's answer as results: plain text, addresses of http and https only, none twice."""

import re
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urlsplit

from core.errors import ModelFailed
from core.ports.web import WebResult

__all__ = ["extract_text", "read_results"]

_LONGEST = 4000
"""Characters of a snippet; some engines send whole pages."""

_UNSEEN = re.compile(r"[\s\x00-\x1f\x7f]")
_SILENT = frozenset({"script", "style", "template", "noscript"})


def read_results(rows: Any, count: int, engine: str) -> list[WebResult]:
    """At most `count` results of a list of objects with `url`, `title` and `content`.

    Rows without text are passed over, and those whose address is no page's. Raises `ModelFailed`, naming the engine,
    where `rows` is no list.
    """
    if not isinstance(rows, list):
        raise ModelFailed(f"{engine} answered without a list of results")
    found: dict[str, WebResult] = {}
    for row in rows:
        if isinstance(row, dict) and (result := _result(row)) is not None:
            found.setdefault(result.url, result)
    return list(found.values())[: max(0, count)]


def extract_text(html: str) -> str:
    """What a reader of the markup sees, on one line."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return " ".join("".join(reader.parts).split())


def _result(row: dict[str, Any]) -> WebResult | None:
    url, title, text = (row.get(field) for field in ("url", "title", "content"))
    if not (isinstance(url, str) and isinstance(text, str) and _leads_to_a_page(url)):
        return None
    text = extract_text(text[: 4 * _LONGEST])[:_LONGEST]
    title = extract_text(title)[:_LONGEST] if isinstance(title, str) else ""
    return WebResult(url=url, title=title or url, text=text) if text else None


def _leads_to_a_page(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and not _UNSEEN.search(url)
    except ValueError:
        return False


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._silent = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002 - the base's
        if tag in _SILENT:
            self._silent += 1
        elif tag in {"br", "p", "div", "li", "td"}:
            self.parts.append(" ")

    def handle_endtag(self, tag: str) -> None:
        if tag in _SILENT:
            self._silent = max(0, self._silent - 1)

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.parts.append(data)
