"""Headings of a PDF that are as large as its text: lines in bold, and short lines in italics.

Reports that a browser printed, and most contracts, have no other. Open this when a heading is missed, or a line of a
table is taken for a heading.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate

from core.passage_context.tables import is_date, is_row, split_cells
from indexer.loading.assembly import CELL_SEPARATOR
from indexer.loading.pdf.headings import Heading, fold_letters, may_be_heading
from indexer.loading.pdf.layout import Line
from indexer.loading.pdf.titles import is_cover
from indexer.loading.texts.chapter_words import word_level

_MAX_SHARE = 0.3
_FEWEST, _FEWEST_PAGES = 3, 2
"""Headings in bold, and pages that have them, of a document that is divided by them."""
_FEWEST_LETTERS = 2
_OPENING = "“”„«»‘'\"§¿¡([【（「『"
_LONGEST_ITALIC = 80
_MOST_BOLD_LINES = 4
_RUNNING = 3
"""A line in bold that so many pages have, such as the name of the company above each statement, is no heading."""
_WIDE_SHARE, _WIDE_LINES = 0.1, 150
"""The part of a document's lines, and the lines, that few headings have below them."""
_OTHER_SIZE = 0.75
"""Points by which lines of one heading do not differ."""
_LARGEST = 40.0
"""Points of a size above which no levels are told apart."""
_OF_PART = 1
"""What `word_level` returns of a part, such as `PART II`."""
_ITEM = re.compile(
    r"(?:item|article|art\.|section|note|exhibit|annex|appendix|schedule|clause|artikel|abschnitt|anhang|anlage|annexe"
    r"|§{1,2})\s?(?:[A-Z]?\d|[IVXLC]{1,6}\b|[A-Z]\b)",
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"\d{1,2}(?P<deeper>(?:\.\d{1,2}){0,3})[.)]?\s{1,4}[^\W\d_]")
_NO_HEADING = re.compile(
    r"\((?:continued|cont['’]?d\.?|fortsetzung|forts\.|suite)\)\W{0,2}\Z|/\Z|(?:\.\s?){4}", re.IGNORECASE
)
"""What goes on from the page before or in the next line, and a line of a table of contents."""
_WORD = re.compile(r"[^\W\d_]+")
_OF_COLUMNS = frozenset(
    "for the a and of as at in to from through until period periods ended ending three six nine twelve thirteen month "  # noqa: SIM905  # as lists of words are written elsewhere
    "months week weeks quarter quarters half year years fiscal first second third fourth q fy page pages "
    "january february march april may june july august september october november december jan feb mar apr jun jul aug "
    "sep sept oct nov dec unaudited audited restated million millions thousand thousands billion billions dollar "
    "dollars euro euros usd eur gbp chf mio mrd tsd teur except per share shares amounts "
    "number par value data quarterly annual or which are reflected "
    "für das die der zum bis vom und monat monate quartal halbjahr jahr geschäftsjahr januar februar märz mai juni "
    "juli oktober dezember ungeprüft seite anhang beträge mois trimestre semestre exercice clos janvier février mars "
    "avril juin juillet août septembre octobre novembre décembre le la les au aux et en milliers".split()
)
"""Words of lines that say only a period, a scale or what stands in a column. `Second Quarter Summary` has another."""
_MOST_LABELS = 2
_LONGEST_LABEL = 80
"""Lines between rows of a table that are no rows, such as `Current liabilities:`, and their characters."""


def find_repeated(pages: Sequence[Sequence[Line]]) -> frozenset[str]:
    """Returns the letters of the lines in bold that many pages have, which name no section."""
    counts = Counter(text for page in pages for text in {fold_letters(line.text) for line in page if line.is_bold})
    return frozenset(text for text, count in counts.items() if count >= _RUNNING)


def find_in_fonts(
    pages: Sequence[Sequence[Line]], larger: Mapping[int, Sequence[Heading]], repeated: Collection[str]
) -> dict[int, list[Heading]] | None:
    """Returns the headings by page: the `larger` lines (`find_in_sizes`), and below them lines in bold; None if these
    are too few to divide the document, on one page alone, or if too many lines are bold.

    What a line in bold begins with tells its level: a part, an item or a note, a number, a name; and names by their
    size, names in italics last. If the first page alone has larger lines, they name the document, and nothing stands
    below them. `repeated` are the lines of `find_repeated`, some of which may be left out of the pages.
    """
    bold = [line for page in pages for line in page if line.is_bold]
    if len(bold) > _MAX_SHARE * sum(map(len, pages)):
        return None
    taken = {
        (page, heading.line + n)
        for page, headings in larger.items()
        for heading in headings
        for n in range(heading.lines)
    }
    places = {place: count for place, count in _find_bold(pages, repeated) if place not in taken}
    if len(places) < _FEWEST or len({page for page, _ in places}) < _FEWEST_PAGES:
        return None
    ranks = {(page, n): _rank(pages[page][n]) for page, n in places}
    has_cover = is_cover(larger, len(pages))
    above = 0 if has_cover else max((heading.level for headings in larger.values() for heading in headings), default=0)
    levels = {rank: above + at for at, rank in enumerate(sorted(set(ranks.values())), start=1)}
    found = defaultdict[int, list[Heading]](list)
    for page, headings in larger.items():
        found[page] = [replace(heading, is_wide=has_cover) for heading in headings]
    for (page, n), count in places.items():
        title = " ".join(line.text for line in pages[page][n : n + count])
        found[page].append(Heading(levels[ranks[page, n]], title, n, count))
    return _mark_wide(
        {page: sorted(headings, key=lambda heading: heading.line) for page, headings in found.items()}, pages
    )


