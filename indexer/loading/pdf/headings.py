"""Headings of a PDF: from its outline, or else from the sizes of its fonts. `bold` finds those that are no larger."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.text.titles import one_line
from indexer.loading.assembly import clean_text
from indexer.loading.pdf.layout import Line

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument


_LARGER = 1.15
_MAX_LEVELS = 4
_MAX_CHARACTERS = 150
_MAX_SHARE = 0.3
_MAX_LINES = 3
_LEAST_PROSE = 12
"""Lines of a size of which it can be told that they are prose."""
_MAX_ITEMS = 20_000

_DIGITS = "0123456789"
_FOOTNOTED = re.compile(r"(?<![^\W\d_])[^\W\d_]{4,}+['\"”’»)]*[.!?]['\"”’»)]*\s+\d{1,3}\Z")  # no "Symphony No. 5"
_NO_WORD = re.compile(r"[\W_]+")


_NUMBER = re.compile(r"\s*(\d{1,3}(?:\.\d{1,3})*\.?)\s")

_ANNEX = re.compile(
    r"(?:\A|\| )(?:exhibit|annex|appendix|schedule|anlage)\s[A-Z0-9]{1,4}(?:[.-]\d{1,3})?(?:\([a-z0-9]{1,3}\))?\Z",
    re.IGNORECASE,
)
_ANNEX_LINES, _LONGEST_ANNEX = 2, 80


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of `lines` lines of a page, from the line `line` on. No lines: it is not in the text.

    `is_wide`: so much stands below it that it is in no path beside a heading below it.
    """

    level: int
    title: str
    line: int
    lines: int
    is_wide: bool = False


@dataclass(frozen=True, slots=True)
class OutlineItem:
    """An entry of the outline: the index of its page, and the y where it begins, if it says so."""

    level: int
    title: str
    page: int
    top: float | None


def read_outline(document: "PdfDocument") -> list[OutlineItem]:
    """Returns the entries of the outline that have a title and a page in the document."""
    from pypdfium2 import raw

    items: list[OutlineItem] = []
    for bookmark in document.get_toc():
        target, title = bookmark.get_dest(), one_line(clean_text(bookmark.get_title()))
        page = target.get_index() if target is not None else None
        if target is None or page is None or not title:
            continue
        mode, view = target.get_view()
        top = view[1] if mode == raw.PDFDEST_VIEW_XYZ and len(view) > 1 else None
        items.append(OutlineItem(bookmark.level + 1, title, page, top or None))
        if len(items) == _MAX_ITEMS:
            break
    return items


def find_in_outline(pages: Sequence[Sequence[Line]], outline: Iterable[OutlineItem]) -> dict[int, list[Heading]]:
    """Returns the headings by page: each at the line that has its title, else where the outline says."""
    found: dict[int, list[Heading]] = defaultdict(list)
    for item in outline:
        if item.page < len(pages):
            number, heading = _place(item, pages, found)
            found[number].append(heading)
    return {page: sorted(headings, key=lambda heading: heading.line) for page, headings in found.items()}


def _place(
    item: OutlineItem, pages: Sequence[Sequence[Line]], found: Mapping[int, Sequence[Heading]]
) -> tuple[int, Heading]:
    """Returns the heading with the index of its page.

    An entry may point to the end of a page although its heading begins the next page.
    """
    for number, limit in ((item.page, None), (item.page + 1, _MAX_LINES)):
        if number < len(pages):
            heading = _match(item, pages[number][:limit], _first_free(found.get(number, ())))
            if heading:
                return number, heading
    lines, first = pages[item.page], _first_free(found.get(item.page, ()))
    below = [n for n, line in enumerate(lines) if n >= first and item.top is not None and line.bottom <= item.top]
    return item.page, Heading(item.level, item.title, below[0] if below else min(first, len(lines)), 0)


def _first_free(headings: Sequence[Heading]) -> int:
    """Returns the line after the last heading of a page so far."""
    return headings[-1].line + headings[-1].lines if headings else 0


