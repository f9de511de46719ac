"""Dates in the cells of a column: `2026-03-05`, `5.3.2026`, `05/03/2026`, `5 March 2026`, `March 2026`, or a year."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from reasoning.strategies.survey.values import find_period

__all__ = ["Day", "find_month", "read_days"]

_YEAR = re.compile(r"(?:19|20)\d\d")
_SLASHED = re.compile(r"(\d{1,2})/(\d{1,2})/((?:19|20)\d\d)(?!\d)")
_DOTTED = re.compile(r"(\d{1,2})\.(\d{1,2})\.((?:19|20)\d\d)(?!\d)")
_ISO = re.compile(r"((?:19|20)\d\d)-(\d\d)-(\d\d)(?!\d)")
_WRITTEN = re.compile(
    r"(?:[^\W\d_]{2,10}[.,]{0,2} )?(?P<before>\d{1,2})(?:st|nd|rd|th|er|\.)? (?P<month>[^\W\d_]{3,10})\.?"
    r" (?P<year>(?:19|20)\d\d)"
    r"|(?P<first>[^\W\d_]{3,10})\.? (?P<after>\d{1,2})(?:st|nd|rd|th)?,? (?P<its_year>(?:19|20)\d\d)"
)
_FRENCH = {
    name: number
    for number, names in enumerate(
        (
            "janvier janv", "février févr fév", "mars", "avril avr", "mai", "juin", "juillet juil", "août",
            "septembre", "octobre", "novembre", "décembre déc",
        ),
        start=1,
    )
    for name in names.split()
}  # fmt: skip
_LAST_MONTH, _LAST_DAY = 12, 31
_Numbers = tuple[int, int, int]


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class Day:
    """A date, whose `day` and `month` are 0 if it has none."""

    year: int
    month: int = 0
    day: int = 0


def find_month(word: str) -> int:
    """Returns the number of a month by its name, in English, German or French; 0 for another word."""
    folded = word.casefold().rstrip(".")
    period = find_period(f"{folded} 2000") if len(folded) > 2 and folded.isalpha() else None
    return period.month if period else _FRENCH.get(folded, 0)


def read_days(texts: Sequence[str]) -> list[Day | None]:
    """Returns the date of each cell of a column; None for a cell with other text.

    `05/03/2026` may be a day of March or of May: the other cells tell. If none does, no date with slashes is read.
    """
    slashed = [found for text in texts if (found := _SLASHED.match(text.strip()))]
    day_first = any(int(found[1]) > _LAST_MONTH for found in slashed)
    month_first = any(int(found[2]) > _LAST_MONTH for found in slashed)
    order = (2, 1) if day_first and not month_first else (1, 2) if month_first and not day_first else None
    return [_read_day(text.strip(), order) for text in texts]


def _read_day(text: str, order: tuple[int, int] | None) -> Day | None:
    """Returns the date at the beginning of a text. `order` are the places of the month and the day between slashes."""
    numbers = _find_numbers(text, order)
    if numbers is not None:
        year, month, day = numbers
        is_date = 1 <= month <= _LAST_MONTH and 1 <= day <= _LAST_DAY
        return Day(year=year, month=month, day=day) if is_date else None
    if _YEAR.fullmatch(text):
        return Day(year=int(text))
    period = find_period(text)
    return Day(year=period.year, month=period.month) if period and not _SLASHED.search(text) else None


def _find_numbers(text: str, order: tuple[int, int] | None) -> _Numbers | None:
    if found := _ISO.match(text):
        return int(found[1]), int(found[2]), int(found[3])
    if found := _DOTTED.match(text):
        return int(found[3]), int(found[2]), int(found[1])
    if (found := _SLASHED.match(text)) and order:
        return int(found[3]), int(found[order[0]]), int(found[order[1]])
    if found := _WRITTEN.match(text):
        month = find_month(found["month"] or found["first"])
        day = int(found["before"] or found["after"])
        return (int(found["year"] or found["its_year"]), month, day) if month else None
    return None
