"""The time that rows must be of: a quarter, a month or a year. Ranges of times are not read."""

import re
from dataclasses import dataclass

from reasoning.strategies.survey.values import find_period

__all__ = ["Time", "has_range", "is_word_of_time", "read_time"]

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


@dataclass(frozen=True, kw_only=True, slots=True)
class Time:
    """A quarter, a month (0: none) or a year (0: any) that rows must be of, as it is written."""

    written: str
    quarter: int = 0
    month: int = 0
    year: int = 0

    def has(self, year: int, month: int) -> bool:
        return (
            (not self.year or self.year == year)
            and (not self.month or self.month == month)
            and (not self.quarter or self.quarter == (month + 2) // 3)
        )


def has_range(text: str) -> bool:
    """Returns whether a question bounds a time (`before May`, `from January to March`), or names several."""
    for bound in _BOUND.finditer(text):
        time = _TIME.match(text, bound.end())
        if time is not None and (not time["word"] or _is_month(time["word"]) or _QUARTER.match(text, bound.end())):
            return True
    months = [word for word in _WORD.finditer(text) if word.start() and _is_named_month(word[0])]
    counts = (len(months), len(_YEAR.findall(text)), len(_QUARTER.findall(text)))
    return max(counts) > 1 or (bool(months) and counts[2] > 0) or _SEVERAL.search(text) is not None


def read_time(text: str) -> tuple[Time | None, str]:
    """Returns the time that rows must be of, and the text without its quarter and month."""
    quarter = _QUARTER.search(text)
    number = 0
    if quarter is not None:
        number = int(quarter["number"] or 0) or _place(quarter["word"])
        text = text[: quarter.start()] + " " * len(quarter.group()) + text[quarter.end() :]
    year = _YEAR.search(text)
    for word in _WORD.finditer(text):
        period = find_period(f"{word[0]} 2000") if word.start() and _is_named_month(word[0]) else None
        if period is not None:
            rest = text[: word.start()] + " " * len(word[0]) + text[word.end() :]
            return Time(written=word[0], quarter=number, month=period.month, year=int(year[0]) if year else 0), rest
    if quarter is None:
        return None, text
    return Time(written=quarter.group(), quarter=number, year=int(year[0]) if year else 0), text


def is_word_of_time(word: str) -> bool:
    """Returns whether a word is a month, or another word that tells a time."""
    return _is_month(word) or _WORDS_OF_TIME.fullmatch(word) is not None


def _is_month(word: str) -> bool:
    return len(word) > 2 and find_period(f"{word} 2000") is not None


def _is_named_month(word: str) -> bool:
    return word[:1].isupper() and _is_month(word)


def _place(word: str) -> int:
    folded = word.casefold()
    return next(
        at for at, line in enumerate(_QUARTERS, start=1) if any(folded.startswith(name) for name in line.split())
    )
