"""Which of the rows that a question over periods may mean is taken, and in it the value of its document's own period.

A report of 2023 has the figures of 2022 and of nine months beside the figures of its quarter. Its own period is the
newest, and of these the shortest, unless the question says another length.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

from core.passage_context.asked_cell import choose_cell
from core.passage_context.cells import TableCell
from core.passage_context.other_words import find_said_labels
from core.text.periods import NO_END, Period, is_within
from core.text.titles import find_marks
from core.text.value_kinds import find_stems
from reasoning.strategies.extractive.over_periods.cells import SeriesCell, list_other_words
from reasoning.strategies.extractive.over_periods.rows import METRIC, Asked, SeriesRow, asks_for_share

_FEWEST = 2
_YEAR, _QUARTER = 12, 3
"""Months."""
_UNKNOWN = 99
"""Months of a period whose length no column says; more than of any that one says."""
_LABELS_OF_A_DAY = frozenset(
    label
    for term in ("inventories", "accounts receivable", "accounts payable", "total equity", "long-term debt")
    for label in find_said_labels(term)
)
"""What a balance sheet tells of a day; a statement of cash flows tells under the same labels how it changed."""
_WITHIN_MONTHS = re.compile(
    r"\b(?:(?:months|weeks|years?|quarter) ended|months|monaten?|wochen|halbjahr|mois|semestre)\b", re.IGNORECASE
)


def find_label(rows: Sequence[SeriesRow]) -> frozenset[str]:
    """Returns the name of the label that the question says best; of equal ones the label of the most documents."""
    documents, best = defaultdict[frozenset[str], set[str]](set), Counter[frozenset[str]]()
    for row in rows:
        documents[row.name].add(row.cells[0].hit.document.id)
        best[row.name] = max(best[row.name], round(10 * row.score))
    return max(best, key=lambda name: (best[name] // 20, len(documents[name]), best[name], sorted(name)))


def choose_rows(asked: Asked, rows: Sequence[SeriesRow]) -> dict[str, SeriesCell]:
    """Returns for each document the cell of its own period, by the document's id. `rows` have one label.

    If some documents name the periods of their columns, others are left out. So is a value that one table alone has,
    unless it stands in the best passage with the row: the table may divide up what that passage tells. Percentages are
    no values beside amounts, nor is what changed within months beside the values of days: documents whose value is of
    another kind than the values of the most documents are read again for a value of that kind.
    """
    if asked.said & _LABELS_OF_A_DAY and rows and rows[0].name == METRIC:
        rows = [replace(row, cells=tuple(cell for cell in row.cells if not _is_within_months(cell))) for row in rows]
        rows = [row for row in rows if row.cells]
    by_document = defaultdict[str, list[SeriesRow]](list)
    for row in rows:
        by_document[row.cells[0].hit.document.id].append(row)
    found = {id: _choose_of_document(asked, of_one) for id, of_one in by_document.items()}
    chosen = {id: cell for id, cell in found.items() if cell}
    dated = {id: cell for id, cell in chosen.items() if cell.period} or chosen
    shares = sum(cell.is_share for cell in dated.values())
    is_share = 2 * shares > len(dated)
    alike = {id: cell for id, cell in dated.items() if cell.is_share == is_share}
    on_days = sum(_is_of_a_day(cell) for cell in alike.values())
    if not alike or 2 * on_days == len(alike):
        return alike
    kind = is_share, 2 * on_days > len(alike)
    of_kind = {id: cell for id, cell in alike.items() if _kind_of(cell) == kind}
    for id in by_document.keys() - of_kind.keys():
        cell = _choose_of_document(asked, _keep_kind(by_document[id], kind))
        if cell and (cell.period or dated is chosen):
            of_kind[id] = cell
    return of_kind


def _is_within_months(cell: SeriesCell) -> bool:
    """Returns whether the column of a value says that it is of months: `Nine Months Ended June 25, 2022`."""
    return _WITHIN_MONTHS.search(cell.column) is not None


def _choose_of_document(asked: Asked, rows: Sequence[SeriesRow]) -> SeriesCell | None:
    """Returns the cell of a document's own period; None if no value is surely the one. `rows` are of one document."""
    own = _find_own_end(rows)
    found = [(row, cell) for row in rows if (cell := _choose_cell(asked, row)) is not None]
    if not found:
        return None
    wants_share = asks_for_share(asked)
    tables = Counter(value for value, _ in {(cell.amount.value, cell.hit.chunk.id) for _, cell in found})
    ranks = [_order(row, cell, own, tables, wants_share=wants_share) for row, cell in found]
    cell = found[ranks.index(min(ranks))][1]
    if cell.period and cell.period.end != own and any(unread.end == own for row in rows for unread in row.unread):
        return None
    of_kind = [other for row in rows for other in row.cells if _kind_of(other) == _kind_of(cell)]
    first = min(other.rank for other in of_kind)
    told = {other.amount.value for other in of_kind if other.rank == first}
    return cell if cell.amount.value in told or tables[cell.amount.value] > 1 else None


