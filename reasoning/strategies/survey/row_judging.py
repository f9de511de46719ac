"""Decides on one row of a table, which a survey counts by itself.

A word of the condition may stand in a cell, in the name of a column, or in the title and the headings above the table.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from core.ports.surveying import Wording
from reasoning.strategies.survey.judging import (
    PlacedWords,
    Verdict,
    find_sought,
    has_phrase,
    is_within,
    place_words,
    split_all_words,
)
from reasoning.strategies.survey.plan import NEGATION, Comparison, Plan, Sought
from reasoning.strategies.survey.values import CURRENCIES, Amount, find_period, read_amount, stems_of

_FLAGS = {
    True: frozenset({"yes", "y", "true", "x", "✓", "✔", "ja", "j", "1"}),
    False: frozenset({"no", "n", "false", "-", "–", "—", "✗", "nein", "none", "0"}),
}
_PARTLY = re.compile(r"\b(?:to be|partly|partially|teilweise)\b", re.IGNORECASE)
"""Before a word that is not, or not wholly, true."""
_YEAR = re.compile(r"(?:19|20)\d\d")
_OF_TIME = re.compile(r"before|after|since|until|earlier|later|vor\b|nach\b|seit\b|bis\b", re.IGNORECASE)
"""Words that compare times: `over 2000` compares an amount."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Cell:
    """A cell of a row, and the name of its column ('' if it has none). `has_points`: the column has decimals behind
    points, so that `2.375` in it is no number of thousands.
    """

    column: str
    text: str
    has_points: bool = False


column_stems = lru_cache(maxsize=1024)(stems_of)


def read_cell(cell: Cell) -> Amount | None:
    return read_amount(cell.text, cell.column, has_points=cell.has_points)


def judge_row(
    plan: Plan, title: str, heads: frozenset[str], cells: Sequence[Cell], naming: Cell | None = None
) -> Verdict:
    """Returns the verdict on a row with `heads`, the stems of what stands above it.

    A column that a word names decides by its cell, by "yes" or "no", or by its number if numbers are compared; not the
    column of `naming`, the cell with the name of what the row is about. A negation counts in the cell that has the
    word, once for several words, unless a row only has to mention it. What is "unpaid" may be told by "paid".
    """
    row = _Row(plan, heads, cells, naming)
    holds = None if plan.comparison is None else row.compare(plan.comparison)
    is_open = plan.comparison is not None and holds is None
    turned = set[int]()
    for number, sought in enumerate((*plan.sought, *plan.of_kind)):
        found = row.find(sought)
        if found is None and sought.opposite:
            found = row.find(replace(sought, wording=sought.opposite))
            turned.add(-1 - number)  # it says the opposite, unless its own cell turns it back
        if found is None:
            return Verdict.NO
        is_open = is_open or found.is_open
        turned |= found.turned
    if not all(any(has_phrase(text, phrase) for text in (title, *row.texts)) for phrase in plan.phrases):
        return Verdict.NO
    if is_open or not row.has_pairs():
        return Verdict.UNDECIDED
    agrees = (len(turned) % 2 == 1) == (plan.is_negated and not plan.is_mention)
    return Verdict.YES if agrees == (holds is not False) else Verdict.OPPOSITE


@dataclass(frozen=True, slots=True)
class _Found:
    """A word that a row has. `turned` are the cells that say the opposite of it, by their places."""

    is_open: bool = False
    turned: frozenset[int] = frozenset()


