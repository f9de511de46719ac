"""What a question asks of all rows of a table: the second highest price, a total per supplier, how many are open.

English, German and French. What is made of the rows is told by one word or two; all other words must be found in a
table before it is read for an answer (`fitting`).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from core.text.terms import split_words
from core.text.word_lists import SMALL_WORDS
from reasoning.strategies.survey.kinds import HOW_MANY
from reasoning.strategies.survey.plan import NEGATION, Comparison, read_number
from reasoning.strategies.survey.values import find_period
from reasoning.strategies.survey.word_forms import find_forms, find_number

__all__ = ["RowsAsked", "Said", "Time", "Wanted", "are_same", "is_part", "read_rows_asked"]

_LONGEST = 400
"""Characters of a question that is read; a longer one tells a story."""
_FEWEST_ALIKE = 4
"""Letters that two forms of a word have in common."""
_FEWEST_OF_COMPOUND = 5


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


class Wanted(StrEnum):
    """What is made of the rows. `CELL` is a cell of one row, which is only looked at to know whether a column is
    missing.
    """

    MOST = "highest"
    LEAST = "lowest"
    SUM = "total"
    MEAN = "average"
    COUNT = "count"
    DIFFERENCE = "difference"
    CELL = "cell"


_NUMBER = (
    r"\d{1,2}|two|three|four|five|six|seven|eight|nine|ten"
    r"|zwei|drei|vier|fünf|sechs|sieben|acht|zehn|deux|trois|quatre|cinq|dix"
)
_FOREIGN = {
    word: number
    for number, words in enumerate(
        ("zwei deux", "drei trois", "vier quatre", "fünf cinq", "sechs", "sieben", "acht", "", "zehn dix"), start=2
    )
    for word in words.split()
}
_UP = (
    r"(?:highest|largest|biggest|greatest|maximum|most expensive|(?<!at )most(?! (?:recent|common|likely|important|of))"
    r"|höchst\w{0,2}|größt\w{0,2}|grösst\w{0,2}|maximale?\w?|meisten"
    r"|plus (?:élevé|haut|grand|important)e?s?|le plus de|teuerste\w?"
    r"|plus chère?s?)"
)
_DOWN = (
    r"(?:lowest|smallest|(?<!at )least|fewest|minimum|niedrigst\w{0,2}|kleinst\w{0,2}|geringst\w{0,2}|wenigsten"
    r"|minimale?\w?|plus (?:bas|basse|petite?|faible)s?|moins élevée?s?|le moins de"
    r"|cheapest|billigste\w?|günstigste\w?|moins chère?s?)"
)
_PRICED = re.compile(r"expensive|cheap|teuer|billig|günstig|chère?s?\Z", re.IGNORECASE)
_PRICES = "price cost Preis prix coût"
_ORDINALS = ("second 2nd zweit deuxième seconde 2e", "third 3rd dritt troisième 3e", "fourth 4th viert quatrième 4e")
_ORDINAL = re.compile(
    r"\b(?P<ordinal>second|third|fourth|2nd|3rd|4th|deuxième|troisième|quatrième|zweit|dritt|viert)(?:e[nrs]?)?[ -]?"
    rf"(?={_UP}|{_DOWN}|(?:\w{{2,30}} ){{1,2}}(?:le|la|les) plus)",
    re.IGNORECASE,
)
_OPERATORS = {
    Wanted.DIFFERENCE: re.compile(r"\b(?:difference|differenz|unterschied|différence|écart)\b", re.IGNORECASE),
    Wanted.MOST: re.compile(rf"(?:\b|(?<=zweit)|(?<=dritt)|(?<=viert)){_UP}(?!\w)|\btop(?= \d)", re.IGNORECASE),
    Wanted.LEAST: re.compile(rf"(?:\b|(?<=zweit)|(?<=dritt)|(?<=viert)){_DOWN}(?!\w)", re.IGNORECASE),
    Wanted.MEAN: re.compile(
        r"\b(?:on average|average|mean|durchschnitt(?:lich\w{0,2}|swert|s)?|mittelwert|moyen(?:ne)?s?)\b"
        r"|\bim schnitt\b",
        re.IGNORECASE,
    ),
    Wanted.SUM: re.compile(
        r"\b(?:total (?:number|amount|sum|value)(?= of)|sum|(?:in )?total|totale|altogether|combined"
        r"|gesamtsumme|gesamtbetrag|gesamtwert"
        r"|gesamte[nrs]?|summe|insgesamt|zusammen|somme|(?:au )total|en tout)\b",
        re.IGNORECASE,
    ),
}
_TOGETHER = re.compile(
    r"\b(?:in total|altogether|combined|together|insgesamt|zusammen|au total|en tout)\b", re.IGNORECASE
)
_COMPARED = re.compile(
    r"\b(?:(?P<more>(?:more|greater|higher|larger) than|over|above|exceeding|mehr als|über|größer als|plus de"
    r"|supérieure?s? à)|(?P<less>(?:less|fewer|lower|smaller) than|under|below|weniger als|unter|kleiner als"
    r"|moins de|inférieure?s? à)|(?P<least>at least|mindestens|au moins)|(?P<most>at most|höchstens|au plus))"
    r"\s(?:EUR |USD |GBP |CHF |[$€£]\s?)?(?P<number>\d[\d.,']{0,20}\d|\d)(?:\s?(?:EUR|USD|GBP|CHF|[$€£%])(?!\w))?",
    re.IGNORECASE,
)
_GROUP = re.compile(
    r"\b(?:per|for each|for every|in each|of each|by|je|pro|nach|par)\s(?P<group>[^\W\d_]{2,40})", re.IGNORECASE
)
_COUNT = re.compile(
    rf"\W{{0,3}}(?:and |what is the |quel est le )?{HOW_MANY.pattern}|\W{{0,3}}wie ?viele? ", re.IGNORECASE
)
_CELL = re.compile(
    r"\W{0,3}(?:what (?:is|was|are)|what['’]s|wie (?:hoch|groß|schwer|lang|alt) ist|was ist|wie (?:lautet|ist)"
    r"|quel(?:le)? est) "
    r"(?:the|der|die|das|le|la|l['’])[ ]?(?P<column>(?:[^\W\d_][\w-]{0,40}[ ]){0,3}?[^\W\d_][\w-]{0,40})"
    r" (?:of|at|for|in|von|der|des|bei|vom|de|du|des) (?=\S)",
    re.IGNORECASE,
)
_QUARTER = re.compile(
    r"\bQ(?P<number>[1-4])\b|\b(?P<word>first|second|third|fourth|1st|2nd|3rd|4th|erste\w|zweite\w|dritte\w|vierte\w"
    r"|premier|deuxième|troisième|quatrième) (?:quarter|quartal|trimestre)",
    re.IGNORECASE,
)
_YEAR = re.compile(r"(?:19|20)\d\d")
_QUARTERS = (
    "first 1st erst premier",
    "second 2nd zweit deuxième",
    "third 3rd dritt troisième",
    "fourth 4th viert quatrième",
)
_WHICH = re.compile(
    r"\W{0,3}(?:(?:in|for|of) )?(?:which|what|welche[nmrs]?|quel(?:le)?s?)\s"
    r"(?:are the |is the |sont les )?(?P<noun>[^\W\d_]{2,40})",
    re.IGNORECASE,
)
_EITHER = re.compile(
    r"\b(?:except|excluding|other than|außer|sauf|unpaid|unbezahlt\w{0,2}|median|trend|per cent of)\b", re.IGNORECASE
)
_WORD = re.compile(r"[^\W_](?:[\w'’-]{0,60}[^\W_])?")
_GENERIC = frozenset(
    word.stem
    for word in split_words(
        "table list sheet file data row rows record entry entries item line value values number figure rate level "
        "amount total each Tabelle Liste Zeile Zeilen Eintrag Einträge Wert Werte Zahl Höhe Betrag Gesamt tableau "
        "liste fichier ligne lignes valeur valeurs nombre taux total"
    )
)
"""Stems of words that a table need not have: they say that it is one, or that its cells are numbers."""
_SKIPPED = _words("""
    hoch groß hat haben besitzt welche welcher welches welchen beträgt liegt habe have has having there a ont sont elles
    pro je year years quarter month jahr quartal année trimestre mois
    across still different distinct verschiedene verschiedener différents différentes
