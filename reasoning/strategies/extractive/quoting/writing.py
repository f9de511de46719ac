"""The text of an answer that quotes: which units, and how each is written."""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from core.documents import HEADING_SEPARATOR, Span
from core.passage_context import find_cell, find_context, split_heading
from core.passage_context.named_parts import asks_for_release, find_release, has_number
from core.passage_context.tables import BAR, is_amount, is_date, split_cells
from core.ports.reasoning import Citation, Quote
from core.text.periods import read_period
from core.text.shortening import shorten
from core.text.terms import split_words
from core.text.titles import find_name_words
from core.text.value_kinds import ValueKind, find_kind, find_signs, find_stems
from core.text.word_lists import SMALL_WORDS
from reasoning.citations.markers import make_citation
from reasoning.strategies.extractive.over_periods.tables import read_tables
from reasoning.strategies.extractive.over_periods.units import is_unscaled
from reasoning.strategies.extractive.quoting.entries import name_entry
from reasoning.strategies.extractive.quoting.feet import has_only_periods
from reasoning.strategies.extractive.quoting.units import READ, Unit, is_record, names_writer
from reasoning.strategies.extractive.quoting.wording import speaks_of_growth

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
_CURRENCY = re.compile(r"[$€£](?=\d)")
_LONGEST_NAMED = 400
"""Characters of a row with the names of its columns."""
_PREFIX = 5
"""Letters that two words must share at their beginning, if one is all of the beginning of the other."""
_LONG_ROW = 5
"""Cells of a row of which some are left out."""
_QUALIFIES = re.compile(
    r"(?:\w{1,40}[ _-])?(?:units?(?:[ _]of[ _]measure)?|currency(?:[ _]code)?|status|(?:maß)?einheit(?:en)?|währung"
    r"|unités?|devise|statut)",
    re.IGNORECASE,
)
"""Names of columns without which a value of another column may be misread: its unit, or that it is cancelled."""
_SEMICOLON = "; "
_OF_ANY_COLUMN = find_stems(
    "rate value number amount figure level percentage percent share many much "
    "Wert Anzahl Zahl Betrag Höhe Anteil Prozent taux valeur nombre montant part"
)
"""Words of a question that say of no column that it is another one."""


def choose(units: Sequence[Unit], most: int, extend: Callable[[Unit, bool], Unit] | None = None) -> list[Unit]:
    """Returns the best units, the best first. A unit that a better unit contains is left out, and a list whose item is
    better. Two statements of a report have the same row, with and without a sign of currency. `extend` gets each unit
    that is chosen, and whether it is the best one; what it returns counts if it overlaps no better unit.
    """
    chosen: list[Unit] = []
    said: list[str] = []
    for unit in units:
        text = _CURRENCY.sub("", unit.text) if unit.is_row else unit.text
        words = " ".join(text.casefold().split())
        if len(chosen) < most and not any(
            words in earlier or _overlap(unit, other) for earlier, other in zip(said, chosen, strict=True)
        ):
            longer = unit if extend is None else extend(unit, not chosen)
            chosen.append(unit if any(_overlap(longer, other) for other in chosen) else longer)
            said.append(words if chosen[-1] is unit else " ".join(longer.text.casefold().split()))
    return chosen


def _overlap(first: Unit, second: Unit) -> bool:
    is_same = first.hit.chunk.id == second.hit.chunk.id
    return is_same and first.span.start < second.span.end and second.span.start < first.span.end


@dataclass(frozen=True, kw_only=True, slots=True)
class Written:
    """A unit as an answer has it; `label` stands before it and is no part of the quote."""

    unit: Unit
    text: str
    label: str = ""


def write(question: str, units: Sequence[Unit], label: str = "") -> list[Written]:
    """Returns the units as an answer to the question has them. If it asks for a person, a sentence of a mail in which
    its writer says "I" or "me" has the sender before it. If it asks which version it is, a unit of the notes on a
    release has the heading of this release before it, unless the question names the release. A sentence that says "This
    option …" has its term before it.
    """
    asks_for_person = find_kind(question) is ValueKind.PERSON
    asks_which = asks_for_release(question)
    return [
        Written(
            unit=unit,
            text=write_unit(question, unit),
            label=label
            + (_name_writer(unit) if asks_for_person else "")
            + (_name_release(question, unit) if asks_which else "")
            + (f"{term}: " if (term := name_entry(question, unit)) else ""),
        )
        for unit in units
    ]


