"""Running lines: headers, footers and page numbers, which pages repeat."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from core.text.titles import one_line
from indexer.loading.pdf.layout import Line

__all__ = ["drop_running_lines"]

_EDGE = 2
"""Lines at the top and at the bottom of a page that may be running ones."""
_MIN_PAGES = 3
_SHARE = 0.25
_NUMBER = re.compile(
    r"\W*+(?:(?:page|seite|p\.|s\.)\s*+)?(\d{1,5})(?:\s*(?:/|of|von|de|sur)\s*\d{1,5})?\W*", re.IGNORECASE
)


def drop_running_lines(pages: Sequence[Sequence[Line]]) -> list[list[Line]]:
    """Returns the pages without lines that a quarter of them has at an edge, and without their numbers.

    The first page that has such a line keeps it, since it may be the title. Numbers are those that grow with the pages.
    """
    least = max(_MIN_PAGES, _SHARE * len(pages))
    edges = [list(_edges(page)) for page in pages]
    texts = Counter(text for page in edges for text in {text for _, text in page})
    shifts = Counter(n - index for index, page in enumerate(edges) for n in {_number(text) for _, text in page} if n)
    running = {text for text, count in texts.items() if count >= least}
    numbering = {shift for shift, count in shifts.items() if count >= least}
    kept: list[list[Line]] = []
    seen: set[str] = set()
    for index, (page, edge) in enumerate(zip(pages, edges, strict=True)):
        numbers = {n for n, text in edge if (number := _number(text)) and number - index in numbering}
        repeated = {n for n, text in edge if text in seen}
        seen |= {text for _, text in edge} & running
        kept.append([line for n, line in enumerate(page) if n not in numbers | repeated])
    return kept


def _edges(page: Sequence[Line]) -> Iterator[tuple[int, str]]:
    """Yields the indices and texts of the lines at the edges of a page."""
    for n, line in enumerate(page):
        if n < _EDGE or n >= len(page) - _EDGE:
            yield n, one_line(line.text)


def _number(text: str) -> int:
    """Returns the number of a page that a line consists of, or 0."""
    match = _NUMBER.fullmatch(text)
    return int(match[1]) if match else 0
