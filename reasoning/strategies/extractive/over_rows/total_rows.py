"""Which rows of a table are totals of others: by their names, or since they are the sum of the rows above.

Each cell is looked at once or twice, whatever the rows say: a table of a stranger has any number of rows that begin
with "Total".
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from core.execution.limits import check_work
from reasoning.strategies.survey.values import Amount, is_total

_FORWARD = re.compile(
    r"(?:(?:total|amount|balance|sum) )?(?:(?:carried|brought) (?:forward|over|down)|balance forward)\b", re.IGNORECASE
)
_WITH_TAX = re.compile(
    r"(?:grand |sub-?)?(?:total|sum|summe|gesamt|gesamtsumme|gesamtbetrag)[ ]"
    r"(?:incl|excl|inkl|exkl|zzgl|including|excluding|net|gross|before|after|ttc|ht|hors)\b|grand total\b",
    re.IGNORECASE,
)
_PART_OF_TOTAL = re.compile(
    r"(?:davon|thereof|of which|dont|inkl|incl|zzgl|plus|net|gross|netto\w{0,8}|brutto\w{0,8}|mwst|ust|vat|tax|tva"
    r"|amount due|balance)\b",
    re.IGNORECASE,
)
"""How rows below a total begin that say what is in it, or what it is with tax."""
_WHOLE = re.compile(
    r"(?:whole |full )?(?:year|all|overall|together)(?: \d{4})?|(?:gesamt)?jahr(?: \d{4})?|alle|zusammen|année"
    r"|ensemble",
    re.IGNORECASE,
)
_FEWEST_OF_SUM = 3


@dataclass
class _Sums:
    """The sum of each column of amounts, and how many amounts it has."""

    values: dict[str, Decimal] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)

    def add(self, amounts: Mapping[str, Amount]) -> None:
        for column, amount in amounts.items():
            self.values[column] = self.values.get(column, Decimal(0)) + amount.value
            self.counts[column] = self.counts.get(column, 0) + 1

    def has(self, amounts: Mapping[str, Amount], fewest: int) -> bool:
        """Returns whether one of the amounts is the sum of at least so many in its column."""
        return any(
            self.counts.get(column, 0) >= fewest and self.values[column] == amount.value
            for column, amount in amounts.items()
        )


def is_named_total(label: str) -> bool:
    """Returns whether a row is a total by its name alone: `Total`, `Carried forward`."""
    return is_total(label) or any(pattern.match(label) for pattern in (_FORWARD, _WITH_TAX))


def is_like_total(label: str) -> bool:
    """Returns whether a row may be a total by its name, or a thing that is called so: `Total goods`."""
    return bool(_cut_total(label))


def find_totals(
    rows: Sequence[Mapping[str, str]], named: Sequence[bool], amounts: Mapping[str, Sequence[Amount | None]]
) -> list[bool]:
    """Returns for each row whether it is a total; `named` tells which are by their names.

    So are rows whose first cell begins or ends with such a word, if they are the sum of rows above, or if the rest is
    the first cell of other rows (`Total Huber`), or any cell of rows whose sum they are; and what is said of a total
    below it (`of which VAT`).
    """
    first = [next(((column, text) for column, text in row.items() if text), ("", "")) for row in rows]
    rests = [_cut_total(text) for _, text in first]
    firsts = {text.casefold() for _, text in first}
    of_rest: dict[str, _Sums] = {rest: _Sums() for rest in rests if rest}
    own = [
        {column: amount for column, read in amounts.items() if (amount := read[number])} for number in range(len(rows))
    ]
    for row, its, rest in zip(rows, own, rests, strict=True):
        check_work()
        for text in () if rest else {text.casefold() for text in row.values()}:
            if text in of_rest:
                of_rest[text].add(its)
    found: list[bool] = []
    since = _Sums()
    is_below_total = False
    for number, rest in enumerate(rests):
        check_work()
        is_sum = bool(rest) and (since.has(own[number], 2) or rest in firsts or of_rest[rest].has(own[number], 1))
        is_part = is_below_total and _PART_OF_TOTAL.match(first[number][1]) is not None
        found.append(named[number] or is_sum or is_part)
        is_below_total = is_below_total or named[number]
        if found[-1]:
            since = _Sums()
        else:
            since.add(own[number])
    if found and not found[-1]:
        found[-1] = _is_sum_of_all(own, found, first[-1][1])
    return found


def _is_sum_of_all(own: Sequence[Mapping[str, Amount]], found: Sequence[bool], label: str) -> bool:
    """Returns whether the last row is the sum of all others in two columns, or in its only one if it is called so
    (`Year` below twelve months).
    """
    above = _Sums()
    for amounts, is_left_out in zip(own[:-1], found[:-1], strict=True):
        if not is_left_out:
            above.add(amounts)
    equal = [column for column in own[-1] if above.has({column: own[-1][column]}, _FEWEST_OF_SUM)]
    equal = [column for column in equal if above.values[column] != 0]
    return len(equal) > 1 or (bool(equal) and _WHOLE.fullmatch(label.strip()) is not None)


def _cut_total(text: str) -> str:
    """Returns what a name has beside a word for a total before or behind it, in small letters; '' without any."""
    before, _, rest = text.partition(" ")
    if rest and is_total(before):
        return rest.strip().casefold()
    rest, _, behind = text.rpartition(" ")
    return rest.strip().casefold() if rest and is_total(behind) else ""
