"""The text of an answer to a question over periods: a line for each value, what is missing, and what is computed."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

from core.documents import Span
from core.ports.reasoning import Citation, Quote
from core.text.periods import asks_for_extremes
from core.text.titles import stem_of
from reasoning.citations.markers import make_citation
from reasoning.strategies.extractive.over_periods.cells import SeriesCell
from reasoning.strategies.extractive.over_periods.found import Ratio, Series
from reasoning.strategies.survey.values import has_points, read_amount

_FEWEST = 2
_HUNDRED = 100
_OTHER_UNIT = 10
_DOUBTFUL = re.compile(r"\D{0,4}\d{1,3}\.\d{3}\D{0,4}")
_TAKEN = "; a value whose table names no unit is taken to be in the unit of the others"
_LENGTH = re.compile(r"\b(?:Three|Six|Nine|Twelve|Thirteen|Months?|Weeks?|Quarters?|Fiscal|Years?|Ended)\b")
"""Words of columns that are capitals only as headings are."""
_BRACKETED = re.compile(r"([$€£¥]?)\s?\(([$€£¥]?)\s?(\d[\d.,' ]{0,20})\)")
_EXPENSE = re.compile(
    r"\b(?:expens\w{0,2}|costs?|spen[dt]|spending|charges|tax|taxes|amorti[sz]ation|depreciation"
    r"|Aufwand|Aufwendungen|Kosten|ausgegeben|Steuern?|Abschreibung(?:en)?|dépens\w{1,2}|coûts?|impôts?)\b",
    re.IGNORECASE,
)
"""What says, in a question or a label, that a negative amount is spent."""
_UNIT = re.compile(r"\s?\([^()]{1,80}\)")


def write_series(question: str, series: Series) -> tuple[str, tuple[Citation, ...]]:
    """Returns a line for each value with the marker of its passage, what is missing, and the computed change. Several
    measures are written one after the other.
    """
    markers = {hit.chunk.id: number for number, hit in enumerate(series.hits, start=1)}
    text, citations = "", list[Citation]()
    for part in (series, *series.others):
        text = f"{text.rstrip()}\n\n" if text else ""
        write = _write_ratios if part.ratios else _write_values
        text = write(question, part, text, markers, citations)
    text = f"{text.rstrip()}\n\n{series.closing}" if series.closing else text
    return text.rstrip(), tuple(citations)


def _write_values(
    question: str, series: Series, text: str, markers: Mapping[str, int], citations: list[Citation]
) -> str:
    """Returns the text so far with the values of one measure behind it, and adds their citations."""
    names = _name_periods(series.cells)
    for cell in series.cells:
        start = len(text)
        is_expense = series.is_single and _EXPENSE.search(f"{question} {cell.label}") is not None
        text += f"{cell.label}, {names[cell]}: {_write_expense(cell) if is_expense else _write_value(cell)}"
        citations.append(_cite(cell, markers, Span(start=start, end=len(text))))
        text += f" [{markers[cell.hit.chunk.id]}]\n\n"
    return text if series.is_single else text + _write_gaps(series) + _compute_change(question, names)


def _write_ratios(
    question: str, series: Series, text: str, markers: Mapping[str, int], citations: list[Citation]
) -> str:
    """Returns the text so far with the shares behind it, each computed from two rows, which are cited."""
    names = _name_periods([ratio.part for ratio in series.ratios])
    told = {}
    for ratio in series.ratios:
        start = len(text)
        share = _compute_share(ratio)
        told[ratio] = f"{share:.1f} % ({names[ratio.part]})"
        text += f"{ratio.part.label} / {ratio.whole.label}, {names[ratio.part]}: "
        text += f"{_write_value(ratio.part)} / {_write_value(ratio.whole)} = {share:.1f} %"
        span = Span(start=start, end=len(text))
        of_both = dict.fromkeys(markers[cell.hit.chunk.id] for cell in (ratio.part, ratio.whole))
        citations += [_cite(cell, markers, span) for cell in (ratio.part, ratio.whole)]
        text += f" {''.join(f'[{marker}]' for marker in of_both)}\n\n"
    text += _write_gaps(series)
    if len(told) < _FEWEST:
        return f"{text}Computed: the percentage, from the two values."
    first, last = series.ratios[0], series.ratios[-1]
    change = _compute_share(last) - _compute_share(first)
    text += f"Computed: the percentages, each from two values; {'up' if change > 0 else 'down'} by "
    text += f"{abs(change):.1f} percentage points from {told[first]} to {told[last]}"
    if len(told) > _FEWEST and asks_for_extremes(question):
        low, high = (choose(told, key=_compute_share) for choose in (min, max))
        text += f"; highest {told[high]}, lowest {told[low]}"
    return f"{text}."


def _compute_share(ratio: Ratio) -> Decimal:
    values = _read_values([ratio.part, ratio.whole])
    return values[ratio.part] / values[ratio.whole] * _HUNDRED


def _cite(cell: SeriesCell, markers: Mapping[str, int], span: Span) -> Citation:
    """Returns the citation of the row of a value; `span` is what the answer says of it."""
    quote = Quote(hit=cell.hit, text=cell.hit.chunk.text[cell.row.start : cell.row.end], span=cell.row)
    return make_citation(markers[cell.hit.chunk.id], quote, span)


def _write_gaps(series: Series) -> str:
    """Returns the lines on versions in which no value was found, or that were not read, or that are not there."""
    text = ""
    if series.missing:
        text += f"No such value was surely found in: {', '.join(stem_of(ref.key) for ref in series.missing)}.\n\n"
    if series.older:
        text += f"{series.older} older versions were not read.\n\n"
    if series.lacking:
        text += f"No version is of: {', '.join(series.lacking)}.\n\n"
    return text


def _name_periods(cells: Sequence[SeriesCell]) -> dict[SeriesCell, str]:
    """Returns the name of each cell's period as its column says it, `three months ended June 25, 2022`; with the file
    if the column says none, or the same as another.
    """
    names = [
        _UNIT.sub("", _LENGTH.sub(lambda found: found[0].lower(), cell.column)) if cell.period else cell.column
        for cell in cells
    ]
    if len(set(names)) == len(names) and all(cell.period for cell in cells):
        return dict(zip(cells, names, strict=True))
    files = [stem_of(cell.hit.document.key) for cell in cells]
    return {cell: f"{name}, {file}" if name else file for cell, name, file in zip(cells, names, files, strict=True)}


def _write_value(cell: SeriesCell) -> str:
    if cell.scale in ("", "%"):
        return cell.value
    return f"{cell.value} {cell.scale}{_find_code(cell)}"


def write_amount(cell: SeriesCell, amount: Decimal) -> str:
    """Returns another amount in the unit of a value."""
    sign = next((sign for sign in "$€£¥" if sign in cell.value), "")
    return _write_value(replace(cell, value=f"{sign}{amount:,}"))


def _write_expense(cell: SeriesCell) -> str:
    """Returns an expense that a table has in brackets as the amount that it is, with what the table has."""
    bracketed = _BRACKETED.fullmatch(cell.value)
    if bracketed is None:
        return _write_value(cell)
    amount = _write_value(replace(cell, value="".join(bracketed.groups())))
    return f"{amount}, an expense, in the table as {cell.value}"


def _find_code(cell: SeriesCell) -> str:
    """Returns the code of the currency that a table says beside its scale, if the value has no sign: ` EUR`."""
    has_sign = any(sign in cell.value for sign in (*"$€£¥", cell.currency) if sign)
    return f" {cell.currency}" if cell.currency and not has_sign else ""


def _compute_change(question: str, names: Mapping[SeriesCell, str]) -> str:
    """Returns the change from the first to the last value, or why none is computed. `names` are of the periods."""
    cells = list(names)
    told_of = {cell: f"{_write_value(cell)} ({name})" for cell, name in names.items()}
    if len({cell.period.months if cell.period else 0 for cell in cells}) > 1:
        return "Computed: no change, since the periods differ in length."
    scales = {cell.scale for cell in cells if cell.scale}
    currencies = {cell.currency for cell in cells if cell.currency}
    if len(scales) > 1 or len(currencies) > 1 or len({cell.amount.unit for cell in cells if cell.amount.unit}) > 1:
        return "Computed: no change, since the values have different units."
    is_taken = bool(scales) and not all(cell.scale for cell in cells)
    if is_taken and not _are_near(_read_values(cells)):
        return "Computed: no change, since not all tables say in which unit their values are."
    values = _read_values(cells)
    if not scales and not _are_near(values) and any(_DOUBTFUL.fullmatch(cell.value) for cell in cells):
        return "Computed: no change, since it is not sure what the points in the values are."
    is_negative = all(value < 0 for value in values.values())
    if is_negative:  # expenses are often written so
        values = {cell: -value for cell, value in values.items()}
    first, last = cells[0], cells[-1]
    change = values[last] - values[first]
    sign = next((sign for sign in "$€£¥" if sign in first.value), "")
    codes = {_find_code(cell) for cell in cells}
    scale = "".join(f" {scale}{codes.pop() if len(codes) == 1 else ''}" for scale in scales - {"%"})
    if not change:
        told = f"unchanged from {told_of[first]} to {told_of[last]}"
    else:
        size = f"{sign}{abs(change):,}{' percentage points' if first.is_share else scale}"
        share = ""
        if values[first] > 0 and values[last] >= 0 and not first.is_share:
            share = f", {'+' if change > 0 else '-'}{abs(change) / values[first] * _HUNDRED:.1f} %"
        told = f"{'up' if change > 0 else 'down'} by {size}{share}, from {told_of[first]} to {told_of[last]}"
    if len(cells) > _FEWEST and asks_for_extremes(question):
        low, high = (choose(cells, key=values.__getitem__) for choose in (min, max))
        told += f"; highest {told_of[high]}, lowest {told_of[low]}"
    of_sizes = " from the sizes of the values, which are all written as negatives" if is_negative else ""
    return f"Computed{of_sizes}: {told}{_TAKEN if is_taken else ''}."


def _read_values(cells: Sequence[SeriesCell]) -> dict[SeriesCell, Decimal]:
    """Returns the value of each cell. A point is before decimals in all if one of their rows shows it: 1.34."""
    points = has_points([cell.hit.chunk.text[cell.row.start : cell.row.end] for cell in cells])
    amounts = {cell: read_amount(cell.value, cell.column, has_points=points) for cell in cells}
    return {cell: (amount or cell.amount).value for cell, amount in amounts.items()}


def _are_near(values: Mapping[SeriesCell, Decimal]) -> bool:
    """Returns whether no value is ten times another, so that all may be taken to be in one unit."""
    sizes = [abs(value) for value in values.values()]
    return max(sizes) < _OTHER_UNIT * min(sizes)
