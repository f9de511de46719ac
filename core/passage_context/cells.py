"""The cell of a table that a citation is about, with the label of its row and the name of its column.

A quoted row has several cells. The one that the answer states is meant; if it states several, as an answer does that
quotes the whole row, the column that the question asks for tells which. Open this to change how a cell is chosen;
`grids` reads the tables.
"""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from core.documents import HEADING_SEPARATOR, Span
from core.passage_context.grids import GridRow, TextGrid, read_grids
from core.passage_context.tables import is_amount, is_date
from core.text.value_kinds import ValueKind, find_kind, find_stems

__all__ = ["TableCell", "find_cell", "name_cell"]

_FIGURE = re.compile(r"\d[\d.,\u202f\u00a0]*\d|\d")
_GROUPING = re.compile(r"[\s,\u202f\u00a0]")
_WORD = re.compile(r"\w+")
_MONEY = re.compile(r"[$€£¥]|\b(?:EUR|USD|GBP|CHF|JPY)\b|\d[.,]\d\d\b")
_TOTAL = find_stems("total sum amount Gesamt Summe Betrag montant somme")
_IN_LABEL = 0.5
"""How much a word of the question counts for a column if it is also in the label of the row."""
_OF_KIND, _SHARE = 0.3, 1.5
"""How much a value counts that is of the kind asked for; a share, if a percentage is asked for, beside any name."""
_SHORTEST, _SHORTENED = 3, 0.7
"""Letters of a name that may be the beginning of a word of the question, and how much that counts."""
_COUNT_ASKED = re.compile(r"\bhow many\b|\bwie ?viele\b|\bcombien d[e’']|\bnumber of\b|\bAnzahl\b", re.IGNORECASE)
_SHARE_ASKED = re.compile(r"%|\bper ?cent|\bProzent|\bpour ?cent", re.IGNORECASE)
_AFTER_ALL = "\U0010ffff"
_LONGEST = 40_000
"""Characters before a passage that are looked at for the header of its first table."""
_ASKED = 1000
"""Characters at each end of a question whose words choose a column; what is between them is a pasted text."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TableCell:
    """A cell, `text[span]`, with the label of its row and the name of its column; each is '' if there is none.

    `row` begins with the label of its group of rows, `column` with the name that spans several columns; parts are
    separated by `HEADING_SEPARATOR`.
    """

    row: str
    column: str
    value: str
    span: Span


def find_cell(
    text: str, span: Span, words: str = "", before: Sequence[str] = (), question: str = ""
) -> TableCell | None:
    """Returns the cell of a table that a quote, `text[span]`, is about; None if it is about none, or it is not known
    about which.

    That is the cell in which the quote stands, or one of its rows whose value `words`, a part of the answer, have. Of
    several, it is the cell whose column the question asks for, else the first one in the order of the words. `before`
    are the passages of the document before this one, in order: they may have the header of its table.
    """
    touched = [
        place
        for grid in read_grids(text)
        for row in grid.rows
        if row.start < span.end and span.start < row.end
        for place in row.cells
        if place[0] < place[1] and (row.names or place != row.named_by)
    ]
    inside = [place for place in touched if place[0] <= span.start and span.end <= place[1]]
    places = inside or _find_stated(text, touched, words)
    if not places and len(touched) == 1:
        places = touched
    if not places:
        return None
    named = _Naming(text, before)
    cells = [cell for place in places if (cell := named.name(Span(start=place[0], end=place[1])))]
    return _choose(cells, question) if cells else None


def name_cell(text: str, span: Span, before: Sequence[str] = ()) -> TableCell | None:
    """Returns the cell that stands at `text[span]`, or None if no cell of a table's body stands there."""
    return _Naming(text, before).name(span)


class _Naming:
    """The tables of a passage, by which its cells are named. One without a header may begin in a passage before."""

    def __init__(self, text: str, before: Sequence[str]) -> None:
        self._own = _Cells(text)
        self._above = "\n".join(before)[-_LONGEST:]

    def name(self, span: Span) -> TableCell | None:
        found = self._own.name(span)
        if found is None or self._own.has_header(span) or not self._above:
            return found
        shift = len(self._above) + 1
        moved = self._whole.name(Span(start=span.start + shift, end=span.end + shift))
        if moved is None:
            return found
        return replace(moved, span=Span(start=moved.span.start - shift, end=moved.span.end - shift))

    @cached_property
    def _whole(self) -> "_Cells":
        return _Cells(f"{self._above}\n{self._own.text}")


