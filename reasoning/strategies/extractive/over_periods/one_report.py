"""Values of one report: one value, two measures or parts, and a share or a comparison of two values.

"What share of its revenue came from Services in Q3 2023?" has a part and a whole, each a row of one report. A value is
found as strictly as any value of one report (`single`), and all values have to be found.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from core.passage_context.other_words import find_said_labels, write_out
from core.passage_context.row_labels import SUM_WORDS
from core.ports.retrieval import Hit
from core.text.periods import find_quarters, read_period
from core.text.titles import asks_for_newest, asks_for_older, compares_with_earlier, find_wanted_marks
from core.text.value_kinds import find_stems
from reasoning.strategies.extractive.over_periods.cells import SeriesCell
from reasoning.strategies.extractive.over_periods.families import (
    choose_family,
    find_told_quarter,
    has_names,
    is_dated,
    list_named,
)
from reasoning.strategies.extractive.over_periods.found import Ratio, Series, are_in_one_unit, are_of_one_period
from reasoning.strategies.extractive.over_periods.rows import Asked, list_rows, read_asked
from reasoning.strategies.extractive.over_periods.single import (
    asks_for_change,
    asks_for_value,
    choose_values,
    find_report,
)
from reasoning.strategies.extractive.over_periods.wording import (
    Share,
    asks_for_part,
    find_comparison,
    find_share,
    split_measures,
    split_parts,
)

SearchDocuments = Callable[[frozenset[str], int], Awaitable[Sequence[Hit]]]
"""Searches these documents with the question again, for so many hits."""
_FROM_REPORT = 16
"""Passages of a report that are searched for the rows."""
_MOST_REPORTS = 8
"""Reports that are searched for the value of a day, the newest."""
_FILLING_LABEL = find_stems("expense expenses")
"""Words that a label may have beyond the words of a known measure."""
_REVENUE = find_said_labels("revenue")
"""Labels of revenue, of which `Sales` alone has other meanings in a question."""


@dataclass(frozen=True, kw_only=True)
class _Report:
    """The passages of the report that a question asks about, and the question, whose period a value has to have."""

    question: str
    hits: Sequence[Hit]

    def find(self, measure: str) -> tuple[Asked, list[SeriesCell]]:
        """Returns what a question for a measure asks for, and its values; [] if no value is surely found."""
        asked = replace(read_asked(measure), enough=1)
        rows = list(list_rows(asked, self.hits)) if has_names(asked, self.hits) else []
        return asked, choose_values(self.question, asked, rows)


def asks_for_values(text: str) -> bool:
    """Returns whether a question asks for a value of one report, or for two to be compared or divided."""
    clause = read_asked(text).clause
    return asks_for_value(clause) or _find_pair(clause) is not None


def _find_pair(clause: str) -> Share | None:
    """Returns the share or the comparison of one report that a question asks for. A margin has two rows in each report,
    but many reports tell it, so that it is none here.
    """
    if asks_for_change(clause) or asks_for_older(clause) or compares_with_earlier(clause):
        return None
    if not find_wanted_marks(clause) and not asks_for_newest(clause):
        return None
    share = find_share(clause)
    return find_comparison(clause) if share is None or share.may_be_negative else share


async def find_values(text: str, hits: Sequence[Hit], search: SearchDocuments) -> Series | None:
    """Returns the two values of one report that a question asks for, with their percentage if it asks for a share or
    compares them; None for another question, or if not both are surely found.
    """
    asked = read_asked(text)
    pair = _find_pair(asked.clause)
    measures = (pair.part, pair.whole) if pair else _split(asked.clause)
    if len(measures) < 2:
        return None
    for report in await _read_reports(text, hits, search):
        if pair and (divided := _divide(pair, report, is_cut=asked.is_cut)) is not None:
            return divided
        found = [] if pair else [report.find(measure)[1] for measure in measures]
        if found and all(found):
            first, *others = [Series(cells=cells, missing=(), is_cut=False, is_single=True) for cells in found]
            return replace(first, others=others, is_cut=asked.is_cut)
    return None


def _split(clause: str) -> Sequence[str]:
    """Returns a question for each of two measures, or two parts, of one report that a question for values joins."""
    if not asks_for_value(clause):
        return (clause,)
    measures = split_measures(clause)
    return measures if len(measures) > 1 else split_parts(clause)


async def find_single(text: str, hits: Sequence[Hit], search: SearchDocuments) -> Series | None:
    """Returns the value of one report that a question asks for, None if it is not surely found."""
    for report in await _read_reports(text, hits, search):
        asked, cells = report.find(text)
        if cells and (not asks_for_part(text) or any(cell.is_share for cell in cells)):
            return Series(cells=cells, missing=(), is_cut=asked.is_cut, is_single=True)
    return None


async def _read_reports(text: str, hits: Sequence[Hit], search: SearchDocuments) -> list[_Report]:
    """Returns the report that a question asks about. Of a question that names a day, "the quarter ended June 30, 2024",
    the versions of the report, the newest first, or the documents that it names: the value whose own period ends on the
    day tells which is meant.
    """
    id = find_report(text, hits) or _find_in_family(text, hits)
    dated = [] if id else _list_dated(text, hits)[:_MOST_REPORTS]
    if id is not None or dated:
        ids = [id] if id else dated
    elif _names_day(text):
        asked = read_asked(text)
        members = choose_family(asked, text, hits)
        ids = [member.id for member in reversed((members or [])[-_MOST_REPORTS:])]
        ids = list_named(asked, hits)[:_MOST_REPORTS] if members == [] else ids
    else:
        return []
    found = await search(frozenset(ids), _FROM_REPORT * len(ids))
    of_reports = [[hit for hit in found if hit.document.id == id] for id in ids]
    quarters = find_quarters(text) if dated else None
    return [
        _Report(question=text, hits=of_one)
        for of_one in of_reports
        if quarters is None or find_told_quarter(of_one) == quarters.wanted[0]
    ]


def _names_day(text: str) -> bool:
    """Returns whether a question tells its period by a day, and names no quarter."""
    named = read_period(text)
    return named is not None and bool(named.day) and not any(mark[0] == "q" for mark in find_wanted_marks(text))


def _find_in_family(text: str, hits: Sequence[Hit]) -> str | None:
    """Returns the id of the version that is of the one quarter that a question names, if hits are of other versions."""
    quarters = find_quarters(text)
    if quarters is None or len(quarters.wanted) > 1:
        return None
    members = choose_family(read_asked(text), text, hits) or []
    return members[0].id if len(members) == 1 else None


def _list_dated(text: str, hits: Sequence[Hit]) -> list[str]:
    """Returns the ids of the reports that a question for a value of one quarter names, and that are called by a day."""
    quarters = find_quarters(text)
    if quarters is None or len(quarters.wanted) > 1:
        return []
    dated = {hit.document.id for hit in hits if is_dated(hit.document)}
    return [id for id in list_named(read_asked(text), hits) if id in dated]


def _divide(share: Share, report: _Report, *, is_cut: bool) -> Series | None:
    """Returns the two values, to be divided if both are amounts of one period and in one unit; None if they are not
    surely a part and its whole, or two measures of one period.
    """
    (asked_part, parts), (asked_whole, wholes) = report.find(share.part), report.find(share.whole)
    part, whole = (next((cell for cell in cells if not cell.is_share), None) for cells in (parts, wholes))
    if part is None or whole is None or (part.row == whole.row and part.hit.chunk.id == whole.hit.chunk.id):
        return None
    if not _is_whole(asked_whole, whole) or not are_of_one_period(part, whole):
        return None
    if share.own and not _is_part(share, part, whole):
        return None
    if share.is_comparison and not _is_measure(asked_part, part):
        return None
    series = Series(cells=[part, whole], missing=(), is_cut=is_cut, is_single=True)
    is_positive = part.amount.value >= 0 and whole.amount.value > 0
    may_divide = is_positive and are_in_one_unit(part, whole)
    if may_divide and (share.is_comparison or part.amount.value <= whole.amount.value):
        return replace(series, ratios=[Ratio(part=part, whole=whole)])
    if not share.is_comparison:
        return None
    first, second = (replace(series, cells=[cell], is_cut=False) for cell in (part, whole))
    return replace(first, others=[second], is_cut=is_cut)


def _is_measure(asked: Asked, cell: SeriesCell) -> bool:
    """Returns whether the label of a value is a known measure, and so of the whole company: `Services` is none."""
    stems = find_stems(write_out(cell.label)) - SUM_WORDS
    is_revenue = stems in _REVENUE and stems <= asked.words
    return is_revenue or stems in asked.said or stems - _FILLING_LABEL in asked.said


def _is_whole(asked: Asked, cell: SeriesCell) -> bool:
    return _is_measure(asked, cell) or bool(find_stems(cell.label) & SUM_WORDS)


def _is_part(share: Share, part: SeriesCell, whole: SeriesCell) -> bool:
    """Returns whether a row is surely a part of the whole: its label is the part's name alone, and the passage with its
    table has the value of the whole, or the next passage, in which the table may go on, has the row of the whole. A
    segment has the same label in tables of other measures.
    """
    label = find_stems(part.label) - find_stems(share.whole) - SUM_WORDS
    figure = whole.value.strip("$€£¥ ")
    goes_on = whole.hit.chunk.position - part.hit.chunk.position == 1
    return share.own == label and (goes_on or figure in part.hit.chunk.text)
