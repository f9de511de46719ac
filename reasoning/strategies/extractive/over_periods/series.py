"""Answers to questions over periods: a value of each report of one family, or of each period of a table, in the order
of time, each with its citation; the change is computed.

`wording` says which rows are asked for, `rows` finds them with their cells, `choice` chooses among them, and `writing`
writes the answer. A question that no two values are found for is answered as any other.
"""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from operator import itemgetter

from core.documents import DocumentRef
from core.ports.reasoning import Question
from core.ports.retrieval import Hit
from core.text.periods import (
    NO_END,
    Quarters,
    asks_over_periods,
    find_bounds,
    find_newest,
    find_quarters,
    leave_out_periods,
)
from core.text.titles import family_of
from core.text.value_kinds import find_stems
from reasoning.strategies.extractive.over_periods.cells import SeriesCell
from reasoning.strategies.extractive.over_periods.choice import (
    choose_rows,
    find_label,
    find_prior_year,
    is_next_quarter,
    is_prior_year,
    list_periods,
)
from reasoning.strategies.extractive.over_periods.families import choose_family, count_named, has_names, quarters_of
from reasoning.strategies.extractive.over_periods.found import Ratio, Series, are_in_one_unit
from reasoning.strategies.extractive.over_periods.one_report import (
    SearchDocuments,
    asks_for_values,
    find_single,
    find_values,
)
from reasoning.strategies.extractive.over_periods.parts import find_parts, find_parts_asked
from reasoning.strategies.extractive.over_periods.rows import Asked, SeriesRow, list_rows, read_asked
from reasoning.strategies.extractive.over_periods.single import asks_for_value
from reasoning.strategies.extractive.over_periods.wording import (
    Share,
    asks_for_part,
    find_bare_margin,
    find_comparison,
    find_share,
    say_as_rows,
    split_measures,
)
from reasoning.strategies.extractive.sides import split_sides

_LONGEST = 1000
"""Characters of a question; a longer question tells a story."""
_MOST = 16
"""Versions of a document that are read, the newest."""
_FROM_EACH, _MOST_HITS = 16, 128
"""Passages of each version that are searched for the row, and of all versions together."""
_FEWEST = 2
_ADDS = re.compile(
    r"\b(?:sum|total|mean|average) (?:of|over|across|for)\b"
    r"|\b(?:in total(?! (?:net |operating )?(?:revenues?|sales|income|expenses|costs|assets)\b)"
    r"|altogether|combined|cumulative(?:ly)?|average)\b"
    r"|\b(?:Summe|Durchschnitt\w{0,6}|insgesamt|zusammen)\b|\b(?:somme|moyenne|au total)\b",
    re.IGNORECASE,
)
"""Who wants one number of all periods is not answered with their change."""


def asks_for_series(text: str) -> bool:
    """Returns whether `find_series` may find something for a question: whether it asks over periods, for a percentage
    of one quarter, or for a value of one report.
    """
    if len(text) > _LONGEST:
        return False
    text = say_as_rows(text)
    is_margin = find_share(text) is not None and find_quarters(text) is not None
    return is_margin or asks_over_periods(text) or asks_for_values(text)


def asks_for_sum(text: str) -> bool:
    """Returns whether a question wants one number of all periods, such as their sum or mean."""
    return _ADDS.search(text) is not None


async def find_series(question: Question, text: str, hits: Sequence[Hit], search: SearchDocuments) -> Series | None:
    """Returns the values that a question over periods asks for, or the value of one report; None for another question,
    or if they are not found.

    The documents are one family (`choose_family`); a question about two is none over periods.
    """
    text = say_as_rows(text)
    if question.parts or not hits or not asks_for_series(text) or asks_for_sum(text):
        return None
    quarters, is_over = find_quarters(text), asks_over_periods(text)
    if not is_over and (values := await find_values(text, hits, search)) is not None:
        return values
    if split_sides(text if quarters is None else leave_out_periods(text)) is not None:
        return None
    if (parts := find_parts_asked(text)) is not None:
        return await find_parts(parts, text, hits, search)
    share = find_share(text) or (find_comparison(text) if is_over else None)
    if share is not None and (is_over or (quarters is not None and share.may_be_negative)):
        return await _find_ratios(share, text, hits, search)
    if not is_over:
        return await _find_one(text, hits, search)
    first, *others = [await _find_measure(measure, hits, search, text) for measure in split_measures(text)]
    if first is None or None in others:
        return None
    if margin := _find_untold_margin(text, first):
        return await _find_ratios(margin, text, hits, search)
    return replace(first, others=[other for other in others if other is not None])


async def _find_one(text: str, hits: Sequence[Hit], search: SearchDocuments) -> Series | None:
    """Returns the value of one report. A gross margin is computed if the report tells the gross profit alone."""
    if not asks_for_value(read_asked(text).clause) or find_share(text) is not None:
        return None
    single = await find_single(text, hits, search)
    margin = _find_untold_margin(text, single) if single else None
    return (await _find_ratios(margin, text, hits, search) or single) if margin else single


def _find_untold_margin(text: str, series: Series) -> Share | None:
    """Returns what the gross margin that a question asks for is computed from, if no row that is found is called so."""
    is_told = any("margin" in cell.label.casefold() for cell in series.cells)
    return None if is_told else find_bare_margin(text)