class _Cells:
    """The cells of a text's tables by their places, so that one of thousands is found without reading the others."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._places: list[tuple[int, int, int, GridRow, TextGrid]] = sorted(
            (
                (start, end, number, row, grid)
                for grid in read_grids(text)
                for row in grid.rows
                for number, (start, end) in enumerate(row.cells)
            ),
            key=lambda place: place[0],
        )
        self._starts = [place[0] for place in self._places]

    def has_header(self, span: Span) -> bool:
        """Returns whether the table of the cell in which a span stands has rows that name its columns."""
        place = self._find(span)
        return place is not None and bool(place[4].columns)

    def name(self, span: Span) -> TableCell | None:
        place = self._find(span)
        if place is None:
            return None
        start, end, number, row, grid = place
        names = row.names or grid.columns
        column = names[number] if number < len(names) else ""
        return TableCell(row=row.label, column=column, value=self.text[start:end], span=Span(start=start, end=end))

    def _find(self, span: Span) -> tuple[int, int, int, GridRow, TextGrid] | None:
        at = bisect_right(self._starts, span.start) - 1
        if at < 0:
            return None
        start, end = self._places[at][:2]
        return self._places[at] if span.start < max(end, start + 1) and span.end <= end else None


def _find_stated(text: str, places: Sequence[tuple[int, int]], words: str) -> list[tuple[int, int]]:
    """Returns the places of cells that the words state: amounts first, each kind in the order of the words."""
    figures = {_GROUPING.sub("", match[0]): match.start() for match in reversed(list(_FIGURE.finditer(words)))}
    folded = f" {' '.join(_WORD.findall(words.casefold()))} "
    found: list[tuple[int, int, tuple[int, int]]] = []
    for place in places:
        value = text[slice(*place)]
        if is_amount(value) and (own := _FIGURE.search(value)):
            if (at := figures.get(_GROUPING.sub("", own[0]))) is not None:
                found.append((0, at, place))
        elif wanted := " ".join(_WORD.findall(value.casefold())):
            at = folded.find(f" {wanted} ")
            if at >= 0:
                found.append((1, at, place))
    return [place for _, _, place in sorted(found)]


def _choose(cells: Sequence[TableCell], question: str) -> TableCell | None:
    """Returns the cell that a question asks for: the first one of those with the greatest score. If the question tells
    nothing of the columns, it is the only amount, or none; but of dates it is the first one, which reports have for the
    newest.

    A word of the question counts for each column that is named by it, the less the more columns have it. A cell whose
    value the question says is what it gives, not what it asks for.
    """
    if len(cells) == 1 or not question:
        return cells[0]
    question = question if len(question) <= 2 * _ASKED else f"{question[:_ASKED]} {question[-_ASKED:]}"
    asked = find_stems(question)
    ordered = sorted(asked)
    matched = {name: _match(name, ordered) for name in {cell.column for cell in cells}}
    columns = [matched[cell.column] for cell in cells]
    counts = Counter(stem for found in columns for stem in found)
    rows = find_stems(" ".join({cell.row for cell in cells}))
    kind = find_kind(question)
    scores = [
        (
            not _is_given(cell.value, asked),
            sum((_IN_LABEL if stem in rows else 1) * strength / counts[stem] for stem, strength in found.items())
            + _suit(cell, kind, question),
        )
        for cell, found in zip(cells, columns, strict=True)
    ]
    best = max(scores)
    if best[1] or len({cell.column for cell in cells}) == 1 or all(is_date(_last(cell.column)) for cell in cells):
        return cells[scores.index(best)]
    amounts = [cell for cell in cells if is_amount(cell.value)]
    return amounts[0] if len(amounts) == 1 else None


def _is_given(value: str, asked: Collection[str]) -> bool:
    stems = find_stems(value)
    return bool(stems) and stems <= set(asked)


def _last(name: str) -> str:
    return name.rpartition(HEADING_SEPARATOR)[2]


def _match(name: str, asked: Sequence[str]) -> dict[str, float]:
    """Returns the words of a question that the name of a column has, and how surely: `Max` may be short for maximum.

    The words that are asked for are ascending, so that those with one beginning stand beside one another.
    """
    found: dict[str, float] = {}
    for stem in find_stems(name):
        at = bisect_left(asked, stem)
        if asked[at : at + 1] == [stem]:
            found[stem] = 1
        elif len(stem) >= _SHORTEST and stem.isalpha():
            for word in asked[at : bisect_left(asked, f"{stem}{_AFTER_ALL}")]:
                found.setdefault(word, _SHORTENED)
    return found


def _suit(cell: TableCell, kind: ValueKind, question: str) -> float:
    """Returns how well a cell suits the kind of value that is asked for; it decides where no column is named."""
    match kind:
        case ValueKind.NUMBER if is_amount(cell.value):
            is_money = bool(_MONEY.search(cell.value) or _MONEY.search(cell.column))
            is_share = "%" in cell.value or "%" in cell.column
            if _SHARE_ASKED.search(question):
                return _SHARE if is_share else _OF_KIND
            if _COUNT_ASKED.search(question):
                return _OF_KIND * (1 + 0.2 * (not is_money and not is_share))
            return _OF_KIND * (1 + 0.2 * is_money + 0.1 * bool(_TOTAL & find_stems(cell.column)))
        case ValueKind.DATE if is_date(cell.value):
            return _OF_KIND
        case _:
            return 0.0