""")
_ENDINGS = _words("e en er es em n s nen x ée ées és")


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


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """A word of the question: its stem, where it stands, and whether it may be missing in a table."""

    stem: str
    written: str
    start: int
    is_generic: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class RowsAsked:
    """What is `wanted` of the rows: of an order the `place`, from 1, and so many rows (`most`).

    `at` is where the word for it stands. `words` are the other words, `noun` is the word behind "which", `group` the
    words that may name groups, and `columns` the words that name the cell that is asked for. `stems` are all words, and
    `inner` is what each group is made of whose value is the highest ("which supplier has the highest total").
    `operator` is the first word that tells what is wanted. `is_priced`: these also tell that a price is ("cheapest").
    `is_together`: all rows are added up ("in total").
    """

    wanted: Wanted
    at: int
    words: tuple[Said, ...]
    place: int = 1
    most: int = 1
    noun: str = ""
    group: frozenset[str] = frozenset()
    columns: frozenset[str] = frozenset()
    comparison: Comparison | None = None
    time: Time | None = None
    inner: Wanted | None = None
    is_priced: bool = False
    is_together: bool = False
    text: str = ""
    stems: frozenset[str] = frozenset()
    operator: frozenset[str] = frozenset()


def are_same(one: str, other: str) -> bool:
    """Returns whether two stems are of forms of one word, also in German and French: `offen` and `offenen`."""
    if one == other or not find_forms(one).isdisjoint(find_forms(other)):
        return True
    short, long = sorted((one, other), key=len)
    return len(short) >= _FEWEST_ALIKE and long.startswith(short) and long[len(short) :] in _ENDINGS


def is_part(word: str, name: str) -> bool:
    """Returns whether a name is a German compound that ends with the word: `Rechnungsbetrag`."""
    return len(word) >= _FEWEST_OF_COMPOUND and len(name) > len(word) and name.endswith(word)


def read_rows_asked(question: str) -> RowsAsked | None:
    """Returns what a question asks of all rows of a table, or of a cell; None for any other question.

    A question that denies something, or leaves something out, is not read.
    """
    text = question.strip()
    if len(text) > _LONGEST or NEGATION.search(text) or _EITHER.search(text):
        return None
    rest = text
    compared = _COMPARED.search(rest)
    rest = _blank(rest, compared)
    quarter = _QUARTER.search(rest)
    rest = _blank(rest, quarter)
    ordinal = _ORDINAL.search(rest)
    rest = _blank(rest, ordinal)
    found = _find_operator(rest)
    if found is None:
        return None
    wanted, operator = found
    most = 1
    if wanted in {Wanted.MOST, Wanted.LEAST}:
        counted = re.search(
            rf"\b({_NUMBER})\s(?:\w{{2,30}} )?(?:(?:le|la|les) )?\Z", rest[: operator.start()], re.IGNORECASE
        ) or re.match(rf"\s({_NUMBER})\b", rest[operator.end() :], re.IGNORECASE)
        counted = counted or re.search(rf"\bles ({_NUMBER})\b", rest[: operator.start()], re.IGNORECASE)
        if counted:
            most = _read_count(counted[1])
            start = counted.start(1) + (operator.end() if counted.string == rest[operator.end() :] else 0)
            rest = rest[:start] + " " * len(counted[1]) + rest[start + len(counted[1]) :]
    noun = _WHICH.match(rest)
    column = _CELL.match(text) if wanted is Wanted.CELL else None
    rest = _blank(rest, operator) if wanted is not Wanted.CELL else rest
    is_together = _TOGETHER.search(rest) is not None
    rest = _blank(rest, _TOGETHER.search(rest))
    time, rest = _read_time(rest, quarter)
    return RowsAsked(
        wanted=wanted,
        at=operator.start(),
        words=tuple(_read_words(rest)),
        place=_read_ordinal(ordinal),
        most=most,
        noun=_stem(noun["noun"]) if noun else "",
        group=frozenset(_stem(found["group"]) for found in _GROUP.finditer(rest)) - {""},
        columns=frozenset(word.stem for word in split_words(column["column"])) if column else frozenset(),
        comparison=_read_comparison(compared),
        time=time,
        inner=_find_inner(wanted, rest),
        is_priced=_PRICED.search(operator.group()) is not None,
        is_together=is_together,
        text=text.casefold(),
        stems=frozenset(word.stem for word in split_words(text)),
        operator=frozenset(word.stem for word in split_words(operator.group())[:1]),
    )


def _blank(text: str, found: re.Match[str] | None) -> str:
    if found is None:
        return text
    return text[: found.start()] + " " * len(found.group()) + text[found.end() :]


def _find_operator(text: str) -> tuple[Wanted, re.Match[str]] | None:
    for wanted in (Wanted.DIFFERENCE, Wanted.MOST, Wanted.LEAST, Wanted.MEAN):
        if found := _OPERATORS[wanted].search(text):
            return wanted, found
    summed = _OPERATORS[Wanted.SUM].search(text)
    if counted := _COUNT.match(text):
        return Wanted.COUNT, counted
    if summed:
        return Wanted.SUM, summed
    return (Wanted.CELL, cell) if (cell := _CELL.match(text)) else None


def _find_inner(wanted: Wanted, rest: str) -> Wanted | None:
    if wanted not in {Wanted.MOST, Wanted.LEAST}:
        return None
    return next((inner for inner in (Wanted.MEAN, Wanted.SUM) if _OPERATORS[inner].search(rest)), None)


def _read_count(written: str) -> int:
    word = written.casefold()
    return _FOREIGN.get(word) or int(find_number(word) or 1) or 1


def _read_ordinal(found: re.Match[str] | None) -> int:
    return 1 if found is None else _place(found["ordinal"], _ORDINALS) + 2


def _place(word: str, lines: Sequence[str]) -> int:
    folded = word.casefold()
    return next(at for at, line in enumerate(lines) if any(folded.startswith(name) for name in line.split()))


def _read_comparison(found: re.Match[str] | None) -> Comparison | None:
    if found is None:
        return None
    value = read_number(found["number"])
    return Comparison(
        words=found.group()[: found.start("number") - found.start()].strip(),
        number=found["number"],
        least=value if found["more"] or found["least"] else None,
        most=value if found["less"] or found["most"] else None,
        is_strict=bool(found["more"] or found["less"]),
    )


def _read_time(text: str, quarter: re.Match[str] | None) -> tuple[Time | None, str]:
    """Returns the time that rows must be of, and the text without its month."""
    number = 0
    if quarter is not None:
        number = int(quarter["number"] or 0) or _place(quarter["word"], _QUARTERS) + 1
    for word in _WORD.finditer(text):
        period = find_period(f"{word[0]} 2000") if word[0][:1].isupper() and len(word[0]) > 2 else None
        if period is not None and word.start():
            year = _YEAR.search(text)
            return Time(written=word[0], quarter=number, month=period.month, year=int(year[0]) if year else 0), _blank(
                text, word
            )
    if quarter is None:
        return None, text
    year = _YEAR.search(text)
    return Time(written=quarter.group(), quarter=number, year=int(year[0]) if year else 0), text


def _read_words(text: str) -> list[Said]:
    said: list[Said] = []
    for word in split_words(text):
        written = text[word.start : word.end]
        if written.casefold() in SMALL_WORDS | _SKIPPED and not written.isupper():
            continue
        said.append(Said(stem=word.stem, written=written, start=word.start, is_generic=word.stem in _GENERIC))
    return said


def _stem(word: str) -> str:
    return next((found.stem for found in split_words(word)), "")