class _Row:
    def __init__(self, plan: Plan, heads: frozenset[str], cells: Sequence[Cell], naming: Cell | None) -> None:
        self.texts = [cell.text for cell in cells]
        self._plan = plan
        self._heads = heads
        self._cells = cells
        self._naming = naming
        self._words: list[PlacedWords] = [place_words(split_all_words(text)) for text in self.texts]

    def find(self, sought: Sought) -> _Found | None:
        """Returns what the row says of a word; None if it does not have the word."""
        among = [at for at, words in enumerate(self._words) if find_sought(sought, words)]
        if among:
            if any(_PARTLY.search(self.texts[at]) for at in among):
                return _Found(is_open=True)
            negated = () if self._plan.is_mention else among
            return _Found(turned=frozenset(at for at in negated if NEGATION.search(self.texts[at])))
        named = [at for at, cell in enumerate(self._cells) if _names(sought, cell.column)]
        if any(self._cells[at] is self._naming or self._is_spoken_of(at) for at in named):
            return _Found()
        if named:
            flags = {at: read_flag(self.texts[at]) for at in named}
            said = set(flags.values())
            if self._plan.comparison is not None and said == {None}:
                return _Found()  # a column whose numbers are compared
            if None in said or len(said) > 1:
                return _Found(is_open=True)
            return _Found(turned=frozenset(at for at, flag in flags.items() if flag is False))
        if self._is_currency(sought):
            return _Found()
        is_above = not sought.is_number and any(stems <= self._heads for stems in sought.wording)
        return _Found() if is_above else None

    def _is_spoken_of(self, at: int) -> bool:
        """Returns whether the cell has another word of the condition: "high severity", of `high` under `Severity`."""
        return any(find_sought(sought, self._words[at]) for sought in (*self._plan.sought, *self._plan.of_kind))

    def _is_currency(self, sought: Sought) -> bool:
        code = sought.written.upper()
        return code in CURRENCIES and any(code in amount.unit.split() for _, amount in self._amounts())

    def has_pairs(self) -> bool:
        """Returns whether the parts of each name that stand in one cell follow one another there."""
        for pair in self._plan.pairs:
            first, second = self._plan.sought[pair.first], self._plan.sought[pair.second]
            both = [(find_sought(first, words), find_sought(second, words)) for words in self._words]
            near = [any(0 < two - one <= pair.distance for one in ones for two in twos) for ones, twos in both]
            if any(ones and twos for ones, twos in both) and not any(near):
                return False
        return True

    def compare(self, comparison: Comparison) -> bool | None:
        """Returns whether the comparison holds of the amount under the column that the question names best, or of the
        only amount with a unit; of a time, of the only date, or the date under the column that it names. None if there
        are several, or none.
        """
        if comparison.is_unread:
            return None
        if _YEAR.fullmatch(comparison.number) and _OF_TIME.search(comparison.words):
            years = [(cell, float(period.year)) for cell in self._cells if (period := find_period(cell.text))]
            named = self._choose_named([cell for cell, _ in years])
            values = [year for cell, year in years if cell in named or not named]
        else:
            asked = [sought.written.upper() for sought in self._plan.sought if sought.written.upper() in CURRENCIES]
            amounts = [
                (cell, amount) for cell, amount in self._amounts() if not asked or asked[0] in amount.unit.split()
            ]
            if any(len(amount.unit.split()) > 1 for _, amount in amounts):
                return None  # thousands or millions of a currency
            named = self._choose_named([cell for cell, _ in amounts])
            values = [
                float(amount.value) for cell, amount in amounts if (cell in named if named else bool(amount.unit))
            ]
        return is_within(comparison, values[0]) if len(values) == 1 else None

    def _amounts(self) -> Iterator[tuple[Cell, Amount]]:
        for cell in self._cells:
            amount = read_cell(cell)
            if amount is not None:
                yield cell, amount

    def _choose_named(self, cells: Sequence[Cell]) -> list[Cell]:
        """Returns the cells whose columns have most words of the condition; [] if none has a word."""
        having = [sum(_names(sought, cell.column) for sought in self._plan.sought) for cell in cells]
        most = max(having, default=0)
        return [cell for cell, count in zip(cells, having, strict=True) if count == most > 0]


def _names(sought: Sought, column: str) -> bool:
    return _is_among(sought.wording, column_stems(column))


def _is_among(wording: Wording, stems: frozenset[str]) -> bool:
    return any(wanted <= stems for wanted in wording)


def read_flag(text: str) -> bool | None:
    """Returns what a cell says of the name of its column; None if it has something else than yes or no."""
    return next((flag for flag, words in _FLAGS.items() if text.strip().casefold() in words), None)
