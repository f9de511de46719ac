"""Which part of a company grew or fell most from one quarter to another: each part's two values, and the most computed.

The parts are the rows of a table "by segment" of each of two reports, or of one report that has both quarters.
"""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from core.documents import HEADING_SEPARATOR
from core.passage_context.other_words import find_said_labels
from core.passage_context.row_labels import SUM_WORDS
from core.ports.retrieval import Hit
from core.text.periods import find_quarters
from core.text.value_kinds import find_stems
from reasoning.strategies.extractive.over_periods.cells import SeriesCell, list_cells
from reasoning.strategies.extractive.over_periods.choice import choose_rows, find_prior_year, is_prior_year
from reasoning.strategies.extractive.over_periods.families import choose_family, quarters_of
from reasoning.strategies.extractive.over_periods.found import Series
from reasoning.strategies.extractive.over_periods.one_report import SearchDocuments
from reasoning.strategies.extractive.over_periods.rows import Asked, SeriesRow, read_asked
from reasoning.strategies.extractive.over_periods.tables import Table, leave_out_rows, own_label, read_tables
from reasoning.strategies.extractive.over_periods.units import CAPTION
from reasoning.strategies.extractive.over_periods.writing import write_amount

_ASKED = re.compile(
    r"\b(?:which|what|welche[rs]?|quel(?:le)?) (?:(?:reportable|reporting|operating|business|product) )?"
    r"(?P<kind>segment|division|business|region|country|market|channel|category|product line|product|Sparte"
    r"|Geschäftsbereich|Bereich|secteur)\b[^?]{0,80}?"
    r"\b(?:(?P<up>grew|grow|grown|increased|rose|gained|wuchs|gewachsen|gestiegen|stieg|progressé|augmenté)"
    r"|(?P<down>fell|fall|fallen|declined|decreased|dropped|shrank|lost|sank|gesunken|gefallen|baissé|diminué))\b",
    re.IGNORECASE,
)
_MOST = re.compile(
    r"\b(?:(?<!at )most(?! (?:slow|recent|gradual|modest))|fastest|strongest|quickest"
    r"|more(?![^?]{0,200}\bthan\b)"
    r"(?=\W{0,3}\Z|\s(?:from|between|in)\s(?:the )?(?:Q ?[1-4]|[1-4]Q|first|second|third|fourth|20))"
    r"|am (?:stärksten|meisten|schnellsten)|le plus(?! (?:lente|faible)))\b",
    re.IGNORECASE,
)
"""Behind "more" may stand nothing but the quarters: "more than 10 %" and "more slowly" ask something else."""
_FROM_EACH = 16
"""Passages of each report that are searched for the table."""
_FEWEST = 2
_NEAR_TOTAL = Decimal("0.01")
_HUNDRED = 100
_MOST_NAMED = 8
"""Parts without two values that are named."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PartsAsked:
    """The stems of the word for the parts, "segment", and whether the greatest rise is wanted, or the greatest fall."""

    kind: frozenset[str]
    is_up: bool


def find_parts_asked(question: str) -> PartsAsked | None:
    """Returns what a question for the part that grew or fell most asks; None for another question."""
    found = _ASKED.search(question)
    quarters = find_quarters(question)
    if (
        found is None
        or quarters is None
        or len(quarters.wanted) < _FEWEST
        or not _MOST.search(question, found.end("kind"))
    ):
        return None
    return PartsAsked(kind=find_stems(found["kind"]), is_up=found["up"] is not None)


async def find_parts(wanted: PartsAsked, text: str, hits: Sequence[Hit], search: SearchDocuments) -> Series | None:
    """Returns the two values of each part, and the parts that changed most; None if fewer than two parts have both
    values in one unit.
    """
    asked, quarters = read_asked(text), find_quarters(text)
    members = choose_family(asked, text, hits)
    if not members or quarters is None:
        return None
    by_quarter = {quarter: member.id for member in members for quarter in quarters_of(member)}
    first, last = (by_quarter.get(quarter, "") for quarter in (quarters.wanted[0], quarters.wanted[-1]))
    ids = frozenset({first, last} - {""})
    if not last or (not first and not quarters.is_prior_year):
        return None
    found = await search(ids, _FROM_EACH * len(ids))
    pairs: list[tuple[SeriesCell, SeriesCell]] = []
    lacking: list[str] = []
    parts, has_total = _list_parts(wanted, asked, found)
    for rows in parts.values():
        chosen = choose_rows(asked, rows)
        end = chosen.get(last)
        begin = chosen.get(first) or (find_prior_year(end, rows) if end and quarters.is_prior_year else None)
        if begin and end and _may_compare(begin, end, is_prior_year_wanted=quarters.is_prior_year):
            pairs.append((begin, end))
        else:
            lacking += [cell.label for cell in (end, begin) if cell and not cell.is_share][:1]
    pairs = pairs if has_total else _leave_out_totals(pairs)
    if len(pairs) < _FEWEST or len({(cell.scale, cell.currency) for pair in pairs for cell in pair}) > 1:
        return None
    first_part, *others = [Series(cells=pair, missing=(), is_cut=False) for pair in pairs]
    closing = _compare(wanted, pairs) + _name_lacking(lacking)
    return replace(first_part, others=others, is_cut=asked.is_cut, closing=closing)


def _list_parts(
    wanted: PartsAsked, asked: Asked, hits: Sequence[Hit]
) -> tuple[Mapping[str, Sequence[SeriesRow]], bool]:
    """Returns the rows of the tables that are called by the word for the parts and by the measure, by their labels,
    without rows that are called a total, and whether there are such rows.
    """
    measure = asked.said or frozenset(find_said_labels("revenue"))
    places = {(hit.document.id, hit.chunk.position): hit for hit in hits}
    rows = defaultdict[str, list[SeriesRow]](list)
    has_total = False
    for rank, hit in enumerate(hits):
        for table in read_tables(hit, places):
            title = _read_title(table, hit)
            if not wanted.kind <= find_stems(title) or not measure & find_said_labels(title):
                continue
            for row in table.rows:
                cells = tuple(list_cells(hit, rank, row, table.grid, table.heads[row.start], table.caption))
                is_total = bool(cells and find_stems(own_label(row)) & SUM_WORDS)
                has_total = has_total or is_total
                if cells and not is_total:
                    rows[own_label(row)].append(SeriesRow(score=0, name=frozenset({own_label(row)}), cells=cells))
    return rows, has_total


def _read_title(table: Table, hit: Hit) -> str:
    above = leave_out_rows(hit.chunk.text[max(0, table.grid.start - CAPTION) : table.grid.start])
    corner = table.grid.columns[0] if table.grid.columns else ""
    return f"{hit.chunk.heading.rpartition(HEADING_SEPARATOR)[2]}\n{above}\n{corner}"


def _may_compare(first: SeriesCell, last: SeriesCell, *, is_prior_year_wanted: bool) -> bool:
    """Returns whether two values are amounts of two periods of one length, the first of them earlier."""
    if first.is_share or last.is_share or first.period is None or last.period is None:
        return False
    if first.period.months != last.period.months or first.period.end >= last.period.end:
        return False
    return not is_prior_year_wanted or is_prior_year(first, last)


def _leave_out_totals(pairs: Sequence[tuple[SeriesCell, SeriesCell]]) -> list[tuple[SeriesCell, SeriesCell]]:
    """Returns the parts without rows that are the sum of the others. Beside a row that is called a total, which is no
    part, none is: a part may be as much as the others by chance.
    """
    values = [abs(last.amount.value) for _, last in pairs]
    total = sum(values, Decimal(0))
    is_total = [len(pairs) > _FEWEST and abs(total - 2 * value) <= _NEAR_TOTAL * value for value in values]
    return [pair for pair, is_sum in zip(pairs, is_total, strict=True) if not is_sum]


def _name_lacking(labels: Sequence[str]) -> str:
    """Returns the sentence on the parts that were not compared, '' without any."""
    if not labels:
        return ""
    more = len(labels) - _MOST_NAMED
    named = ", ".join(labels[:_MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")
    return f" Not compared, because a value of one of the quarters was not found: {named}."


def _compare(wanted: PartsAsked, pairs: Sequence[tuple[SeriesCell, SeriesCell]]) -> str:
    """Returns the line on the part that changed most by amount, and in percent if that is another one."""
    choose = max if wanted.is_up else min
    changes = {last: last.amount.value - first.amount.value for first, last in pairs}
    shares = {last: changes[last] / first.amount.value * _HUNDRED for first, last in pairs if first.amount.value > 0}
    most = choose(changes, key=changes.__getitem__)
    if (changes[most] > 0) is not wanted.is_up:
        return f"Computed: none {'grew' if wanted.is_up else 'fell'}."
    told = (
        f"Computed: {'up' if wanted.is_up else 'down'} most: {most.label}, by {write_amount(most, abs(changes[most]))}"
    )
    if len(shares) < len(pairs):
        return f"{told}."
    in_percent = choose(shares, key=shares.__getitem__)
    other = "" if in_percent is most else f"{in_percent.label}, "
    return f"{told}; in percent: {other}{shares[in_percent]:+.1f} %."