def _name_writer(unit: Unit) -> str:
    """Returns `From Ada Moe: ` for a sentence of the mail of Ada Moe in which she names herself; "" for any other."""
    if unit.is_row or unit.text.startswith(">") or not names_writer(unit.text):
        return ""
    sender = find_context(unit.hit.document, unit.hit.chunk).sender
    return f"From {sender}: " if sender else ""


def _name_release(question: str, unit: Unit) -> str:
    """Returns `2.6.1 (2025-12-08): ` for a unit below this heading, "" for any other."""
    document = unit.hit.document
    number, heading = find_release(unit.hit.chunk.heading, find_name_words(document.key, document.title))
    return f"{heading}: " if heading and not has_number(number, question) else ""


def write_nearest(units: Sequence[Unit]) -> list[Written]:
    """Returns the best unit of each of the three best passages, as an answer that declines has them."""
    best: dict[int, Unit] = {}
    for unit in units:
        if len(best) < _NEAREST:
            best.setdefault(unit.rank, unit)
    return [Written(unit=unit, text=shorten(unit.text, _LONGEST_NEAREST)) for unit in best.values()]


def cite(
    written: Sequence[Written], before: str = "", cited: Sequence[Citation] = ()
) -> tuple[str, tuple[Citation, ...]]:
    """Joins units behind `before`, each a paragraph with the marker of its passage, with a citation for each unit. The
    citation quotes the whole unit. `cited` are the citations of `before`, which go first.
    """
    markers = {citation.chunk_id: citation.marker for citation in cited}
    for item in written:
        markers.setdefault(item.unit.hit.chunk.id, len(markers) + 1)
    text = before
    citations = list(cited)
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
    - its columns are not times, but different things, some of which tell which row it is, and it is short
    - the question asks how much something changed, and the row tells it in percent beside amounts
    - the question has words of another cell or column, so that it asks for several cells

    Of a long row of different things, the cells that the question names are left (`_keep_asked`).
    """
    if not unit.is_row or unit.span.end > READ:
        return unit.text
    text = _write_cell(question[:_READ], unit)
    text = _keep_asked(question[:_READ], unit) if text == unit.text else text
    return _name_periods(unit) if text == unit.text else text


def _write_cell(question: str, unit: Unit) -> str:
    chunk = unit.hit.chunk
    corner, columns = _name_columns(unit)
    if not columns or (len(columns) > 1 and not all(map(is_date, columns))):
        return unit.text
    cells = [cell for cell in split_cells(unit.text)[1:] if is_amount(cell) or cell == "%"]
    if speaks_of_growth(question) and len({"%" in cell for cell in cells}) > 1:
        return unit.text
    cell = find_cell(chunk.text[:READ], unit.span, unit.text, [BAR.join([corner, *columns])], question)
    if cell is None or not cell.row or not cell.column or not cell.value:
        return unit.text
    named = find_stems(f"{cell.row} {cell.column} {unit.hit.document.title} {chunk.heading[:_READ]}")
    if (unit.stems | find_stems(" ".join(columns))) & find_stems(question) - named:
        return unit.text
    names = [*cell.row.split(HEADING_SEPARATOR), *cell.column.split(HEADING_SEPARATOR)]
    is_told = any(map(_SCALE.search, names)) or is_unscaled(cell.row)
    scale = f" (table: {corner})" if _SCALE.search(corner) and not is_told else ""
    return f"{', '.join(dict.fromkeys(names))}: {cell.value}{scale}"


def _name_periods(unit: Unit) -> str:
    """Returns a row most of whose columns are periods with the names of these beside its values, and the head of its
    group before its label: `Segment profit, Rolls: 6.4 (Three Months Ended July 1, 2023); 24.9 (…)`.

    Any other row stays as it is, and so does a row that would become long.
    """
    chunk = unit.hit.chunk
    found = ((table, row) for table in read_tables(unit.hit, {}) for row in table.rows if row.start == unit.span.start)
    table, row = next(found, (None, None))
    if table is None or row is None or row.names or not row.cells:
        return unit.text
    grid, head = table.grid, table.heads[row.start].strip(" :")
    label, *values = (" ".join(chunk.text[slice(*cell)].split()) for cell in row.cells)
    columns = [" ".join(name.replace(HEADING_SEPARATOR, " ").split()) for name in grid.columns[1:]]
    told = [(value, name) for value, name in zip(values, columns, strict=False) if value and value != label]
    periods = sum(read_period(name) is not None for _, name in told)
    if len(values) != len(columns) or not all(name for _, name in told) or 2 * periods <= len(told):
        return unit.text
    if any(not value.strip("()% ") for value, _ in told):  # signs in cells of their own
        return unit.text
    heads = (other for other in grid.rows if other.start <= row.start)
    if any(has_only_periods([chunk.text[slice(*cell)].strip() for cell in other.cells[1:]]) for other in heads):
        return unit.text  # a second header
    is_told = any(map(_SCALE.search, [label, *values, *columns])) or is_unscaled(f"{head} {label}")
    scale = f" (table: {grid.columns[0]})" if _SCALE.search(grid.columns[0]) and not is_told else ""
    if sum(other.label.endswith(label) for other in table.rows) > 1:  # only the head tells them apart
        label = ", ".join(
            dict.fromkeys(name for name in (head, *row.label.split(HEADING_SEPARATOR)[:-1], label) if name)
        )
    text = f"{label}: {_SEMICOLON.join(f'{value} ({name})' for value, name in told)}{scale}"
    return text if any(map(str.isalpha, label)) and len(text) <= _LONGEST_NAMED else unit.text


def _keep_asked(question: str, unit: Unit) -> str:
    """Returns of a long row the first cell, the cells that the question states, the cells whose column it names, and
    units and status, which qualify these: `state: Vermont; murder: 1.3` of eight cells. The row stays whole if no other
    column is named than columns of stated cells, or if the question has a word that stands neither in what is left nor
    in what the row is part of.
    """
    cells, between = read_cells(unit)
    if len(cells) < _LONG_ROW:
        return unit.text
    asked = {
        word.stem for word in split_words(question) if question[word.start : word.end].casefold() not in SMALL_WORDS
    }
    asked |= find_signs(question) - {""}
    named = [_find_said(find_stems(name), asked) for name, _ in cells]
    stated = [bool(find_stems(value) & asked) for _, value in cells]
    # Of "melting point", `boiling point` has one word, and `melting point` has both.
    best = [bool(own) and not any(own < other for other in named) for own in named]
    if not any(is_named and not is_stated for is_named, is_stated in zip(best, stated, strict=True)):
        return unit.text
    kept = [
        (name, value)
        for at, (name, value) in enumerate(cells)
        if not at or stated[at] or best[at] or _QUALIFIES.fullmatch(name)
    ]
    text = between.join(f"{name}: {value}" if name else value for name, value in kept)
    chunk = unit.hit.chunk
    said = find_stems(f"{text} {unit.hit.document.title} {chunk.heading[:_READ]}")
    return unit.text if asked - _find_said(said, asked) - _OF_ANY_COLUMN else text


def _find_said(stems: Collection[str], asked: Collection[str]) -> frozenset[str]:
    """Returns the asked stems that are among the stems, or begin with a long one of them, or the other way round:
    `supervis` of "supervises", `supervisor`.
    """
    long = [stem for stem in stems if len(stem) >= _PREFIX and stem.isalpha()]
    return frozenset(
        word
        for word in asked
        if word in stems
        or (len(word) >= _PREFIX and any(stem.startswith(word) or word.startswith(stem) for stem in long))
    )


def read_cells(unit: Unit) -> tuple[list[tuple[str, str]], str]:
    """Returns the cells of a row with the names of their columns, and what stands between two of them; no cells if not
    all columns have a name.
    """
    header = unit.columns or split_heading(unit.hit.chunk.heading, unit.hit.chunk.text)[1]
    is_list = is_record(unit.text)
    written = unit.text.split(_SEMICOLON) if is_list else split_cells(unit.text)
    between = _SEMICOLON if is_list else BAR
    if header and not is_list and not all(map(_has_name, written, split_cells(header))):
        names = split_cells(header)
        return (list(zip(names, written, strict=True)) if len(names) == len(written) else []), between
    cells = [(name, value) for name, colon, value in (cell.partition(": ") for cell in written) if colon]
    return (cells if len(cells) == len(written) else []), between


def _has_name(cell: str, name: str) -> bool:
    return cell.startswith(f"{name}: ")


def _name_columns(unit: Unit) -> tuple[str, list[str]]:
    """Returns the name of the column of labels, and the names of the columns of values."""
    header = unit.columns or split_heading(unit.hit.chunk.heading, unit.hit.chunk.text)[1]
    names = split_cells(header) if header else [field.partition(": ")[0] for field in split_cells(unit.text)]
    return names[0], names[1:]
