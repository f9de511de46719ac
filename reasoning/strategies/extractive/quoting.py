"""The text of an answer that quotes: which units, and how each is written."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from core.documents import HEADING_SEPARATOR, Span
from core.passage_context import find_cell, split_heading
from core.passage_context.tables import BAR, is_date, split_cells
from core.ports.reasoning import Citation, Quote
from core.text.shortening import shorten
from core.text.value_kinds import find_stems
from reasoning.citations.markers import make_citation
from reasoning.strategies.extractive.units import READ, Unit

__all__ = ["Written", "choose", "cite", "write", "write_nearest", "write_unit"]

_NEAREST = 3
_LONGEST_NEAREST = 200
_BETWEEN = "\n\n"
"""Rows and list items must not run into each other."""
_READ = 1000
"""Characters of a question, and of the headings of a passage, whose words are compared."""
_SCALE = re.compile(
    r"[$€£¥%]|\b(?:EUR|USD|GBP|CHF|JPY|dollars?|euros?|pounds?|pence|cents?|per share|je Aktie|par action"
    r"|thousands?|millions?|billions?|Tsd|Mio|Mrd|Tausend"
    r"|Millionen|Milliarden|milliers|milliards|per ?cent|Prozent)\b",
    re.IGNORECASE,
)
"""What the name of the column of labels tells of all cells: `GBP million`."""


def choose(units: Sequence[Unit], most: int) -> list[Unit]:
    """Returns the best units, the best first. A unit that a better unit contains is left out."""
    chosen: list[Unit] = []
    said: list[str] = []
    for unit in units:
        words = " ".join(unit.text.casefold().split())
        if len(chosen) < most and not any(words in earlier for earlier in said):
            chosen.append(unit)
            said.append(words)
    return chosen


@dataclass(frozen=True, kw_only=True, slots=True)
class Written:
    """A unit as an answer has it; `label` stands before it and is no part of the quote."""

    unit: Unit
    text: str
    label: str = ""


def write(question: str, units: Sequence[Unit], label: str = "") -> list[Written]:
    """Returns the units as an answer to the question has them."""
    return [Written(unit=unit, text=write_unit(question, unit), label=label) for unit in units]


def write_nearest(units: Sequence[Unit]) -> list[Written]:
    """Returns the best unit of each of the three best passages, as an answer that declines has them."""
    best: dict[int, Unit] = {}
    for unit in units:
        if len(best) < _NEAREST:
            best.setdefault(unit.rank, unit)
    return [Written(unit=unit, text=shorten(unit.text, _LONGEST_NEAREST)) for unit in best.values()]


def cite(written: Sequence[Written], before: str = "") -> tuple[str, tuple[Citation, ...]]:
    """Joins units behind `before`, each a paragraph with the marker of its passage, with a citation for each unit. The
    citation quotes the whole unit.
    """
    markers = {id: n for n, id in enumerate(dict.fromkeys(item.unit.hit.chunk.id for item in written), start=1)}
    text = before
    citations = []
    for item in written:
        unit = item.unit
        marker = markers[unit.hit.chunk.id]
        text += (_BETWEEN if text else "") + item.label
        start = len(text)
        text += item.text
        quote = Quote(hit=unit.hit, text=unit.text, span=unit.span)
        citations.append(make_citation(marker, quote, Span(start=start, end=len(text))))
        text += f" [{marker}]"
    return text, tuple(citations)


def write_unit(question: str, unit: Unit) -> str:
    """Returns a sentence as it is, and a row as the cell that the question asks for: `Revenue, Q3 2023: 418.7 (table:
    GBP million)` of `Revenue | 418.7 | 431.9`. All of it stands in the table.

    A row stays whole in these cases:

    - the names of its row and column are not known
    - its columns are not times, but different things, some of which tell which row it is
    - the question has words of another cell or column, so that it asks for several cells
    """
    chunk = unit.hit.chunk
    if not unit.is_row or unit.span.end > READ:
        return unit.text
    corner, columns = _name_columns(unit)
    if not columns or (len(columns) > 1 and not all(map(is_date, columns))):
        return unit.text
    cell = find_cell(chunk.text[:READ], unit.span, unit.text, [BAR.join([corner, *columns])], question)
    if cell is None or not cell.row or not cell.column or not cell.value:
        return unit.text
    named = find_stems(f"{cell.row} {cell.column} {unit.hit.document.title} {chunk.heading[:_READ]}")
    if (unit.stems | find_stems(" ".join(columns))) & find_stems(question[:_READ]) - named:
        return unit.text
    names = [*cell.row.split(HEADING_SEPARATOR), *cell.column.split(HEADING_SEPARATOR)]
    scale = f" (table: {corner})" if _SCALE.search(corner) and not any(map(_SCALE.search, names)) else ""
    return f"{', '.join(dict.fromkeys(names))}: {cell.value}{scale}"


def _name_columns(unit: Unit) -> tuple[str, list[str]]:
    """Returns the name of the column of labels, and the names of the columns of values."""
    header = unit.columns or split_heading(unit.hit.chunk.heading, unit.hit.chunk.text)[1]
    names = split_cells(header) if header else [field.partition(": ")[0] for field in split_cells(unit.text)]
    return names[0], names[1:]