async def _find_measure(text: str, hits: Sequence[Hit], search: SearchDocuments, whole_text: str) -> Series | None:
    """Returns the values of one measure. `whole_text` is the question, which also names the documents."""
    asked = read_asked(text)
    quarters = find_quarters(text)
    members = choose_family(read_asked(whole_text), whole_text, hits)
    if members is None or (quarters is not None and not members):
        return None
    if quarters is None and len(members) < _FEWEST:
        return _find_in_table(asked, text, hits)
    older, members = max(0, len(members) - _MOST), members[-_MOST:]
    found = await search(frozenset(member.id for member in members), min(_FROM_EACH * len(members), _MOST_HITS))
    rows = [row for row in list_rows(asked, found) if row.cells[0].hit.document.id in {member.id for member in members}]
    if not rows or not has_names(asked, found):
        return None
    label = find_label(rows)
    rows = [row for row in rows if row.name == label]
    chosen = choose_rows(asked, rows)
    in_order = [chosen[member.id] for member in members if member.id in chosen]
    if quarters is not None and (quarters.is_prior_year or quarters.is_sequential):
        pair = _find_pair(quarters, members, in_order, rows)
        return Series(cells=pair, missing=(), is_cut=asked.is_cut) if pair else None
    if asks_for_part(text) and not all(cell.is_share for cell in in_order):
        return None
    if len(in_order) < (_FEWEST if quarters is None or len(quarters.wanted) > 1 else 1):
        return None
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


def _find_pair(
    quarters: Quarters, members: Sequence[DocumentRef], cells: Sequence[SeriesCell], rows: Sequence[SeriesRow]
) -> Sequence[SeriesCell]:
    """Returns the value of the quarter that the question compares with, and of the quarter that it names; () if they
    are not surely those. A report has the same quarter of the year before in the same row.
    """
    named = [member.id for member in members if quarters.wanted[-1] in quarters_of(member)]
    of_named = [cell for cell in cells if cell.hit.document.id in named]
    if len(of_named) != 1:
        return ()
    last = of_named[0]
    if quarters.is_prior_year and (prior := find_prior_year(last, rows)) is not None:
        return prior, last
    earlier = [cell for cell in cells if cell is not last]
    is_pair = is_prior_year if quarters.is_prior_year else is_next_quarter
    return (earlier[0], last) if len(earlier) == 1 and is_pair(earlier[0], last) else ()


async def _find_ratios(share: Share, text: str, hits: Sequence[Hit], search: SearchDocuments) -> Series | None:
    """Returns what the percentages are computed from that a question asks for. None if a value of one of two measures
    is found and the other is not in the same unit and of the same period, or no two are.
    """
    text = share.whole if share.may_be_negative else text
    parts, wholes = [await _find_measure(measure, hits, search, text) for measure in (share.part, share.whole)]
    if parts is None or wholes is None:
        return None
    of_whole = {_place_of(cell): cell for cell in wholes.cells}
    pairs = [(part, of_whole[_place_of(part)]) for part in parts.cells if _place_of(part) in of_whole]
    if not pairs or any(not _may_divide(part, whole, share) for part, whole in pairs):
        return None
    paired = {part.hit.document.id for part, _ in pairs}
    missing = {ref.id: ref for ref in (*parts.missing, *wholes.missing)}
    return replace(
        parts,
        cells=[cell for pair in pairs for cell in pair],
        missing=[ref for id, ref in missing.items() if id not in paired],
        ratios=[Ratio(part=part, whole=whole) for part, whole in pairs],
    )


def _place_of(cell: SeriesCell) -> tuple[object, ...]:
    return cell.hit.document.id, cell.period and cell.period.end


def _may_divide(part: SeriesCell, whole: SeriesCell, share: Share) -> bool:
    """Returns whether two values are surely of one period and in one unit, and the first may be a part of the other."""
    if whole.amount.value <= 0 or not are_in_one_unit(part, whole):
        return False
    if (part.hit.chunk.id, part.row) == (whole.hit.chunk.id, whole.row) or not share.own <= find_stems(part.label):
        return False
    if share.is_comparison:
        return part.amount.value >= 0
    return (part.amount.value >= 0 or share.may_be_negative) and abs(part.amount.value) <= whole.amount.value


def _find_lacking(question: str, members: Sequence[DocumentRef]) -> list[str]:
    """Returns the first and the last mark that the question names, if no document has it."""
    if (quarters := find_quarters(question)) is not None:
        there = {quarter for member in members for quarter in quarters_of(member)}
        return [
            f"Q{number} {year}"
            for year, number in quarters.wanted[:: len(quarters.wanted) - 1 or 1]
            if (year, number) not in there
        ]
    marks = {mark for member in members for mark in family_of(member.key, member.title)[1]}
    return [bound for bound in dict.fromkeys(find_bounds(question) or ()) if bound not in {*marks, NO_END}]


def _find_in_table(asked: Asked, question: str, hits: Sequence[Hit]) -> Series | None:
    """Returns the periods of one row of a document; None if several have the row, and none is named before others."""
    rows = list(list_rows(asked, hits))
    bounds, newest = find_bounds(question), find_newest(question)
    if not rows or not has_names(asked, hits) or (bounds is not None and not bounds[0].isdigit()):
        return None
    label = find_label(rows)
    of_label = [row for row in rows if row.name == label]
    documents = dict.fromkeys(row.cells[0].hit.document.id for row in of_label)
    named = Counter({id: count_named(asked, [hit for hit in hits if hit.document.id == id]) for id in documents})
    (first, most), *others = named.most_common()
    if others and others[0][1] == most:
        return None
    cells = list_periods(asked, [row for row in of_label if row.cells[0].hit.document.id == first], bounds)
    if newest and len(cells) > newest.count:
        if newest.are_years and any(cell.period and cell.period.months not in (0, 12) for cell in cells):
            return None
        cells = cells[-newest.count :]
    return Series(cells=cells, missing=(), is_cut=asked.is_cut) if len(cells) >= _FEWEST else None