def _mark_wide(found: dict[int, list[Heading]], pages: Sequence[Sequence[Line]]) -> dict[int, list[Heading]]:
    """Returns the headings with a mark at those that have more than a tenth of the text below them, such as `PART I`:
    in a path they say the same of many passages.
    """
    starts = list(accumulate(map(len, pages), initial=0))
    most = max(_WIDE_SHARE * starts[-1], _WIDE_LINES)
    marked: dict[int, list[Heading]] = {page: [] for page in found}
    ends: dict[int, int] = {}
    for page in sorted(found, reverse=True):
        for heading in reversed(found[page]):
            start = starts[page] + heading.line
            end = min((at for level, at in ends.items() if level <= heading.level), default=starts[-1])
            marked[page].insert(0, replace(heading, is_wide=heading.is_wide or end - start > most))
            ends[heading.level] = start
    return marked


def _find_bold(pages: Sequence[Sequence[Line]], repeated: Collection[str]) -> Iterator[tuple[tuple[int, int], int]]:
    """Yields where headings in bold begin, `(page, line)`, with the number of their lines; and short lines in italics
    that stand alone.
    """
    for number, lines in enumerate(pages):
        at = 0
        while at < len(lines):
            end = at + 1
            if lines[at].is_bold or lines[at].is_italic:
                while end < len(lines) and _goes_on(lines[end], lines[at]):
                    end += 1
                start, count = _find_title(lines, at, end, repeated)
                if count:
                    yield (number, start), count
            at = end


def _goes_on(line: Line, first: Line) -> bool:
    """Returns whether a line may be of one heading with the line above it; `first` is the first line of that."""
    is_alike = (line.is_bold, line.is_italic) == (first.is_bold, first.is_italic)
    return is_alike and not line.is_first and abs(line.size - first.size) < _OTHER_SIZE and _rank_by_word(line) is None


def _find_title(lines: Sequence[Line], at: int, end: int, repeated: Collection[str]) -> tuple[int, int]:
    """Returns where the heading of the lines `at` to `end`, which look alike, begins, and its number of lines, or 0.

    The name of a company above it, which many pages have, is no part of it. Neither are captions and names of columns
    below it: "(In millions)" is read with the table.
    """
    while at < end and fold_letters(lines[at].text) in repeated:
        at += 1
    count = 0
    while at + count < end and _may_belong(lines[at + count], repeated):
        count += 1
    if (at + count < end and _explains(lines[at + count].text)) or (count and _is_no_title(lines[at])):
        return at, 0
    if not 0 < count <= _MOST_BOLD_LINES or _is_within_table(lines, at, at + count):
        return at, 0
    line = lines[at]
    is_alone = end - at == 1 and line.is_first and len(line.text) <= _LONGEST_ITALIC and line.text[-1] not in ".!?;,"
    return at, count if line.is_bold or is_alone else 0


def _may_belong(line: Line, repeated: Collection[str]) -> bool:
    return _names_section(line) and fold_letters(line.text) not in repeated


def _names_section(line: Line) -> bool:
    """Returns whether a line may be a line of a heading, and is neither a row, nor a caption or the name of columns."""
    text = line.text
    if not may_be_heading(text) or text.endswith(":") or (text[0] == "(" and text[-1] == ")"):
        return False
    if CELL_SEPARATOR in text or is_date(text) or _NO_HEADING.search(text):
        return False
    return any(word.casefold() not in _OF_COLUMNS for word in _WORD.findall(text))


def _is_no_title(line: Line) -> bool:
    """Returns whether a line is no heading by its first words: it is the end of a heading whose beginning has another
    font, and begins with a word in small letters, unlike `iPhone`; or a term that is defined, `--verbose`, `M_FATAL`.
    """
    text = line.text
    first = _WORD.match(text)
    if sum(map(str.isalpha, text)) < _FEWEST_LETTERS or (first is not None and first[0].islower()):
        return True
    return not (text[0].isalnum() or text[0] in _OPENING) or ("_" in text and " " not in text)


def _explains(text: str) -> bool:
    """Returns whether a line is what a form says of the line above: `(Exact name as in the charter)`."""
    return text[0] == "(" and any(word.casefold() not in _OF_COLUMNS for word in _WORD.findall(text))


def _is_within_table(lines: Sequence[Line], start: int, end: int) -> bool:
    """Returns whether the lines `start` to `end` stand between two rows of one table: `LIABILITIES` above `Debt | 5`.

    A row below that names columns begins another table, which may have a heading.
    """
    above = _find_row(lines[at].text for at in range(start - 1, -1, -1))
    below = _find_row(lines[at].text for at in range(end, len(lines)))
    if not above or not below:
        return False
    cells = split_cells(below)
    return bool(cells[0]) and not all(is_date(cell) for cell in cells[1:] if cell)


def _find_row(texts: Iterable[str]) -> str:
    """Returns the first of the texts that is a row, if nothing but a few labels stands before it, else ''."""
    for n, text in enumerate(texts):
        if is_row(text):
            return text
        if n == _MOST_LABELS or len(text) > _LONGEST_LABEL or text.endswith((".", "!", "?")):
            break
    return ""


def _rank(line: Line) -> tuple[float, float, bool]:
    """Returns what orders the levels of headings in bold or italics, the highest first."""
    by_word = _rank_by_word(line)
    if by_word is not None:
        return by_word, 0.0, False
    if numbered := _NUMBERED.match(line.text):
        return 3 + numbered["deeper"].count(".") / 10, 0.0, False
    return (4.0, -round(min(line.size, _LARGEST)), line.is_italic) if line.is_bold else (5.0, 0.0, True)


def _rank_by_word(line: Line) -> float | None:
    level = word_level(line.text)
    if level is not None and level[0] == _OF_PART:
        return 1.0
    return 2.0 if _ITEM.match(line.text) else None
