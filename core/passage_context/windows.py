"""Passages shortened to the sentences that matter for a question: a small model reads slowly, and loses its way."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from core.documents import Span
from core.passage_context import TableCell, find_headed_tables, read_grids, split_heading, split_units
from core.passage_context.grids import GridRow
from core.passage_context.other_words import OtherWords, find_other_words
from core.passage_context.tables import split_cells
from core.ports.retrieval import Hit
from core.text.sentences import Range
from core.text.terms import split_words
from core.text.value_kinds import ValueKind, find_digits, find_kind, has_value
from core.text.word_lists import SMALL_WORDS

_FIRST = 0.8
"""The worth of the first sentence, which mostly says what the passage is about."""
_BRIDGE = 0.7
"""The worth of the title of another passage: the sentence leads there."""
_VALUE = 1.0
"""The worth of a value of the kind that the question asks for: as much as a word of the question."""
_PER_WORD = 1 / 200
_QUESTION_READ = 2000
_READ = 20_000
"""Characters of a passage whose cells are named; only passages that came with ready embeddings are longer."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Asked:
    """The kind of value that a question asks for, and its own stems and digits, which are no value. `terms` are what
    says the same as some of its words.
    """

    kind: ValueKind
    stems: frozenset[str]
    digits: frozenset[str]
    terms: tuple[OtherWords, ...]

    def without(self, stems: frozenset[str]) -> "_Asked":
        return replace(self, stems=self.stems - stems)

    def count_words(self, stems: frozenset[str]) -> int:
        """Returns how many words of the question a sentence with these stems has, in these or other words."""
        said = {stem for term in self.terms if term.is_in(stems) for stem in term.said}
        return len((stems | said) & self.stems)

    def is_in(self, text: str) -> bool:
        return has_value(self.kind, text, stems=self.stems, digits=self.digits)


def shorten_hits(question: str, hits: Sequence[Hit], sentences: int) -> tuple[Hit, ...]:
    """Returns the hits with this many sentences (rows, of a table) of each text, in their order.

    Kept are the sentences that share most words with the question, have a value of the kind that it asks for, name the
    titles of other passages, or come first. The cells of a row are named by their columns, and the cell that is asked
    for stands alone. Quotes of a shortened text are looked up in the whole text.
    """
    asked = _read(question)
    titles = [stems_of(hit.document.title) for hit in hits]
    return tuple(
        _shorten(question, hit, asked.without(titles[place]), [*titles[:place], *titles[place + 1 :]], sentences)
        for place, hit in enumerate(hits)
    )


def _read(question: str) -> _Asked:
    return _Asked(
        kind=find_kind(question),
        stems=stems_of(question),
        digits=find_digits(question),
        terms=tuple(find_other_words(question[:_QUESTION_READ])),
    )


def stems_of(text: str) -> frozenset[str]:
    """Returns the stems of a text's words, without function words."""
    return frozenset(
        word.stem for word in split_words(text) if text[word.start : word.end].casefold() not in SMALL_WORDS
    )


def _shorten(question: str, hit: Hit, asked: _Asked, others: Sequence[frozenset[str]], sentences: int) -> Hit:
    units = _list_units(question, hit)
    if len(units) <= sentences:
        return hit

    def worth(place: int) -> float:
        text = units[place].text
        stems = stems_of(text)
        bridges = sum(bool(title) and title <= stems for title in others)
        first = _FIRST if place == 0 else 0
        value = _VALUE if asked.is_in(text) else 0
        return asked.count_words(stems) + _BRIDGE * bridges + first + value - _PER_WORD * len(text.split())

    best = sorted(sorted(range(len(units)), key=worth, reverse=True)[:sentences])
    return _with_units(hit, [units[place] for place in best])


@dataclass(frozen=True, kw_only=True, slots=True)
class _Unit:
    """A sentence, or a row whose cells have the names of their columns. Where these are not known for each cell, the
    names of the table's `columns` stand above the row.
    """

    text: str
    columns: str = ""
    is_row: bool = False


def _list_units(question: str, hit: Hit) -> list[_Unit]:
    """Returns the sentences and rows of a hit, without the rows that name columns."""
    text = hit.chunk.text
    tables = list(find_headed_tables(hit.chunk.heading, text))
    columns = split_heading(hit.chunk.heading, text)[1]
    grids = read_grids(text[:_READ], is_cut=bool(columns), names=split_cells(columns) if columns else ())
    rows = {row.start: (row, row.names or grid.columns) for grid in grids for row in grid.rows}
    units = []
    at = 0
    for start, end in _split_at(split_units(text), sorted(rows)):
        while at < len(tables) and tables[at].end <= start:
            at += 1
        table = tables[at] if at < len(tables) and tables[at].start <= start else None
        unit = text[start:end].strip()
        if not unit or (table is not None and start < table.body):
            continue
        named = _name_cells(question, text, *rows[start]) if start in rows else ""
        header = table.header if table is not None and not named else ""
        units.append(_Unit(text=named or unit, columns=header, is_row=start in rows or table is not None))
    return units


def _split_at(ranges: Iterable[Range], starts: Sequence[int]) -> Iterator[Range]:
    """Yields ranges, divided where a row starts within them: rows that name their cells may be one sentence."""
    for start, end in ranges:
        within = [start, *starts[bisect_right(starts, start) : bisect_left(starts, end)], end]
        yield from pairwise(within)


def _name_cells(question: str, text: str, row: GridRow, names: Sequence[str]) -> str:
    """Returns a row as `Looms: 2023: 345; 2022: 401`, or '' if its label or the name of a column is not known.

    The cell that `choose_cell` finds stands alone, since a small model takes another cell of a wide row.
    """
    cells = [
        TableCell(
            row=row.label,
            column=names[n] if n < len(names) else "",
            value=text[start:end],
            span=Span(start=start, end=end),
        )
        for n, (start, end) in enumerate(row.cells)
        if start < end and (start, end) != row.named_by
    ]
    if not row.label or not cells or not all(cell.column for cell in cells):
        return ""
    from core.passage_context.asked_cell import choose_cell  # it needs numpy, which the command line starts without

    asked = choose_cell(cells, question) if len(cells) > 1 else None
    return f"{row.label}: {'; '.join(f'{cell.column}: {cell.value}' for cell in ([asked] if asked else cells))}"


def _with_units(hit: Hit, units: Sequence[_Unit]) -> Hit:
    """Returns a hit that has these units alone. Rows stand on lines of their own, below the names of their columns."""
    text = columns = ""
    for unit in units:
        if unit.is_row:
            names = f"\n{unit.columns}" if unit.columns != columns else ""
            text += f"{names}\n{unit.text}"
        else:
            text += f" {unit.text}"
        columns = unit.columns
    return replace(hit, chunk=replace(hit.chunk, text=text.strip()))
