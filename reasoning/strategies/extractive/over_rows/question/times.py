"""The dates in the cells of a column, `2026-03-05`, `5.3.2026`, `March 2026`, and the time that rows must be of: a day,
month, quarter or year, or what is before, after or between such times.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from reasoning.strategies.survey.values import find_period

_ORDINAL = (
    r"first|second|third|fourth|1st|2nd|3rd|4th|erste\w?|zweite\w?|dritte\w?|vierte\w?"
    r"|premier|deuxième|troisième|quatrième"
)
_QUARTER = re.compile(
    rf"\bQ(?P<number>[1-4])\b|\b(?P<word>{_ORDINAL}) (?:quarter|quartal|trimestre)",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?<![\w-])(?:19|20)\d\d(?![\w-])")
_QUARTERS = (
    "first 1st erst premier",
    "second 2nd zweit deuxième",
    "third 3rd dritt troisième",
    "fourth 4th viert quatrième",
)
_WORD = re.compile(r"[^\W_](?:[\w'’-]{0,60}[^\W_])?")
_BOUND = re.compile(
    r"\b(?:before|after|until|till|since|from|to|through|between|by|within|as of|prior to|(?:earlier|later) than"
    r"|starting|ending|vor|nach|bis|seit|ab|zwischen|avant|après|depuis|jusqu['’]?(?:à|en|au)?|entre|à partir)"
    r"(?: (?:the|end|start|beginning|of|in|de|du|d['’]|la|le|fin|début|dem|der|den|Ende|Anfang|year|Jahr|zum))*[ ]",
    re.IGNORECASE,
)
_TIME = re.compile(r"(?:19|20)\d\d\b|Q[1-4]\b|(?P<word>[^\W\d_]{3,12})\b")
_SEVERAL = re.compile(
    rf"\b(?:{_ORDINAL})\s?(?:,|-|–|/|and|or|to|und|oder|bis|et|ou|à)\s?(?:the |dem |der |le )?(?:{_ORDINAL})\b",
    re.IGNORECASE,
)
_WORDS_OF_TIME = re.compile(
    rf"(?:{_ORDINAL}|years?|quarters?|months?|weeks?|days?|half|date|jahre?s?|quartale?|monate?|woche\w?|tage?"
    r"|années?|ans?|trimestres?|mois|semaines?|jours?|last|this|next|today|ytd)",
    re.IGNORECASE,
)
_POINT = re.compile(
    r"(?P<iso_year>(?:19|20)\d\d)-(?P<iso_month>\d\d)(?:-(?P<iso_day>\d\d))?(?![\w-])"
    r"|(?P<dotted_day>\d{1,2})\.(?P<dotted_month>\d{1,2})\.(?P<dotted_year>(?:19|20)\d\d)(?!\w)"
    r"|(?:(?P<day>\d{1,2})(?:st|nd|rd|th|er|\.)? (?:of )?)?(?P<month>[^\W\d_]{3,10})"
    r"(?: (?P<day_behind>\d{1,2})(?:st|nd|rd|th)?(?!\d),?)?(?:,? (?P<month_year>(?:19|20)\d\d))?(?![\w-])"
    r"|(?P<year>(?:19|20)\d\d)(?![\w-])"
)
_LIMIT = re.compile(
    r"\b(?:(?P<after>after|later than|nach(?: dem)?|après(?: le)?)"
    r"|(?P<since>since|as of|starting(?: in| from)?|on or after|seit(?: dem)?|ab(?: dem)?|depuis(?: le)?"
    r"|à partir (?:de|du))"
    r"|(?P<before>before|earlier than|prior to|vor(?: dem)?|avant(?: le)?)"
    r"|(?P<until>until|till|up to|bis(?: zum)?|jusqu['’](?:en|au|à) ?)"
    r"|(?P<between>between|zwischen(?: dem)?|entre(?: le)?)|(?P<range>from|von|vom|de|du))\s(?:the )?(?:year )?",
    re.IGNORECASE,
)
_JOINED = re.compile(r"\s(?:and|und(?: dem)?|et(?: le)?|to|until|till|through|bis(?: zum)?|à|au)\s", re.IGNORECASE)
_ONLY_YEAR = re.compile(r"(?:19|20)\d\d")
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
    if _ONLY_YEAR.fullmatch(text):
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


@dataclass(frozen=True, kw_only=True, slots=True)
class Time:
    """A quarter, a month (0: none), a day (0: none) or a year (0: any) that rows must be of, as it is `written`; or a
    range from `first` to `last` (None: open), which belong to it themselves if `has_first`, `has_last`.
    """

    written: str
    quarter: int = 0
    month: int = 0
    year: int = 0
    day: int = 0
    first: Day | None = None
    last: Day | None = None
    has_first: bool = True
    has_last: bool = True

    @property
    def needs_month(self) -> bool:
        """Whether a date without a month does not tell."""
        bounds = [bound for bound in (self.first, self.last) if bound]
        return bool(self.month or self.quarter or any(bound.month for bound in bounds))

    @property
    def has_any_year(self) -> bool:
        """Whether a month or a quarter is meant whose year is not said."""
        return not any((self.year, *(bound.year for bound in (self.first, self.last) if bound)))

    def has(self, day: Day) -> bool:
        """Returns whether a date is of this time."""
        low, high = _compare(day, self.first), _compare(day, self.last)
        return (
            (not self.year or self.year == day.year)
            and (not self.month or self.month == day.month)
            and (not self.day or self.day == day.day)
            and (not self.quarter or self.quarter == (day.month + 2) // 3)
            and (low > 0 or (low == 0 and (self.has_first or self.first is None)))
            and (high < 0 or (high == 0 and (self.has_last or self.last is None)))
        )


def _compare(day: Day, bound: Day | None) -> int:
    """Returns -1, 0 or 1: whether a date is before, within or after what a bound names."""
    if bound is None:
        return 0
    own: list[int] = []
    others: list[int] = []
    for value, of_day in ((bound.year, day.year), (bound.month, day.month), (bound.day, day.day)):
        if value:
            own.append(of_day)
            others.append(value)
    return (own > others) - (own < others)


def has_time(text: str) -> bool:
    """Returns whether a text has a year, a quarter, a month or a day."""
    return read_time(f"in {text}")[0] is not None or _YEAR.search(text) is not None


def has_range(text: str) -> bool:
    """Returns whether a question bounds a time (`before May`, `from January to March`), or names several."""
    for bound in _BOUND.finditer(text):
        time = _TIME.match(text, bound.end())
        if time is not None and (not time["word"] or _is_month(time["word"]) or _QUARTER.match(text, bound.end())):
            return True
    months = [word for word in _WORD.finditer(text) if word.start() and _is_named_month(word[0])]
    counts = (len(months), len(_YEAR.findall(text)), len(_QUARTER.findall(text)))
    return max(counts) > 1 or (bool(months) and counts[2] > 0) or _SEVERAL.search(text) is not None


_FROM = re.compile(
    r"(?<!starting )(?<!beginning )(?<!effective )(?<!valid )(?<!as )\bfrom "
    r"(?=(?:[^\W\d_]{3,10} )?(?:19|20)\d\d(?![\w-])(?!,? (?:on|onwards?|to|until|till|through|up|forward|and)\b"
    r"|\s?[-–/]))",
    re.IGNORECASE,
)
"""A word before a time of which rows are, and with which they do not begin: "invoices from 2024"."""


def leave_out_from(text: str) -> str:
    """Returns a text of the same length without such words."""
    return _FROM.sub("     ", text)


def read_time(text: str) -> tuple[Time | None, str]:
    """Returns the time that rows must be of, and the text without it. A year alone is left in the text: it may be the
    number of a thing (`read_year`).
    """
    for limit in _LIMIT.finditer(text):
        if found := _read_range(text, limit):
            time, end = found
            return time, text[: limit.start()] + " " * (end - limit.start()) + text[end:]
    quarter = _QUARTER.search(text)
    number = 0
    if quarter is not None:
        number = int(quarter["number"] or 0) or _place(quarter["word"])
        text = text[: quarter.start()] + " " * len(quarter.group()) + text[quarter.end() :]
    year = _YEAR.search(text)
    for start, end, day in _read_points(text):
        rest = text[:start] + " " * (end - start) + text[end:]
        its_year = day.year or (int(year[0]) if year else 0)
        written = text[start:end].strip()
        return Time(written=written, quarter=number, month=day.month, day=day.day, year=its_year), rest
    if quarter is None:
        return None, text
    return Time(written=quarter.group(), quarter=number, year=int(year[0]) if year else 0), text


def read_year(written: str) -> Time | None:
    """Returns the time of a year, None for another word."""
    return Time(written=written, year=int(written)) if _YEAR.fullmatch(written) else None


def is_word_of_time(word: str) -> bool:
    """Returns whether a word is a month, or another word that tells a time."""
    return _is_month(word) or _WORDS_OF_TIME.fullmatch(word) is not None


def _read_range(text: str, limit: re.Match[str]) -> tuple[Time, int] | None:
    """Returns the range that begins with such a word, and where it ends."""
    first = _read_point(text, limit.end())
    if first is None:
        return None
    day, end = first
    written = text[limit.start() : end].strip()
    if limit["after"]:
        return Time(written=written, first=day, has_first=False), end
    if limit["since"]:
        return Time(written=written, first=day), end
    if limit["before"]:
        return Time(written=written, last=day, has_last=False), end
    if limit["until"]:
        return Time(written=written, last=day), end
    joined = _JOINED.match(text, end)
    second = _read_point(text, joined.end()) if joined else None
    if second is None:
        return None
    last, end = second
    if last.year and not day.year:  # "from January to March 2024"
        day = Day(year=last.year, month=day.month, day=day.day)
    if bool(day.year) != bool(last.year):
        return None
    return Time(written=text[limit.start() : end].strip(), first=day, last=last), end


def _read_points(text: str) -> Iterator[tuple[int, int, Day]]:
    """Yields where days and months stand in a text, without years alone. The first word is none: "May we …"."""
    for word in _WORD.finditer(text):
        if word.start() and (word[0][0].isdecimal() or _is_named_month(word[0])):
            found = _read_point(text, word.start())
            if found and found[0].month:
                yield word.start(), found[1], found[0]


def _read_point(text: str, start: int) -> tuple[Day, int] | None:
    """Returns the day, month or year that stands at a place of a text, and where it ends."""
    found = _POINT.match(text, start)
    if found is None:
        return None
    if found["month"]:
        if not _is_named_month(found["month"]):
            return None
        day = int(found["day"] or found["day_behind"] or 0)
        return Day(year=int(found["month_year"] or 0), month=find_month(found["month"]), day=day), found.end()
    year = int(found["iso_year"] or found["dotted_year"] or found["year"])
    month = int(found["iso_month"] or found["dotted_month"] or 0)
    return Day(year=year, month=month, day=int(found["iso_day"] or found["dotted_day"] or 0)), found.end()


def _is_month(word: str) -> bool:
    return find_month(word) > 0


def _is_named_month(word: str) -> bool:
    return (word[:1].isupper() or word in _FRENCH_MONTHS) and _is_month(word)


_FRENCH_MONTHS = frozenset(
    ["janvier", "février", "avril", "juin", "juillet", "août", "septembre", "octobre", "novembre", "décembre"]
)
"""Months that are written in small letters and are no other words."""


def _place(word: str) -> int:
    folded = word.casefold()
    return next(
        at for at, line in enumerate(_QUARTERS, start=1) if any(folded.startswith(name) for name in line.split())
    )