def _keep_kind(rows: Sequence[SeriesRow], kind: tuple[bool, bool]) -> list[SeriesRow]:
    """Returns the rows with their cells of one kind, without the rows that have none."""
    kept = [replace(row, cells=tuple(cell for cell in row.cells if _kind_of(cell) == kind)) for row in rows]
    return [row for row in kept if row.cells]


def _kind_of(cell: SeriesCell) -> tuple[bool, bool]:
    """Returns whether a value is a percentage, and whether it is of a day."""
    return cell.is_share, _is_of_a_day(cell)


def _is_of_a_day(cell: SeriesCell) -> bool:
    """Returns whether a value is of a day, as in a balance sheet: what inventories are on it, not how they changed."""
    return cell.period is not None and not cell.period.months and bool(cell.period.day)


def _order(
    row: SeriesRow,
    cell: SeriesCell,
    own: tuple[int, int, int] | None,
    tables: Mapping[Decimal, int],
    *,
    wants_share: bool,
) -> tuple[float, ...]:
    """Orders the cells of a document, the best first. Of several values under one label the value of the most `tables`
    goes first: a note divides up what statement and discussion tell.
    """
    return (
        own is not None and (cell.period is None or cell.period.end != own),
        cell.is_share != wants_share,
        -round(row.score),
        _length_of(row, cell),
        -tables[cell.amount.value],
        not cell.scale,
        -row.score,
        cell.rank,
    )


def _length_of(row: SeriesRow, cell: SeriesCell) -> int:
    """Returns the months of a value's period, so that the shortest goes first. Of two columns of one day that do not
    say their length, one is of the quarter and the other of the year so far, so both go last.
    """
    if cell.period is None or cell.period.months:
        return cell.period.months if cell.period else 0
    ends = [other.period.end for other in row.cells if other.period and other.is_share == cell.is_share]
    return _UNKNOWN if ends.count(cell.period.end) > 1 else 0


def _find_own_end(rows: Sequence[SeriesRow]) -> tuple[int, int, int] | None:
    """Returns the last day of a document's own period: of the newest days of its rows, the most frequent."""
    dated = [[*(cell.period for cell in row.cells if cell.period), *row.unread] for row in rows]
    newest = [max(period.end for period in periods) for periods in dated if periods]
    return Counter(sorted(newest, reverse=True)).most_common(1)[0][0] if newest else None


def _choose_cell(asked: Asked, row: SeriesRow) -> SeriesCell | None:
    """Returns the cell of the document's own period; without names of periods the cell that the question asks for. None
    if the row has no amount of the own period: the amount of the year before is no answer.
    """
    cells = row.cells
    dated = [(cell.period, cell) for cell in cells if cell.period]
    if dated:
        marks = find_marks(cells[0].hit.document.key)
        dated = [(cell.period, cell) for cell in _leave_out_others(asked, (cell for _, cell in dated)) if cell.period]
        if not dated:
            return None
        of_year = [pair for pair in dated if not pair[0].month and str(pair[0].year) in marks]
        dated = of_year or dated
        of_length = [pair for pair in dated if asked.months and pair[0].months == asked.months]
        period, cell = max(of_length or dated, key=lambda pair: _rank(pair[0]))
        later = [unread for unread in row.unread if _rank(unread) > _rank(period) and not of_year]
        is_untold = any(not of_length or unread.months == asked.months for unread in later)
        return None if is_untold else cell
    if len(cells) == 1:
        return cells[0]
    if not all(cell.column for cell in cells):
        return None  # the first of several columns without names may be of any period
    named = [TableCell(row=cell.label, column=cell.column, value=cell.value, span=cell.row) for cell in cells]
    asked_cell = choose_cell(named, asked.text)
    return cells[named.index(asked_cell)] if asked_cell else None


def _rank(period: Period) -> tuple[tuple[int, int, int], int]:
    """Orders periods by their ends, and of one end the shorter behind the longer."""
    return period.end, -period.months


