"""Headings of a PDF: from its outline, or else from the sizes of its fonts and from lines in bold."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.passage_context.tables import is_date
from core.text.periods import find_months
from core.text.titles import one_line
from indexer.loading.assembly import CELL_SEPARATOR, clean_text
from indexer.loading.pdf.layout import Line
from indexer.loading.texts.chapter_words import word_level

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

__all__ = [
    "Heading",
    "OutlineItem",
    "begins_annex",
    "find_in_fonts",
    "find_in_outline",
    "find_in_sizes",
    "read_outline",
]

_LARGER = 1.15
_MAX_LEVELS = 4
_MAX_CHARACTERS = 150
_MAX_SHARE = 0.3
_MAX_LINES = 3
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
_OF_PART = 1
"""What `word_level` returns of a part, such as `PART II`."""
_ITEM = re.compile(
    r"(?:item|article|art\.|section|note|exhibit|annex|appendix|schedule|clause|artikel|abschnitt|anhang|anlage|annexe"
    r"|§{1,2})\s?(?:[A-Z]?\d|[IVXLC]{1,6}\b|[A-Z]\b)",
    re.IGNORECASE,
)
_LONGEST_ITALIC = 80
_MOST_BOLD_LINES = 4
_RUNNING = 3
"""A line in bold that so many pages have, such as the name of the company above each statement, is no heading."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of `lines` lines of a page, from the line `line` on. No lines: it is not in the text."""

    level: int
    title: str
    line: int
    lines: int


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
    wanted = _letters(item.title)
    letters = [_letters(line.text) for line in lines]
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


def _letters(text: str) -> str:
    return _NO_WORD.sub("", text).casefold()


def find_in_sizes(pages: Sequence[Sequence[Line]]) -> dict[int, list[Heading]]:
    """Returns the headings by page: short lines in larger characters than most of the text.

    Each size is a level. There are none if too many lines are larger.
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
        if line.size >= _LARGER * body and _may_be_heading(line.text)
    }
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


def find_in_fonts(pages: Sequence[Sequence[Line]]) -> dict[int, list[Heading]]:
    """Returns the headings by page: larger lines (`find_in_sizes`), and below them lines in bold, if few lines are.

    Most reports and contracts have all headings in the size of the text. What they begin with tells the level: a part,
    an item or a note, a name, and a name in italics.
    """
    larger = find_in_sizes(pages)
    taken = {
        (page, heading.line + n)
        for page, headings in larger.items()
        for heading in headings
        for n in range(heading.lines)
    }
    bold = {place: lines for place, lines in _find_bold(pages) if place not in taken}
    if not bold or sum(bold.values()) > _MAX_SHARE * sum(map(len, pages)):
        return larger
    found = defaultdict[int, list[Heading]](list)
    above = max((heading.level for headings in larger.values() for heading in headings), default=0)
    places = {(page, n): (count, _level_of(pages[page][n])) for (page, n), count in bold.items()}
    levels = {level: above + at for at, level in enumerate(sorted({level for _, level in places.values()}), start=1)}
    for (page, n), (count, level) in places.items():
        title = " ".join(line.text for line in pages[page][n : n + count])
        found[page].append(Heading(levels[level], title, n, count))
    for page, headings in larger.items():
        found[page] = sorted([*headings, *found[page]], key=lambda heading: heading.line)
    return dict(found)


def _find_bold(pages: Sequence[Sequence[Line]]) -> Iterator[tuple[tuple[int, int], int]]:
    """Yields where headings in bold begin, `(page, line)`, with the number of their lines; and short lines in italics
    that stand alone. A line that many pages have is no heading, and neither is a line between two rows.
    """
    repeated = Counter(text for page in pages for text in {_letters(line.text) for line in page if line.is_bold})
    for number, lines in enumerate(pages):
        at = 0
        while at < len(lines):
            line, end = lines[at], at + 1
            if not line.is_bold and not line.is_italic:
                at = end
                continue
            while end < len(lines) and not lines[end].is_first and _is_alike(lines[end], line):
                end += 1
            group = [place for place in range(at, end) if repeated[_letters(lines[place].text)] < _RUNNING]
            if group and _is_section(lines, group):
                yield (number, group[0]), group[-1] + 1 - group[0]
            at = end


def _is_section(lines: Sequence[Line], group: Sequence[int]) -> bool:
    first, last = group[0], group[-1]
    if last - first >= _MOST_BOLD_LINES or not all(_names_section(lines[at]) for at in group):
        return False
    around = [lines[at].text for at in (first - 1, last + 1) if 0 <= at < len(lines)]
    if len(around) == 2 and all(CELL_SEPARATOR in text for text in around):
        return False
    line = lines[first]
    return line.is_bold or (first == last and line.is_first and len(line.text) <= _LONGEST_ITALIC)


def _is_alike(line: Line, other: Line) -> bool:
    return (line.is_bold, line.is_italic) == (other.is_bold, other.is_italic)


def _names_section(line: Line) -> bool:
    """Returns whether a line may be a line of a heading, and is neither a row, nor the name of columns."""
    text = line.text
    is_name = _may_be_heading(text) and not text.endswith(":") and not (text[0] == "(" and text[-1] == ")")
    return is_name and CELL_SEPARATOR not in text and not is_date(text) and not find_months(text)


def _level_of(line: Line) -> int:
    level = word_level(line.text)
    if level is not None and level[0] == _OF_PART:
        return 1
    if _ITEM.match(line.text):
        return 2
    return 3 if line.is_bold else 4


def _may_be_heading(text: str) -> bool:
    """Whether the text is short, has letters, and is no end of a sentence with the number of a footnote."""
    return len(text) <= _MAX_CHARACTERS and any(c.isalpha() for c in text) and not _FOOTNOTED.search(text)


def begins_annex(lines: Sequence[Line]) -> bool:
    """Whether a page begins with the number of an annex, such as `Exhibit 31(a)`: what stands above it is over."""
    return any(_ANNEX.search(line.text[-_LONGEST_ANNEX:]) for line in lines[:_ANNEX_LINES])


def _rounded(size: float) -> float:
    return round(2 * size) / 2
