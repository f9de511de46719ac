"""Answers to questions for one value of one report: `What was the effective tax rate in Q3 2023?`.

The report is the version of a family that the question names, or the newest. A row of a report has the same value of
the year before, and of nine months, beside the value of its quarter: the value of the report's own period is taken, as
for questions over several periods, and told with it.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from decimal import Decimal

from core.passage_context.other_words import find_said_labels
from core.ports.retrieval import Hit
from core.text.periods import Period, asks_for_extremes, read_period
from core.text.titles import asks_for_newest, asks_for_older, compares_with_earlier, family_of, find_wanted_marks
from reasoning.strategies.extractive.over_periods.cells import SeriesCell
from reasoning.strategies.extractive.over_periods.choice import choose_rows, find_label, find_unasked
from reasoning.strategies.extractive.over_periods.rows import METRIC, Asked, SeriesRow, asks_for_share
from reasoning.strategies.extractive.quoting.wording import Wanted, find_wanted

_ASKS_FOR_VALUE = re.compile(
    r"(?:\b(?:in|for|during|as of|at|im|zum|für|au|pour)\s[^,?]{1,60},\s)?"
    r"(?:what(?:['’]s| was| is| were| are|\s(?:[\w&-]{1,30}\s){1,5}?(?:did|does|was|is|were|has|had)\b)"
    r"|how (?:much|many|high|large|big)\b|(?:give|tell|show) (?:me|us) the\b"
    r"|wie (?:hoch|viele?|groß)\b|was (?:war|ist|waren|sind)\b|welche[nrs]?\b"
    r"|quel(?:le)?s? (?:est|était|sont|étaient|a été|ont été)\b|à combien\b|combien\b)",
    re.IGNORECASE,
)
"""How a question for a value begins, alone or behind the period: `In the first quarter of 2023, how much did …`."""
_IS_SENTENCE = re.compile(
    r"\b(?:what|which|who|whom|whose|when|where|why|how|is|are|was|were|do|does|did|has|have|had|can|could|may|must|will"
    r"|would|should|list|show|compare|explain|describe|summari[sz]e|analy[sz]e|discuss|versus|vs|and|or|per"
    r"|was|welche[mnrs]?|wer|wann|wo|warum|wie|ist|sind|war|waren|hat|haben|und|oder|vergleiche|erkläre"
    r"|quel(?:le)?s?|qui|quand|où|pourquoi|comment|est|sont|et|ou)\b|[.;:!]\s",
    re.IGNORECASE,
)
"""What a measure that is typed alone does not have."""
_MOST_WORDS = 12
"""Words of a measure that is typed alone."""
_ASKS_FOR_CHANGE = re.compile(
    r"\b(?:increas|decreas|chang|declin|drop|r[io]se|risen|gr[eo]w|fall|fell|improv|gestiegen|gesunken|gewachsen|anstieg"
    r"|rückgang|zunahme|abnahme|veränder|augment|baiss|hausse|évol)"
    r"|\b(?:last|prior|previous|preceding)\s(?:year|quarter|period)|\byear ago\b|\bvorjahr|\bvorquartal|précédente?\b"
    r"|\b(?:first|second) half\b.{1,40}\b(?:and|to)\b|\A\W{0,3}how many\b|\bwie ?viele\b|\bcombien d",
    re.IGNORECASE,
)
"""How much a value grew, what it was a year before, and how many things there are, is not told by the value."""
_STARTS = re.compile(r"\b(?:from|since|until|ab|seit|bis|depuis|jusqu|à partir)", re.IGNORECASE)
"""In the name of a column: a price from a day on."""
_LONGEST = 1000
"""Characters of a question; a longer question tells a story."""
_YEAR, _FIRST_MONTHS = 12, (1, 2)
_SURE_LABEL = 10
"""The score of a row whose label the question says whole, or nearly whole, by words that are not the report's name."""
_SURE_METRIC = 4
"""The score of a row whose label says the same in other words, `Total net sales` of revenue."""


def asks_for_value(question: str) -> bool:
    """Returns whether a question asks for one value of one named report or period, or of the newest."""
    if len(question) > _LONGEST or find_wanted(question) != Wanted():
        return False
    if not _ASKS_FOR_VALUE.match(question.strip()) and not _is_measure_alone(question):
        return False
    if asks_for_change(question) or asks_for_extremes(question):
        return False
    if asks_for_older(question) or compares_with_earlier(question):
        return False
    return bool(find_wanted_marks(question)) or asks_for_newest(question)


def _is_measure_alone(question: str) -> bool:
    """Returns whether a question is a measure with its period, as people type for a search engine: `iPhone revenue Q2
    2023`. A period alone may be of a sentence.
    """
    is_short = len(question.split()) <= _MOST_WORDS and not _IS_SENTENCE.search(question)
    return is_short and bool(find_said_labels(question)) and bool(find_wanted_marks(question))


