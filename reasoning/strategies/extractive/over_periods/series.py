"""Answers to questions over periods: a value of each report of one family, or of each period of a table, in the order
of time, each with its citation; the change is computed.

`rows` finds the rows with their cells, and `choice` chooses among them. A question that no two values are found for is
answered as any other.
"""

import re
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from operator import itemgetter

from core.documents import DocumentRef, Span
from core.passage_context.other_words import find_other_words
from core.ports.reasoning import Citation, Question, Quote
from core.ports.retrieval import Hit
from core.text.periods import NO_END, asks_for_extremes, asks_over_periods, find_bounds, find_newest, is_within
from core.text.titles import family_of, order_of_marks, stem_of
from core.text.value_kinds import find_stems
from reasoning.citations.markers import make_citation
from reasoning.strategies.extractive.over_periods.choice import choose_rows, find_label, list_periods
from reasoning.strategies.extractive.over_periods.rows import Asked, SeriesCell, list_rows, read_asked
from reasoning.strategies.extractive.over_periods.single import asks_for_value, choose_values, find_report
from reasoning.strategies.extractive.sides import split_sides
from reasoning.strategies.survey.values import has_points, read_amount

__all__ = ["SERIES_NOTE", "SearchDocuments", "Series", "asks_for_values", "find_series", "write_series"]

SERIES_NOTE = "Each value stands in the cited table; no language model read whether it answers. The change is computed."
_SINGLE_NOTE = "The value stands in the cited table; no language model read whether it answers."
_CUT_NOTE = " The rest of the question is not answered."
_MOST = 16
"""Versions of a document that are read, the newest."""
_FROM_EACH, _MOST_HITS = 16, 128
"""Passages of each version that are searched for the row, and of all versions together."""
_FEWEST = 2
_ADDS = re.compile(
    r"\b(?:sum|total|mean|average) (?:of|over|across|for)\b"
    r"|\b(?:in total|altogether|combined|cumulative(?:ly)?|average)\b"
    r"|\b(?:Summe|Durchschnitt\w{0,6}|insgesamt|zusammen)\b|\b(?:somme|moyenne|au total)\b",
    re.IGNORECASE,
)
"""Who wants one number of all periods is not answered with their change."""
_HUNDRED = 100
_OTHER_UNIT = 10
_DOUBTFUL = re.compile(r"\D{0,4}\d{1,3}\.\d{3}\D{0,4}")
_TAKEN = "; a value whose table names no unit is taken to be in the unit of the others"
_LENGTH = re.compile(r"\b(?:Three|Six|Nine|Twelve|Thirteen|Months?|Weeks?|Quarters?|Fiscal|Years?|Ended)\b")
"""Words of columns that are capitals only as headings are."""
_UNIT = re.compile(r"\s?\([^()]{1,80}\)")

SearchDocuments = Callable[[frozenset[str], int], Awaitable[Sequence[Hit]]]
"""Searches these documents with the question again, for so many hits."""


@dataclass(frozen=True, kw_only=True)
class Series:
    """The values in the order of time, the versions in which no row was found, how many older versions were not read,
    and the ends of the range that no version is of. `is_cut`: the question asks more. `is_single`: it asks for a value
    of one report.
    """

    cells: Sequence[SeriesCell]
    missing: Sequence[DocumentRef]
    is_cut: bool
    is_single: bool = False
    older: int = 0
    lacking: Sequence[str] = ()

    @property
    def hits(self) -> tuple[Hit, ...]:
        """The passages that have the values, each once."""
        return tuple({cell.hit.chunk.id: cell.hit for cell in self.cells}.values())

    @property
    def note(self) -> str:
        return (_SINGLE_NOTE if self.is_single else SERIES_NOTE) + (_CUT_NOTE if self.is_cut else "")


def asks_for_values(question: str) -> bool:
    """Returns whether `find_series` may find something for a question: whether it asks for the value of one report, or
    over periods.
    """
    return asks_for_value(read_asked(question).clause) or asks_over_periods(question)


async def find_series(question: Question, text: str, hits: Sequence[Hit], search: SearchDocuments) -> Series | None:
    """Returns the values that a question over periods asks for, or the value of one report; None for another question,
    or if they are not found.

    The documents are one family (`_choose_family`); a question about two is none over periods.
    """
    if question.parts or not hits or _ADDS.search(text) or split_sides(text) is not None:
        return None
    asked = read_asked(text)
    if asks_for_value(asked.clause):
        return await _find_single(asked, text, hits, search)
    if not asks_over_periods(text):
        return None
    members = _choose_family(asked, text, hits)
    if members is None:
        return None
    if len(members) < _FEWEST:
        return _find_in_table(asked, text, hits)
    older, members = max(0, len(members) - _MOST), members[-_MOST:]
    found = await search(frozenset(member.id for member in members), min(_FROM_EACH * len(members), _MOST_HITS))
    rows = [row for row in list_rows(asked, found) if row.cells[0].hit.document.id in {member.id for member in members}]
    if not rows or not _has_names(asked, found):
        return None
    label = find_label(rows)
    chosen = choose_rows(asked, [row for row in rows if row.name == label])
    if len(chosen) < _FEWEST:
        return None
    in_order = [chosen[member.id] for member in members if member.id in chosen]
    ends = [cell.period.end for cell in in_order if cell.period]
    if len(ends) == len(in_order):
        in_order = [cell for _, cell in sorted(zip(ends, in_order, strict=True), key=itemgetter(0))]
    return Series(
        cells=in_order,
        missing=[member for member in members if member.id not in chosen],
        is_cut=asked.is_cut,
        older=older,
        lacking=_find_lacking(text, members) if not older else (),
    )


