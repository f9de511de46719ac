"""Which words of a question tell what is made of the rows of a table: the highest, a total, a share, a count.

English, German and French.
"""

import re
from dataclasses import dataclass
from enum import StrEnum

from reasoning.strategies.extractive.over_rows.question.column_words import Superlative, blank, find_superlative
from reasoning.strategies.survey.kinds import HOW_MANY
from reasoning.strategies.survey.word_forms import find_number


class Wanted(StrEnum):
    """What is made of the rows. `CELL` is a cell of one row, which is only looked at to know whether a column is
    missing.
    """

    MOST = "highest"
    LEAST = "lowest"
    SUM = "total"
    MEAN = "average"
    MEDIAN = "median"
    COUNT = "count"
    SHARE = "share"
    DIFFERENCE = "difference"
    RANGE = "range"
    CELL = "cell"


ORDERED = frozenset({Wanted.MOST, Wanted.LEAST})
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
_OFTEN_MOST = r"most (?:common|frequent|often)|häufigste\w?|am häufigsten|plus fréquente?s?|le plus souvent"
_OFTEN_LEAST = r"least (?:common|often)|rarest|seltenste\w?|am seltensten|moins fréquente?s?|le moins souvent"
_UP = (
    r"(?:highest|largest|biggest|greatest|maximum|(?<!at )most(?! (?:recent|common|likely|important|of|expensive"
    r"|populous|powerful|distant|frequent|often)\b)"
    r"|höchst\w{0,2}|größt\w{0,2}|grösst\w{0,2}|maximale?\w?|meisten"
    r"|plus (?:élevé|haut|grand|important)e?s?|le plus(?: de)?(?=\W*\Z| de)"
    rf"|{_OFTEN_MOST})"
)
_DOWN = (
    r"(?:lowest|smallest|(?<!at )least(?! (?:common|expensive|populous|powerful|often)\b)|fewest|minimum"
    r"|niedrigst\w{0,2}|kleinst\w{0,2}|geringst\w{0,2}|wenigsten"
    r"|minimale?\w?|plus (?:bas|basse|petite?|faible)s?|moins élevée?s?|le moins(?: de)?(?=\W*\Z| de)"
    rf"|{_OFTEN_LEAST})"
)
_ADJECTIVE = (
    r"(?:most expensive|cheapest|heaviest|lightest|longest|shortest|oldest|youngest|newest|loudest|fastest"
    r"|teuerste|billigste"
    r"|günstigste|schwerste|leichteste|älteste|jüngste|längste|kürzeste)"
)
_ORDINALS = ("second 2nd zweit deuxième seconde 2e", "third 3rd dritt troisième 3e", "fourth 4th viert quatrième 4e")
_ORDINAL = re.compile(
    r"\b(?P<ordinal>second|third|fourth|2nd|3rd|4th|deuxième|troisième|quatrième|zweit|dritt|viert)(?:e[nrs]?)?[ -]?"
    rf"(?={_UP}|{_DOWN}|{_ADJECTIVE}|(?:\w{{2,30}} ){{1,2}}(?:le|la|les) (?:plus|moins))",
    re.IGNORECASE,
)
_MOST = re.compile(rf"(?:\b|(?<=zweit)|(?<=dritt)|(?<=viert)){_UP}(?!\w)|\btop(?= \d)", re.IGNORECASE)
_LEAST = re.compile(rf"(?:\b|(?<=zweit)|(?<=dritt)|(?<=viert)){_DOWN}(?!\w)", re.IGNORECASE)
_MEAN = re.compile(
    r"\b(?:on average|average|mean|durchschnitt(?:lich\w{0,2}|swert|s)?|mittelwert|moyen(?:ne)?s?)\b"
    r"|\bim (?:schnitt|durchschnitt)\b|\ben moyenne\b",
    re.IGNORECASE,
)
_MEDIAN = re.compile(r"\b(?:median(?:wert|e)?|médian(?:e|es)?)\b", re.IGNORECASE)
_SUM = re.compile(
    r"\b(?:total (?:amount|sum|value)(?= of)|sum|(?:in )?total|totale|altogether|combined"
    r"|gesamtsumme|gesamtbetrag|gesamtwert"
    r"|gesamte[nrs]?|summe|insgesamt|zusammen|somme|(?:au )total|en tout)\b",
    re.IGNORECASE,
)
TOGETHER = re.compile(
    r"\b(?:in total|altogether|combined|together|insgesamt|zusammen|au total|en tout)\b", re.IGNORECASE
)
_DIFFERENCE = re.compile(r"\b(?:difference|differenz|unterschied|différence|écart|gap)\b", re.IGNORECASE)
_MORE_THAN = re.compile(
    r"\W{0,3}(?:(?:by )?how much (?:more|less|higher|lower|cheaper|heavier|longer|shorter|older)"
    r"|(?:um )?wie ?viel (?:mehr|weniger|höher|niedriger|teurer|billiger|schwerer|länger|älter)"
    r"|combien de plus)\b(?=.{3,200}\b(?:than|als|que)\b)",
    re.IGNORECASE,
)
_SHARE = re.compile(
    r"\b(?:share|percentage|percent|per cent|proportion|fraction|anteil|prozentsatz|prozent|pourcentage|part)"
    r" (?:of|an|am|der|des|de|du|d['’])",
    re.IGNORECASE,
)
_COUNT = re.compile(rf"\W{{0,3}}(?:(?:and|in|at|on) |what is the |quel est le )?{HOW_MANY.pattern}", re.IGNORECASE)
_IN_HOW_MANY = re.compile(r"\W{0,3}(?:in|an|bei|dans) (?:how many|wie ?vielen|combien de)\b", re.IGNORECASE)
_HOW_MUCH = re.compile(r"\W{0,3}(?:how much|wie ?viel|combien)(?= (?!de\b|wieg|weigh|expens|cost|kost))", re.IGNORECASE)
_NUMBER_OF = re.compile(
    r"\b(?P<named>(?:serial|asset|order|phone|telephone|fax|mobile|part|model|customer|client|account|invoice|item|tax|VAT"
    r"|registration|licen[cs]e|reference|article|catalogue|catalog|contract|case|ticket|employee|room|house|flight|lot"
    r"|tracking|inventory|batch|version|policy|membership|passport|identification|ID|PO|supplier|vendor|patient) )?"
    r"(?:total )?(?:number|count) of\b|\b(?:gesamt|an)zahl (?:der|an|von)\b|\bnombre (?:total )?(?:de|des|d['’])",
    re.IGNORECASE,
)
"""Asks for a count, unless it is the name of a number: "the serial number of the pump"."""
_MANY = re.compile(
    rf"most|least|fewest|meisten|wenigsten|le plus(?: de)?|le moins(?: de)?|{_OFTEN_MOST}|{_OFTEN_LEAST}", re.IGNORECASE
)
_OFTEN = re.compile(rf"{_OFTEN_MOST}|{_OFTEN_LEAST}", re.IGNORECASE)
_AND = re.compile(r"\b(?:and|und|et|or|oder|ou)\b|[,;]", re.IGNORECASE)
CELL = re.compile(
    r"\W{0,3}(?:what (?:is|was|are)|what['’]s|wie (?:hoch|groß|schwer|lang|alt) ist|was ist|wie (?:lautet|ist)"
    r"|quel(?:le)? est) "
    r"(?:the|der|die|das|le|la|l['’])[ ]?(?P<column>(?:[^\W\d_][\w-]{0,40}[ ]){0,3}?[^\W\d_][\w-]{0,40})"
    r" (?:of|at|for|in|von|der|des|bei|vom|de|du|des) (?=\S)",
    re.IGNORECASE,
)
_PATTERNS = {
    Wanted.DIFFERENCE: _DIFFERENCE,
    Wanted.MOST: _MOST,
    Wanted.LEAST: _LEAST,
    Wanted.MEDIAN: _MEDIAN,
    Wanted.MEAN: _MEAN,
    Wanted.SUM: _SUM,
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Operator:
    """What is wanted, the place of the word for it, and the text without it.

    `superlative`: an adjective that names what it orders as well. `inner` is what each group is made of whose value is
    the highest. `is_counted`: the most of what is counted, which may be how often a value stands there (`is_often`).
    """

    wanted: Wanted
    start: int
    end: int
    written: str
    rest: str
    superlative: Superlative | None = None
    inner: Wanted | None = None
    is_counted: bool = False
    is_often: bool = False
    is_how_much: bool = False


def find_operator(text: str, *, is_ordered: bool = True) -> Operator | None:
    """Returns what a question wants; None if it tells nothing, or wants a second thing ("the total price and the
    average stock"). "The highest total" is one thing. Not `is_ordered`: "first" and "last" are parts of names.
    """
    if compared := _MORE_THAN.match(text):
        return _make(Wanted.DIFFERENCE, compared, text)
    if found := _find_extremes(text):
        return found
    if (share := _SHARE.search(text)) and not _find_number_of(text):
        rest = blank(blank(text, share), _SUM.search(blank(text, share)))
        return None if _find_any(rest) else _make(Wanted.SHARE, share, text, rest=rest)
    if difference := _DIFFERENCE.search(text):
        return None if _find_any(blank(text, difference)) else _make(Wanted.DIFFERENCE, difference, text)
    return _find_order(text, is_ordered=is_ordered) or _find_value(text)


def _find_extremes(text: str) -> Operator | None:
    """Returns the difference between the highest and the lowest."""
    difference, most, least = _DIFFERENCE.search(text), _MOST.search(text), _LEAST.search(text)
    if not (difference and most and least):
        return None
    rest = blank(blank(blank(text, difference), most), least)
    if _find_any(rest):
        return None
    later = max(most, least, key=lambda found: found.end())
    return Operator(wanted=Wanted.RANGE, start=later.start(), end=later.end(), written=difference.group(), rest=rest)


def _find_order(text: str, *, is_ordered: bool) -> Operator | None:
    """Returns the highest or lowest that a question wants, also of totals and averages of groups."""
    found = next(
        ((wanted, word) for wanted in (Wanted.MOST, Wanted.LEAST) if (word := _PATTERNS[wanted].search(text))), None
    )
    superlative = find_superlative(text)
    if superlative and (found or not is_ordered or _is_part_of_name(superlative, text)):
        superlative = None if superlative.is_weak else superlative
    if found and superlative:
        return None
    if superlative:
        start, end = superlative.span
        wanted = Wanted.MOST if superlative.is_most else Wanted.LEAST
        rest = _blank(text, superlative.span)
    elif found:
        (wanted, word), (start, end) = found, found[1].span()
        rest = blank(text, word)
    else:
        return None
    written = text[start:end]
    inner = next((kind for kind in (Wanted.MEAN, Wanted.SUM) if _PATTERNS[kind].search(rest)), None)
    rest = blank(rest, _PATTERNS[inner].search(rest)) if inner and not _is_joined(rest, start) else rest
    if _find_any(rest) or _COUNT.match(text) or _find_number_of(rest):
        return None
    return Operator(
        wanted=wanted,
        start=start,
        end=end,
        written=written,
        rest=rest,
        superlative=superlative,
        inner=inner,
        is_counted=_MANY.fullmatch(written) is not None,
        is_often=_OFTEN.fullmatch(written) is not None,
    )


def _is_part_of_name(superlative: Superlative, text: str) -> bool:
    """Returns whether a word such as "first" counts or names something, and orders nothing."""
    return superlative.is_weak and not _ORDERING.match(text)


_ORDERING = re.compile(
    r"\W{0,3}(?:which|what|who|when|welche\w?|wer|wann|was|quel(?:le)?s?|qui|quand)\b", re.IGNORECASE
)


def _find_value(text: str) -> Operator | None:
    """Returns the average, the count or the total that a question wants, or the cell of one row."""
    for wanted in (Wanted.MEDIAN, Wanted.MEAN):
        if found := _PATTERNS[wanted].search(text):
            rest = blank(text, found)
            together = TOGETHER.search(rest)
            is_other = _find_any(blank(rest, together)) or _COUNT.match(text) is not None
            return None if is_other or _find_number_of(rest) else _make(wanted, found, text)
    if counted := _COUNT.match(text) or _IN_HOW_MANY.match(text) or _find_number_of(text):
        rest = blank(text, counted)
        summed = _SUM.search(rest)
        is_other = (
            summed is not None
            and _AND.search(rest[: summed.start()]) is not None
            and TOGETHER.fullmatch(summed.group()) is None
        )
        return None if is_other else _make(Wanted.COUNT, counted, text)
    if summed := _SUM.search(text):
        again = _SUM.search(blank(text, summed))
        return None if again and _AND.search(text[summed.end() :]) else _make(Wanted.SUM, summed, text)
    if much := _HOW_MUCH.match(text):
        return _make(Wanted.SUM, much, text, is_how_much=True)
    return _make(Wanted.CELL, cell, text, rest=text) if (cell := CELL.match(text)) else None


def _make(
    wanted: Wanted, found: re.Match[str], text: str, *, rest: str | None = None, is_how_much: bool = False
) -> Operator:
    return Operator(
        wanted=wanted,
        start=found.start(),
        end=found.end(),
        written=found.group(),
        rest=blank(text, found) if rest is None else rest,
        is_how_much=is_how_much,
    )


def _find_number_of(text: str) -> re.Match[str] | None:
    return next((found for found in _NUMBER_OF.finditer(text) if not found["named"]), None)


def _find_any(text: str) -> bool:
    """Returns whether some word tells what is made of the rows."""
    return any(pattern.search(text) for pattern in _PATTERNS.values())


def _is_joined(text: str, at: int) -> bool:
    """Returns whether two things are wanted, with a word such as "and" between them or behind them."""
    return _AND.search(text[:at]) is not None or _AND.search(text[at:]) is not None


def _blank(text: str, span: tuple[int, int]) -> str:
    start, end = span
    return text[:start] + " " * (end - start) + text[end:]


def read_ordinal(text: str) -> tuple[int, str]:
    """Returns the place in an order, from 1, and the text without the word for it."""
    found = _ORDINAL.search(text)
    return (1, text) if found is None else (_place(found["ordinal"]) + 2, blank(text, found))


def read_most(rest: str, operator: Operator) -> tuple[int, str]:
    """Returns how many rows of an order are wanted ("the three largest"), and the text without the number."""
    before, behind = rest[: operator.start], rest[operator.end :]
    counted = _BEFORE.search(before) or _BETWEEN.search(before)
    if counted:
        return _read_count(counted[1]), _blank(rest, counted.span(1))
    if counted := _BEHIND.match(behind):
        start, end = counted.span(1)
        return _read_count(counted[1]), _blank(rest, (operator.end + start, operator.end + end))
    return 1, rest


_BEFORE = re.compile(
    rf"\b({_NUMBER})\s(?:(?:\w{{2,30}} )?(?:(?:le|la|les) )?|\w{{2,30}} (?:have|has|had|with|haben|mit|ont) "
    r"(?:the |die |den |das |la |le |les )?)\Z",
    re.IGNORECASE,
)
_BETWEEN = re.compile(rf"\bles ({_NUMBER})\b", re.IGNORECASE)
_BEHIND = re.compile(rf"\s({_NUMBER})\b", re.IGNORECASE)


def _read_count(written: str) -> int:
    word = written.casefold()
    return _FOREIGN.get(word) or int(find_number(word) or 1) or 1


def _place(word: str) -> int:
    folded = word.casefold()
    return next(at for at, line in enumerate(_ORDINALS) if any(folded.startswith(name) for name in line.split()))