def _match(item: OutlineItem, lines: Sequence[Line], first: int) -> Heading | None:
    """Returns the heading at the lines that have the title, with or without its number; if possible, at one line."""
    wanted = fold_letters(item.title)
    letters = [fold_letters(line.text) for line in lines]
    for count in range(1, _MAX_LINES + 1):
        for start in range(first, len(lines) - count + 1):
            found = "".join(letters[start : start + count])
            if found == wanted or found.lstrip(_DIGITS) == wanted.lstrip(_DIGITS) != "":
                return Heading(item.level, _with_number(item.title, lines[start].text), start, count)
    return None


def _with_number(title: str, line: str) -> str:
    """Returns the title with the number that its line begins with: outlines often lack it, and texts refer to it."""
    number = _NUMBER.match(line)
    return f"{number[1]} {title}" if number and not title[:1].isdecimal() else title


def fold_letters(text: str) -> str:
    return _NO_WORD.sub("", text).casefold()


def find_in_sizes(pages: Sequence[Sequence[Line]]) -> dict[int, list[Heading]]:
    """Returns the headings by page: short lines in larger characters than most of the text.

    Each size is a level, but not the size of prose: of a manual that has more listings than prose, the prose is larger
    than most of the text. There are no headings if too many lines are larger.
    """
    weights: Counter[float] = Counter()
    for line in (line for page in pages for line in page):
        weights[_rounded(line.size)] += len(line.text)
    if not weights:
        return {}
    body = weights.most_common(1)[0][0]
    candidates = {
        (number, n): _rounded(line.size)
        for number, page in enumerate(pages)
        for n, line in enumerate(page)
        if line.size >= _LARGER * body and may_be_heading(line.text)
    }
    prose = _find_prose(candidates)
    candidates = {place: size for place, size in candidates.items() if size not in prose}
    if len(candidates) > max(_MAX_SHARE * sum(map(len, pages)), 1):
        return {}
    sizes = sorted(set(candidates.values()), reverse=True)
    levels = {size: min(level, _MAX_LEVELS) for level, size in enumerate(sizes, 1)}
    found: dict[int, list[Heading]] = defaultdict(list)
    for (number, n), size in sorted(candidates.items()):
        before = found[number][-1] if found[number] else None
        text, level = pages[number][n].text, levels[size]
        if before and before.level == level and before.line + before.lines == n and before.lines < _MAX_LINES:
            found[number][-1] = Heading(level, f"{before.title} {text}", before.line, before.lines + 1)
        else:
            found[number].append(Heading(level, text, n, 1))
    return dict(found)


def _find_prose(sizes: Mapping[tuple[int, int], float]) -> set[float]:
    """Returns the sizes most of whose lines follow one another, more of them than a heading has. Keys are the page and
    the line.
    """
    runs: Counter[tuple[int, int]] = Counter()
    first: dict[tuple[int, int], tuple[int, int]] = {}
    for number, n in sorted(sizes):
        goes_on = sizes.get((number, n - 1)) == sizes[number, n]
        first[number, n] = first[number, n - 1] if goes_on else (number, n)
        runs[first[number, n]] += 1
    lines = Counter(sizes.values())
    long: Counter[float] = Counter()
    for place, count in runs.items():
        long[sizes[place]] += count if count > _MAX_LINES else 0
    return {size for size, count in lines.items() if count >= _LEAST_PROSE and 2 * long[size] > count}


def may_be_heading(text: str) -> bool:
    """Whether the text is short, has letters, and is no end of a sentence with the number of a footnote."""
    return len(text) <= _MAX_CHARACTERS and any(c.isalpha() for c in text) and not _FOOTNOTED.search(text)


def begins_annex(lines: Sequence[Line]) -> bool:
    """Whether a page begins with the number of an annex, such as `Exhibit 31(a)`: what stands above it is over."""
    return any(_ANNEX.search(line.text[-_LONGEST_ANNEX:]) for line in lines[:_ANNEX_LINES])


def _rounded(size: float) -> float:
    return round(2 * size) / 2