async def _find_single(asked: Asked, text: str, hits: Sequence[Hit], search: SearchDocuments) -> Series | None:
    """Returns the value of one report that a question asks for, None if it is not surely found."""
    report = find_report(text, hits)
    if report is None:
        return None
    found = [hit for hit in await search(frozenset({report}), _FROM_EACH) if hit.document.id == report]
    if not _has_names(asked, found):
        return None
    cells = choose_values(asked, list(list_rows(asked, found)))
    return Series(cells=cells, missing=(), is_cut=asked.is_cut, is_single=True) if cells else None


def _find_lacking(question: str, members: Sequence[DocumentRef]) -> list[str]:
    """Returns the first and the last mark that the question names, if no document has it."""
    marks = {mark for member in members for mark in family_of(member.key, member.title)[1]}
    return [bound for bound in dict.fromkeys(find_bounds(question) or ()) if bound not in {*marks, NO_END}]


def _choose_family(asked: Asked, question: str, hits: Sequence[Hit]) -> list[DocumentRef] | None:
    """Returns the versions of one document that the question asks over, the oldest first; [] if the hits are of no
    family, None if they are of several that have the row and the question names none.

    A family that has the row goes before others, and one whose names have more words of the question.
    """
    families = {hit.chunk.id: family_of(hit.document.key, hit.document.title)[0] for hit in hits if hit.versions}
    rows = list(list_rows(asked, hits))
    label = find_label(rows) if rows else frozenset()
    having = [families.get(row.cells[0].hit.chunk.id, "") for row in rows if row.name == label]
    if having and not any(having):
        return []
    counts = Counter(family for family in having if family) or Counter(families.values())
    named = {
        family: _count_named(asked, [hit for hit in hits if families.get(hit.chunk.id) == family]) for family in counts
    }
    best = sorted(counts, key=lambda family: (-named[family], -counts[family]))
    if not best:
        return []
    if having and len(best) > 1 and named[best[0]] == named[best[1]]:
        return None
    refs = {
        ref.id: ref for hit in hits if families.get(hit.chunk.id) == best[0] for ref in (hit.document, *hit.versions)
    }
    bounds = find_bounds(question)
    marks = {id: family_of(ref.key, ref.title)[1] for id, ref in refs.items()}
    within = [ref for id, ref in refs.items() if bounds is None or is_within(marks[id], bounds)]
    newest = find_newest(question)
    if newest and newest.are_years and any(mark[0] in "qm" for ref in within for mark in marks[ref.id]):
        return None  # how many reports a year has is not known
    in_order = sorted(within, key=lambda ref: (order_of_marks(marks[ref.id]), ref.key))
    return in_order[-newest.count :] if newest else in_order


def _count_named(asked: Asked, hits: Sequence[Hit]) -> int:
    """Returns how many words of the question the names of the hits' documents have, and of its names their texts."""
    titles = find_stems(" ".join(f"{hit.document.title} {hit.document.key}" for hit in hits))
    return len(asked.words & titles) + len(asked.names & find_stems(" ".join(hit.chunk.text for hit in hits)) - titles)


def _has_names(asked: Asked, hits: Sequence[Hit]) -> bool:
    """Returns whether each name of the question stands in the hits, or in the names of their documents."""
    words = " ".join(f"{hit.document.title} {hit.document.key} {hit.chunk.heading} {hit.chunk.text}" for hit in hits)
    told = find_stems(words)
    said = frozenset(stem for term in find_other_words(asked.text) for stem in term.said)
    return asked.names - said <= told


def _find_in_table(asked: Asked, question: str, hits: Sequence[Hit]) -> Series | None:
    """Returns the periods of one row of a document; None if several have the row, and none is named before others."""
    rows = list(list_rows(asked, hits))
    bounds, newest = find_bounds(question), find_newest(question)
    if not rows or not _has_names(asked, hits) or (bounds is not None and not bounds[0].isdigit()):
        return None
    label = find_label(rows)
    of_label = [row for row in rows if row.name == label]
    documents = dict.fromkeys(row.cells[0].hit.document.id for row in of_label)
    named = Counter({id: _count_named(asked, [hit for hit in hits if hit.document.id == id]) for id in documents})
    (first, most), *others = named.most_common()
    if others and others[0][1] == most:
        return None
    cells = list_periods(asked, [row for row in of_label if row.cells[0].hit.document.id == first], bounds)
    if newest and len(cells) > newest.count:
        if newest.are_years and any(cell.period and cell.period.months not in (0, 12) for cell in cells):
            return None
        cells = cells[-newest.count :]
    return Series(cells=cells, missing=(), is_cut=asked.is_cut) if len(cells) >= _FEWEST else None


def write_series(question: str, series: Series) -> tuple[str, tuple[Citation, ...]]:
    """Returns a line for each value with the marker of its passage, what is missing, and the computed change."""
    markers = {hit.chunk.id: number for number, hit in enumerate(series.hits, start=1)}
    names = _name_periods(series.cells)
    text = ""
    citations = []
    for cell in series.cells:
        start = len(text)
        text += f"{cell.label}, {names[cell]}: {_write_value(cell)}"
        quote = Quote(hit=cell.hit, text=cell.hit.chunk.text[cell.row.start : cell.row.end], span=cell.row)
        marker = markers[cell.hit.chunk.id]
        citations.append(make_citation(marker, quote, Span(start=start, end=len(text))))
        text += f" [{marker}]\n\n"
    if series.missing:
        text += f"No such value was surely found in: {', '.join(stem_of(ref.key) for ref in series.missing)}.\n\n"
    if series.older:
        text += f"{series.older} older versions were not read.\n\n"
    if series.lacking:
        text += f"No version is of: {', '.join(series.lacking)}.\n\n"
    return (text if series.is_single else text + _compute_change(question, names)).rstrip(), tuple(citations)


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