def _leave_out_others(asked: Asked, cells: Iterable[SeriesCell]) -> list[SeriesCell]:
    """Returns the cells whose columns say a period and what is asked, or of whose columns all say the same beside it.
    `Plan 2024` is no value beside `2023`, and of `Actual 2023` and `Plan 2024` it is not known which is wanted.
    """
    words = {cell: find_unasked(asked, cell) for cell in cells}
    plain = [cell for cell, others in words.items() if not others]
    return plain or (list(words) if len(set(words.values())) == 1 else [])


def find_unasked(asked: Asked, cell: SeriesCell) -> frozenset[str]:
    """Returns the words of a value's column that say neither a period nor what is asked: of a segment's `Revenue Q1
    2024` and `Operating profit Q1 2024`, a question for revenue wants the first. `Net sales` are the sales.
    """
    words = list_other_words(cell.column)
    if words <= asked.words or words in asked.said:
        return frozenset()
    same = find_said_labels(" ".join(word for word in cell.column.split() if find_stems(word) & words))
    return frozenset() if words in same and any(label <= asked.words for label in same) else words


def list_periods(asked: Asked, rows: Sequence[SeriesRow], bounds: tuple[str, str] | None) -> list[SeriesCell]:
    """Returns the cells of the best row that have periods of one length, the length of the most, in the order of time.
    `rows` are of one document. [] if two rows that are as good differ.

    `bounds` are the oldest and newest year that are asked for, which the row must have.
    """
    dated = [(row.score, cells) for row in rows if (cells := _read_dated(asked, row, bounds))]
    best = [cells for score, cells in dated if score == max(score for score, _ in dated)]
    values = defaultdict[tuple[object, ...], set[Decimal]](set)
    for cell in (cell for cells in best for cell in cells.values()):
        values[cell.period and cell.period.end, cell.period and cell.period.months, cell.scale, cell.currency].add(
            cell.amount.value
        )
    if not best or any(len(found) > 1 for found in values.values()):
        return []
    longest = max(best, key=len)
    return [longest[end] for end in sorted(longest)]


def _read_dated(
    asked: Asked, row: SeriesRow, bounds: tuple[str, str] | None
) -> dict[tuple[int, int, int], SeriesCell] | None:
    """Returns the cells of the most periods of one length, by their last days; None if the row has no such two, or not
    the years that are asked for.
    """
    by_length = defaultdict[tuple[int, bool], dict[tuple[int, int, int], SeriesCell]](dict)
    for cell in _leave_out_others(asked, (cell for cell in row.cells if cell.period)):
        if cell.period and (bounds is None or is_within({str(cell.period.year)}, bounds)):
            by_length[cell.period.months, cell.is_share].setdefault(cell.period.end, cell)
    of_length = [cells for (months, _), cells in by_length.items() if not asked.months or months == asked.months]
    cells = max(of_length or by_length.values(), key=len, default={})
    if len(cells) < _FEWEST or (bounds is not None and not {year for year, _, _ in cells} >= _years_of(bounds)):
        return None
    return cells


def find_prior_year(cell: SeriesCell, rows: Sequence[SeriesRow]) -> SeriesCell | None:
    """Returns the value of the same quarter of the year before in the row of a cell; None if the row has none."""
    row = next((row for row in rows if any(other is cell for other in row.cells)), None)
    found = [other for other in row.cells if is_prior_year(other, cell)] if row else []
    return found[0] if len(found) == 1 else None


def is_prior_year(first: SeriesCell, last: SeriesCell) -> bool:
    """Returns whether two values are of the same quarter of two years, one after the other, and of one length."""
    return _is_before(first, last, _YEAR)


def is_next_quarter(first: SeriesCell, last: SeriesCell) -> bool:
    """Returns whether the second value is of the quarter behind the first, and of one length."""
    return _is_before(first, last, _QUARTER)


def _is_before(first: SeriesCell, last: SeriesCell, months: int) -> bool:
    """Returns whether the first period ended so many months before the second; one more or less, as fiscal years of
    weeks have it.
    """
    if first.period is None or last.period is None or first.period.months != last.period.months:
        return False
    if first.is_share != last.is_share or not first.period.month or not last.period.month:
        return False
    between = _YEAR * (last.period.year - first.period.year) + last.period.month - first.period.month
    return abs(between - months) <= 1


def _years_of(bounds: tuple[str, str]) -> set[int]:
    return {int(bound) for bound in bounds if bound != NO_END}