def asks_for_change(question: str) -> bool:
    """Returns whether a question asks how much a value grew, what it was a year before, or how many there are."""
    return _ASKS_FOR_CHANGE.search(question) is not None


def find_report(question: str, hits: Sequence[Hit]) -> str | None:
    """Returns the id of the document that the question names by its marks, or of the newest, if it asks for that; None
    if the best hit is of another document. Search puts the version that a question names first.
    """
    first = hits[0]
    wanted, marks = find_wanted_marks(question), family_of(first.document.key, first.document.title)[1]
    if wanted and _are_years(wanted) and not _are_years(marks):
        return None  # a year has several of these reports
    if not marks or (wanted and not wanted <= marks) or asks_for_older(question) or compares_with_earlier(question):
        return None
    if not wanted and not asks_for_newest(question):
        return None
    return first.document.id if wanted or first.versions else None


def _are_years(marks: Collection[str]) -> bool:
    return all(map(str.isdigit, marks))


def choose_values(question: str, asked: Asked, rows: Sequence[SeriesRow]) -> list[SeriesCell]:
    """Returns the value of the report's own period under the label that the question says best; [] if no label, or no
    value, is surely the one. `rows` are of one document.

    A margin is an amount to some and a percentage to others: if the report has both under the label, both are returned.
    """
    if not rows:
        return []
    label = find_label(rows)
    of_label = [row for row in rows if row.name == label]
    if max(row.score for row in of_label) < (_SURE_METRIC if label == METRIC else _SURE_LABEL):
        return []
    first = _choose_value(question, asked, of_label)
    if first is None:
        return []
    others = [row for row in of_label if row.cells[0].is_share != first.is_share]
    other = _choose_value(question, asked, others) if others and asks_for_share(asked) else None
    return [first] if other is None else sorted([first, other], key=lambda cell: cell.is_share)


def _choose_value(question: str, asked: Asked, rows: Sequence[SeriesRow]) -> SeriesCell | None:
    cell = next(iter(choose_rows(asked, rows).values()), None)
    if cell is None or cell.period is None or find_unasked(asked, cell) or _STARTS.search(cell.column):
        return None
    if not _is_asked(question, cell.period) or _is_of_other_length(asked, cell.period, rows):
        return None
    return cell if _is_alone(cell, rows) and _is_of_most_tables(asked, cell, rows) else None


def _is_alone(cell: SeriesCell, rows: Sequence[SeriesRow]) -> bool:
    """Returns whether no other row of the passage that fits as well has another value of the period: of two tables with
    the same segments, one may have their revenue and one their profit.
    """
    own = next(row for row in rows if any(other is cell for other in row.cells))
    rivals = [other for row in rows if round(row.score) >= round(own.score) for other in row.cells]
    return all(
        abs(other.amount.value) == abs(cell.amount.value)
        for other in rivals
        if other.hit.chunk.id == cell.hit.chunk.id and other.is_share == cell.is_share and other.period == cell.period
    )


def _is_asked(question: str, period: Period) -> bool:
    """Returns whether a period may be the period that a question names: a day or a month, or a year of twelve months,
    which ends in January or February at the latest. A quarter is the quarter that the report is called by.
    """
    marks, named = find_wanted_marks(question), read_period(question)
    if named and named.day:
        return period.end == named.end
    if any(mark[0] == "q" for mark in marks):
        return True
    if named and named.month:
        return (period.year, period.month) == (named.year, named.month)
    years = {int(mark) for mark in marks if mark.isdigit()}
    if not years:
        return True
    ends = period.year in years or (period.month in _FIRST_MONTHS and period.year - 1 in years)
    return ends and (period.months == _YEAR or (not period.months and (not period.month or bool(period.day))))


def _is_of_most_tables(asked: Asked, cell: SeriesCell, rows: Sequence[SeriesRow]) -> bool:
    """Returns whether more of the passages that have the label have the value than have other values alone: one table
    may divide up what the others tell, such as the part of an expense that is paid in shares. A passage whose columns
    are of other periods, as a statement of cash flows of six months, or of other things, as the retained earnings of a
    statement of equity, tells nothing of the value.
    """
    own = cell.period and (cell.period.end, cell.period.months)
    values = defaultdict[str, set[Decimal]](set)
    for row in rows:
        for other in row.cells:
            period = other.period and (other.period.end, other.period.months)
            is_other = period is None and bool(find_unasked(asked, other))
            if other.is_share == cell.is_share and period in (None, own) and not is_other:
                values[other.hit.chunk.id].add(abs(other.amount.value))
    having = sum(abs(cell.amount.value) in told for told in values.values())
    return 2 * having > len(values)


def _is_of_other_length(asked: Asked, period: Period, rows: Sequence[SeriesRow]) -> bool:
    """Returns whether the question names another length than the value has, although the report has such values."""
    if not asked.months or period.months in (0, asked.months):
        return False
    lengths = {cell.period.months for row in rows for cell in row.cells if cell.period}
    return asked.months in lengths
