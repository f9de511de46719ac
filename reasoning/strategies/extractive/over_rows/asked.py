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
from reasoning.strategies.extractive.over_rows.times import Time, has_range, is_word_of_time, read_time
from reasoning.strategies.survey.kinds import HOW_MANY
from reasoning.strategies.survey.plan import NEGATION, Comparison, read_number
from reasoning.strategies.survey.word_forms import find_forms, find_number

__all__ = ["RowsAsked", "Said", "Wanted", "are_same", "is_part", "read_rows_asked"]

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
        r"\b(?:total (?:amount|sum|value)(?= of)|sum|(?:in )?total|totale|altogether|combined"
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
_NUMBER_OF = re.compile(
    r"\b(?:total )?(?:number|count) of\b|\b(?:gesamt|an)zahl (?:der|an|von)\b|\bnombre (?:total )?(?:de|des|d['’])",
    re.IGNORECASE,
)
_MANY = re.compile(r"most|least|fewest|meisten|wenigsten|le plus de|le moins de", re.IGNORECASE)
_ORDERED = frozenset({Wanted.MOST, Wanted.LEAST})
_AND = re.compile(r"\b(?:and|und|et|or|oder|ou)\b|[,;]", re.IGNORECASE)
_CELL = re.compile(
    r"\W{0,3}(?:what (?:is|was|are)|what['’]s|wie (?:hoch|groß|schwer|lang|alt) ist|was ist|wie (?:lautet|ist)"
    r"|quel(?:le)? est) "
    r"(?:the|der|die|das|le|la|l['’])[ ]?(?P<column>(?:[^\W\d_][\w-]{0,40}[ ]){0,3}?[^\W\d_][\w-]{0,40})"
    r" (?:of|at|for|in|von|der|des|bei|vom|de|du|des) (?=\S)",
    re.IGNORECASE,
)
_WHICH = re.compile(
    r"\W{0,3}(?:(?:in|for|of) )?(?:which|what|welche[nmrs]?|quel(?:le)?s?)\s"
    r"(?:are the |is the |sont les )?(?P<noun>[^\W\d_]{2,40})",
    re.IGNORECASE,
)
_LISTED = re.compile(r"\W{0,3}(?:which|welche[nmrs]?|quel(?:le)?s?)\b", re.IGNORECASE)
"""How a question begins that lists the rows of a comparison: "which articles have a stock below 50"."""
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
    `is_together`: all rows are added up ("in total"). `is_listed`: the rows that are counted are named. `each` are the
    words behind "per", as they are written, or words of time behind "by". `compared` is the place of the comparison,
    and `after` the place behind the word for what is wanted, which may have the word for an amount itself
    (`names_amount`), or be "most", of what is counted (`is_counted`).
    """

    wanted: Wanted
    at: int
    words: tuple[Said, ...]
    place: int = 1
    most: int = 1
    noun: str = ""
    group: frozenset[str] = frozenset()
    each: tuple[str, ...] = ()
    columns: frozenset[str] = frozenset()
    comparison: Comparison | None = None
    compared: tuple[int, int] = (0, 0)
    time: Time | None = None
    inner: Wanted | None = None
    is_priced: bool = False
    is_together: bool = False
    is_listed: bool = False
    is_counted: bool = False
    after: int = 0
    names_amount: bool = False
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
    if _COMPARED.search(rest) or has_range(rest):
        return None
    time, rest = read_time(rest)
    ordinal = _ORDINAL.search(rest)
    rest = _blank(rest, ordinal)
    found = _find_operator(rest)
    listed = _LISTED.match(rest) if found is None and compared else None
    found = found or ((Wanted.COUNT, listed) if listed else None)
    if found is None:
        return None
    wanted, operator = found
    if _has_other_operator(wanted, operator, rest):
        return None
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
    return RowsAsked(
        wanted=wanted,
        at=operator.start(),
        words=tuple(_read_words(rest)),
        place=_read_ordinal(ordinal),
        most=most,
        noun=_stem(noun["noun"]) if noun else "",
        group=frozenset(_stem(found["group"]) for found in _GROUP.finditer(rest)) - {""},
        each=tuple(found["group"] for found in _GROUP.finditer(rest) if _is_each(found)),
        columns=frozenset(word.stem for word in split_words(column["column"])) if column else frozenset(),
        comparison=_read_comparison(compared),
        compared=compared.span() if compared else (0, 0),
        time=time,
        inner=_find_inner(wanted, rest),
        is_priced=_PRICED.search(operator.group()) is not None,
        is_together=is_together or (wanted is Wanted.COUNT and "total" in operator.group().casefold()),
        is_listed=listed is not None,
        is_counted=wanted in _ORDERED and _MANY.fullmatch(operator.group()) is not None,
        after=operator.end(),
        names_amount=re.search(r"amount|value|betrag|wert", operator.group(), re.IGNORECASE) is not None,
        text=text.casefold(),
        stems=frozenset(word.stem for word in split_words(text)),
        operator=frozenset(word.stem for word in split_words(operator.group())[:1]),
    )


def _has_other_operator(wanted: Wanted, operator: re.Match[str], text: str) -> bool:
    """Returns whether a question wants a second thing ("the total price and the average stock").

    "The highest total" is one thing.
    """
    before, behind = text[: operator.start()], text[operator.end() :]
    if wanted is not Wanted.COUNT and (_COUNT.match(text) or _NUMBER_OF.search(f"{before} ; {behind}")):
        return True
    joined = _AND.search(behind) or _AND.search(before)
    for other, pattern in _OPERATORS.items():
        found = pattern.search(behind) or pattern.search(before)
        if found is None or (wanted is Wanted.COUNT and other is Wanted.SUM) or wanted is Wanted.CELL:
            continue
        is_inner = wanted in _ORDERED and other in {Wanted.SUM, Wanted.MEAN}
        is_together = other is Wanted.SUM and _TOGETHER.fullmatch(found.group()) is not None
        if joined or not (is_inner or is_together or (wanted is other is Wanted.SUM)):
            return True
    return False


def _is_each(found: re.Match[str]) -> bool:
    is_by = found.group().casefold().split()[0] in {"by", "nach", "par"}
    return not is_by or is_word_of_time(found["group"])


def _blank(text: str, found: re.Match[str] | None) -> str:
    if found is None:
        return text
    return text[: found.start()] + " " * len(found.group()) + text[found.end() :]


def _find_operator(text: str) -> tuple[Wanted, re.Match[str]] | None:
    for wanted in (Wanted.DIFFERENCE, Wanted.MOST, Wanted.LEAST, Wanted.MEAN):
        if found := _OPERATORS[wanted].search(text):
            return wanted, found
    summed = _OPERATORS[Wanted.SUM].search(text)
    if counted := _COUNT.match(text) or _NUMBER_OF.search(text):
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
