"""Days as texts write them, in English and German: `1 May 2024`, `May 1st, 2024`, `2024-05-01`, `1. Mai 2024`.

Days in digits with slashes are left out: their order differs between countries.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import date

_NAMES = (
    "january januar jan", "february februar feb", "march märz mar", "april april apr", "may mai may",
    "june juni jun", "july juli jul", "august august aug", "september september sep sept",
    "october oktober oct okt", "november november nov", "december dezember dec dez",
)  # fmt: skip
_MONTHS = {name: number for number, names in enumerate(_NAMES, start=1) for name in names.split()}
MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
"""The pattern of the name of a month."""
WRITTEN_DATE = (
    r"(?<![\w./-])(?:"
    r"(?P<iso>\d{4}-\d\d-\d\d)(?![\w-])"
    r"|(?P<digits>\d{1,2}\. ?\d{1,2}\. ?\d{4})(?!\w)"
    rf"|(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.)? (?:day of |of )?(?P<month>{MONTH})\.?,? (?P<year>\d{{4}})(?!\w)"
    rf"|(?P<month2>{MONTH})\.? (?P<day2>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<year2>\d{{4}})(?!\w)"
    r")"
)
YEARS = range(1700, 2301)
"""Years of which documents state something; the days beside theirs exist, too."""
_DATE = re.compile(WRITTEN_DATE, re.IGNORECASE)
_MONTH_OF_YEAR = re.compile(
    rf"(?<![\w./-])(?:(?P<month>{MONTH})\.?,? (?P<year>\d{{4}})"
    r"|(?P<iso>\d{4})-(?P<iso_month>0[1-9]|1[0-2]))(?![\w-])",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class WrittenDate:
    """A day, and its place in the text."""

    day: date
    start: int
    end: int


def find_dates(text: str) -> Iterator[WrittenDate]:
    """Yields the days that a text names, in order. Days that the calendar has not are left out."""
    for found in _DATE.finditer(text):
        if (written := _read(found)) is not None:
            yield written


def read_date(text: str, start: int) -> WrittenDate | None:
    """Returns the day that stands at a place; None if none does."""
    found = _DATE.match(text, start)
    return None if found is None else _read(found)


def number_of_month(name: str) -> int:
    """Returns the number of a month, from 1, by its name as `MONTH` finds it."""
    return _MONTHS[name.lower()]


def find_months(text: str) -> set[tuple[int, int]]:
    """Returns the months that a text names with their year, also those of its days: `(2024, 5)`."""
    days = {(found.day.year, found.day.month) for found in find_dates(text)}
    return days | {
        (
            int(found["year"] or found["iso"]),
            number_of_month(found["month"]) if found["month"] else int(found["iso_month"]),
        )
        for found in _MONTH_OF_YEAR.finditer(text)
    }


def leave_out_dates(text: str) -> tuple[str, int]:
    """Returns the text without the days and the months of a year that it names, and their number."""
    places = [(found.start, found.end) for found in find_dates(text)]
    for start, end in reversed(places):
        text = f"{text[:start]}; {text[end:]}"
    months = [found for found in _MONTH_OF_YEAR.finditer(text) if int(found["year"] or found["iso"]) in YEARS]
    for month in reversed(months):
        text = f"{text[: month.start()]}; {text[month.end() :]}"
    return text, len(places) + len(months)


def _read(found: re.Match[str]) -> WrittenDate | None:
    if found["iso"]:
        parts = [int(part) for part in found["iso"].split("-")]
    elif found["digits"]:
        parts = [int(part) for part in reversed(found["digits"].split("."))]
    elif found["day"]:
        parts = [int(found["year"]), _MONTHS[found["month"].casefold()], int(found["day"])]
    else:
        parts = [int(found["year2"]), _MONTHS[found["month2"].casefold()], int(found["day2"])]
    with suppress(ValueError):
        day = date(*parts)
        return WrittenDate(day=day, start=found.start(), end=found.end()) if day.year in YEARS else None
    return None
