"""Running lines: headers, footers and page numbers, which pages of a PDF or of a text with form feeds repeat."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from core.text.titles import one_line
from indexer.loading.texts.chapter_words import word_level

_EDGE = 2
"""The number of lines at the top, and at the bottom, of a page that may be running lines."""
_MIN_PAGES = 3
_BOTH = 2
_SHARE = 0.25
_LONGEST = 200
_NUMBER = re.compile(
    r"^\d{1,5}(?=[\s|])|(?<![^\s|\[(])\d{1,5}(?=(?:\s?/\s?\d{1,5})?[\])]?$)|(?:(?<=page )|(?<=seite ))\d{1,5}\b",
    re.IGNORECASE,
)
"""A number at the beginning or the end of a line, or after "Page" or "Seite"."""
_NUMBER_ALONE = re.compile(
    r"\W*+(?:(?:page|seite|p\.|s\.)\s*+)?(\d{1,5})(?:\s*(?:/|of|von|de|sur)\s*\d{1,5})?\W*", re.IGNORECASE
)
_PAGE_BEFORE = re.compile(r"(?<![^\W\d_])(?:page|seite|p\.|s\.)\s?\Z", re.IGNORECASE)
_EXHIBIT = re.compile(r"(?:exhibit|schedule|annex|anlage|article|artikel)\s\d{1,5}\W?", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]{2}")
_LABEL_MARKS = " .-–—|[]()"


class _Form(NamedTuple):
    """What the lines at the edges of several pages share: the text around a number, and how it exceeds the page's."""

    before: str
    after: str
    shift: int

    @property
    def is_page_number(self) -> bool:
        """Whether the number is that of the page, and the word before it says so."""
        return self.shift == 1 and _PAGE_BEFORE.search(self.before) is not None


def find_running_lines(
    pages: Sequence[Sequence[str]], labels: Sequence[str] = (), *, has_cover: bool = True
) -> list[set[int]]:
    """Returns the indices of the running lines of each page.

    A running line stands at an edge of a page, and is one of these:
    - a line that a quarter of the pages have; the first page that has it keeps it, since it may be the title. Without
      a cover, the title is on the first page, so no other page keeps it,
    - a number that grows with the pages, alone, or in a line that is otherwise the same on three pages, or on both of
      two pages if it says `Page`,
    - the label of the page, such as `iv` or `A-3`, where the file has `labels`.

    A line with a number and words is kept if it is a heading, such as `Chapter 3`, or all that its page has.
    """
    least = max(_MIN_PAGES, _SHARE * len(pages))
    edges = [list(_edges(page)) for page in pages]
    texts = Counter(text for page in edges for text in {text for _, text in page})
    forms = Counter(
        form for index, page in enumerate(edges) for form in {form for _, text in page for form in _forms(text, index)}
    )
    running = {text for text, count in texts.items() if count >= least}
    both = {form for form, count in forms.items() if count == len(pages) == _BOTH and form.is_page_number}
    numbering = both | {
        form for form, count in forms.items() if count >= (_MIN_PAGES if form.before or form.after else least)
    }
    labelled = _labelled(edges, labels)
    found: list[set[int]] = []
    seen: set[str] = set()
    for index, edge in enumerate(edges):
        counted = {n for n, text in edge if any(form in numbering for form in _forms(text, index))}
        if index == 0 or has_cover:
            repeated = {n for n, text in edge if text in seen}
            seen |= {text for _, text in edge} & running
        else:
            repeated = {n for n, text in edge if text in running}
        dropped = counted | repeated | labelled[index]
        if all(n in dropped for n, line in enumerate(pages[index]) if line and not line.isspace()):
            dropped -= {n for n, text in edge if n in counted and not _NUMBER_ALONE.fullmatch(text)}
        found.append(dropped)
    return found


def _labelled(edges: Sequence[Sequence[tuple[int, str]]], labels: Sequence[str]) -> list[set[int]]:
    """Returns the lines that are the label of their page, if several pages have such a line."""
    if not labels:
        return [set() for _ in edges]
    found = [
        {n for n, text in edge if label and text.strip(_LABEL_MARKS).casefold() == label.casefold()}
        for edge, label in zip(edges, labels, strict=True)
    ]
    return found if sum(map(bool, found)) >= _MIN_PAGES else [set() for _ in edges]


def _edges(page: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yields the indices and texts of the lines at the edges of a page."""
    shown = [n for n, line in enumerate(page) if line and not line.isspace()]
    for n in dict.fromkeys([*shown[:_EDGE], *shown[-_EDGE:]]):
        yield n, one_line(page[n][:_LONGEST])


def _forms(text: str, index: int) -> Iterator[_Form]:
    """Yields what the line would share with others if one of its numbers counted the pages."""
    alone = _NUMBER_ALONE.fullmatch(text)
    if alone is not None:
        if int(alone[1]):
            yield _Form("", "", int(alone[1]) - index)
        return
    if word_level(text) or _EXHIBIT.fullmatch(text):
        return
    for found in _NUMBER.finditer(text):
        before, after = text[: found.start()], text[found.end() :]
        if _WORD.search(before) or _WORD.search(after):
            yield _Form(before, after, int(found.group()) - index)
