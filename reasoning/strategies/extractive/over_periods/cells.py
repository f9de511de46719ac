"""The values of a row with what their table says of them: unit, currency and period."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from core.documents import HEADING_SEPARATOR, Span
from core.passage_context.grids import GridRow, TextGrid
from core.ports.retrieval import Hit
from core.text.periods import Period, read_period
from core.text.titles import family_of
from core.text.value_kinds import find_stems
from reasoning.strategies.extractive.over_periods.units import add_sign, find_place, find_sign, find_unit, is_unscaled
from reasoning.strategies.survey.values import Amount, read_amount

_PAGE = re.compile(r"pages?|seiten?|no\.?|nr\.?", re.IGNORECASE)
"""A column whose numbers are no values."""
_OF_PERIODS = find_stems(
    "three six nine twelve thirteen month months week weeks quarter quarters half full year years fiscal ended "
    "ending the for and unaudited audited million millions thousand thousands billion billions eur usd gbp chf mio "
    "mrd tsd teur dollars euros january february march april may june july august september october november "
    "december jan feb mar apr jun jul aug sep sept oct nov dec drei sechs neun zwölf monat monate monaten quartal "
    "halbjahr jahr geschäftsjahr januar februar märz mai juni juli oktober dezember mär okt dez zum bis trois six "
    "neuf mois clos trimestre semestre exercice janvier février mars avril juin juillet août septembre octobre "
    "novembre décembre déc"
)
"""Words of columns that only say a period or a unit. `Plan 2024` has another word."""
FOOTNOTE = re.compile(r"\(\d{1,2}\)|[®™†*]")


@dataclass(frozen=True, kw_only=True, eq=False)
class SeriesCell:
    """A value of a row; each is equal to itself alone. `row` is the place of the row in the text of the hit, `label`
    the last part of its label, `scale` what the table says of its numbers, `million`, and `currency` the code of their
    currency, '' if it says none.
    """

    hit: Hit
    rank: int
    row: Span
    label: str
    column: str
    value: str
    amount: Amount
    period: Period | None
    scale: str
    currency: str

    @property
    def is_share(self) -> bool:
        return "%" in self.value or self.scale == "%"


_MONTHS_OF_QUARTER = 3


def _read_period(column: str, hit: Hit) -> Period | None:
    """Returns the period that the name of a column says. If it says a length and a year alone, "three months 2024", the
    period ends with the quarter that the file is called by.
    """
    period = read_period(column)
    if period is None or period.month or period.months not in (3, 6, 9):
        return period
    marks = family_of(hit.document.key, hit.document.title)[1]
    quarters = [int(mark[1:]) for mark in marks if mark[0] == "q"]
    return replace(period, month=_MONTHS_OF_QUARTER * quarters[0]) if len(quarters) == 1 else period


def list_cells(hit: Hit, rank: int, row: GridRow, grid: TextGrid, head: str, caption: str) -> Iterator[SeriesCell]:
    text = hit.chunk.text
    columns = row.names or grid.columns
    label = FOOTNOTE.sub(" ", row.label.split(HEADING_SEPARATOR)[-1])
    whole = f"{row.label} {head}"  # "Basic" below "Earnings per share:"
    end = row.start + len(text[row.start : row.end].rstrip())
    for at, place in enumerate(row.cells):
        value = text[slice(*place)]
        if place == row.named_by or (not at and not row.names) or not value:
            continue
        column = (columns[at] if at < len(columns) else "").replace(HEADING_SEPARATOR, " ")
        amount = read_amount(value.replace(" %", "%"), column)
        if not is_unscaled(f"{value} {whole}"):
            value = add_sign(value, find_sign(grid, at, text))
        unit = find_unit(value, find_place(grid, row, column, whole, text, f"{hit.chunk.heading} {caption}"))
        if amount is not None and not _PAGE.fullmatch(column.strip()):
            yield SeriesCell(
                hit=hit,
                rank=rank,
                row=Span(start=row.start, end=end),
                label=" ".join(label.split()).strip(" :"),
                column=" ".join(column.split()),
                value=value,
                amount=amount,
                period=_read_period(" ".join(column.split()), hit),
                scale=unit.scale,
                currency=unit.currency,
            )


def list_unread(hit: Hit, row: GridRow, grid: TextGrid) -> Iterator[Period]:
    """Yields the periods of the columns in which a row has no amount: a dash, a word, or nothing."""
    text = hit.chunk.text
    for place, column in zip(row.cells, row.names or grid.columns, strict=False):
        name = " ".join(column.replace(HEADING_SEPARATOR, " ").split())
        period = _read_period(name, hit)
        is_value = period is not None and place != row.named_by and not list_other_words(name)
        if period and is_value and read_amount(text[slice(*place)].replace(" %", "%")) is None:
            yield period


def list_other_words(column: str) -> frozenset[str]:
    """Returns the stems of the words of a column that say neither a period nor a unit: `Outlook 2024` has one."""
    words = frozenset(word for word in find_stems(column) - _OF_PERIODS if word.isalpha())
    return words | frozenset("%" * column.count("%"))
