"""What a question asks of all rows of a table: the second highest price, a total per supplier, how many are open.

English, German and French. What is made of the rows is told by one word or two; all other words must be found in a
table before it is read for an answer (`fitting`).
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from core.passage_context.named_parts import Part, find_parts
from core.text.terms import split_words
from core.text.word_lists import SMALL_WORDS
from reasoning.strategies.extractive.over_rows.question.column_words import (
    Beside,
    Superlative,
    blank,
    find_beside,
    find_comparison,
    find_names,
    has_comparison,
    is_between,
)
from reasoning.strategies.extractive.over_rows.question.operators import (
    CELL,
    ORDERED,
    TOGETHER,
    Operator,
    Wanted,
    find_operator,
    read_most,
    read_ordinal,
)
from reasoning.strategies.extractive.over_rows.question.relations import find_measured, say_as_columns
from reasoning.strategies.extractive.over_rows.question.times import (
    Time,
    has_range,
    is_word_of_time,
    leave_out_from,
    read_time,
)
from reasoning.strategies.survey.plan import NEGATION, Comparison
from reasoning.strategies.survey.word_forms import find_forms

_LONGEST = 400
"""Characters of a question that is read; a longer one tells a story."""
_FEWEST_ALIKE = 4
"""Letters that two forms of a word have in common."""
_FEWEST_OF_COMPOUND = 5


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_GROUP = re.compile(
    r"\b(?:per|(?:for|in|of|do|does|did|has|have|had) (?:each|every)|by|je|pro|nach|par"
    r"|(?:hat|hatte|haben|in|für|bei) jede[mnrs]?|(?:dans |pour |de |a )?chaque)\s(?P<group>[^\W\d_]{2,40})"
    r"(?:\s(?P<next>[^\W\d_]{2,40}))?",
    re.IGNORECASE,
)
_WHICH = re.compile(
    r"\W{0,3}(?:(?:in|for|of|on|an|bei|dans|pour|à) )?(?:which|what|welche[nmrs]?|quel(?:le)?s?)\s"
    r"(?:are the |is the |sont les |est le |est la )?(?P<noun>[^\W\d_]{2,40})",
    re.IGNORECASE,
)
_LISTED = re.compile(
    r"\W{0,3}(?:(?:in|on|an) )?(?:which|welche[nmrs]?|quel(?:le)?s?|who|wer|qui|list|show|name|nenne|zeige)\b",
    re.IGNORECASE,
)
"""How a question begins that lists the rows of a condition: "which articles have a stock below 50"."""
_WHO_HIRED = re.compile(r"\W{0,3}who (?:has |had )?(?:hire[ds]?|employ(?:s|ed)?|recruit(?:s|ed)?)\b", re.IGNORECASE)
"""Who hired somebody is not who was hired."""
_WHO = re.compile(r"\W{0,3}(?:who|wer|qui)\b", re.IGNORECASE)
_EXCEPT = re.compile(
    r"\b(?:except(?: for)?|excluding|other than|apart from|without|außer|ohne|sauf|hormis|do(?:es)? not|did not"
    r"|(?:do|does|did|are|is|was|were)n['’]t|not|nicht|kein(?:e[nmrs]?)?|pas)\b",
    re.IGNORECASE,
)
_NEVER = re.compile(
    r"\b(?:never|neither|nor|none|nobody|nothing|cannot|hardly|no|nie|niemals|weder|jamais|aucune?|unpaid"
    r"|unbezahlt\w{0,2}|trend)\b"
    r"|\b(?:is|are|was|were) (?:still )?(?:to do|on|off|in|out|up|down|over)\W{0,3}\Z",
    re.IGNORECASE,
)
_NE = re.compile(r"\b(?:ne|n['’])\b", re.IGNORECASE)
_LIGHT = _words("""
    do does did done make makes made find finds found give gives gave given get got come comes came go goes went gone
    see seen exist exists list listed listing contain contains appear appears show shown shows happen happened take
    takes taken took have had having hold held work works worked live lives belong belongs there still currently now
    cause causes caused cover covers covered ever all every own owns owned measured recorded observed noted listed
    counted offered
    gehen geht ging gingen gegangen stehen steht stand machen macht gemacht finden findet fand gefunden arbeiten
    arbeitet gearbeitet gehören gehört enthalten enthält liegen liegt lag gibt geben kommen kommt kamen derzeit aktuell
    noch alle aller allen entfallen entfällt gemessen erfasst aufgeführt verzeichnet angeboten
    avons avez faire fait trouver trouve donner travaille travaillent figure figurent toutes tous tout encore y
""")
"""Words that say nothing of a row beside the other words of the question."""
_ROW_WORDS = "row rows record records entry entries item items line lines Zeile Zeilen Eintrag Einträge ligne lignes"
_ROWS = frozenset(word.stem for word in split_words(_ROW_WORDS))
_GENERIC = _ROWS | frozenset(
    word.stem
    for word in split_words(
        "table list sheet file data value values number figure rate level "
        "amount total each Tabelle Liste Wert Werte Zahl Höhe Betrag Gesamt tableau "
        "liste fichier valeur valeurs nombre taux total"
    )
)
"""Stems of words that a table need not have: they say that it is one, or that its cells are numbers."""
_STATE = re.compile(r"\b(?:on|in|at|under|off)[ -]\Z", re.IGNORECASE)
"""What stands before a noun that says in which state a row is: "on hold"."""
_NO_NOUNS = _words(
    "all ever every own there now still currently alle aller allen noch derzeit aktuell tous toutes tout"
)
_OF_NAMES = ("nummer", "numm", "bezeichnung")
"""How stems of names of columns end that have the number or the name of something."""
_SKIPPED = _words("""
    hoch groß hat haben besitzt welche welcher welches welchen welchem beträgt liegt habe have has having there a
    ont sont elles     pro je year years quarter month jahr quartal année trimestre mois
    across among still different distinct verschiedene verschiedener
    different différents différentes than more als mehr que
""")
_LONGEST_PREPOSITION = 8
_ENDINGS = _words("e en er es em n s nen x ée ées és")
_PERIODS = {
    "year": "year", "jahr": "year", "année": "year", "an": "year",
    "quarter": "quarter", "quartal": "quarter", "trimestre": "quarter",
    "month": "month", "monat": "month", "mois": "month",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class Said:
    """A word of the question: its stem, where it stands, and whether a table may lack it: it says that there are rows
    (`is_row`) or numbers (`is_generic`), or nothing (`is_light`).
    """

    stem: str
    written: str
    start: int
    is_generic: bool = False
    is_light: bool = False
    is_row: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class RowsAsked:
    """What is `wanted` of the rows: of an order the `place`, from 1, and so many rows (`most`).

    `at` is where the word for it stands, and `after` the place behind it. `words` are the other words, `noun` the word
    behind "which" (`is_who`: "who"), `group` the words that may name groups
    (`group_next` the words behind them), and `columns` the words that name the cell
    that is asked for. `stems` are all words, and `inner` is what each group is made of whose value is the highest
    ("which supplier has the highest total"). `operator` is the first word that tells what is wanted, `superlative` an
    adjective that tells the column as well ("cheapest"). `is_together`: all rows are added up ("in total").
    `is_listed`: the rows that are counted are named. `is_told`: the cells of one row are wanted whose columns have
    `of_names`. `each` are the words behind "per", as they are written, or words
    of time behind "by", and `period` a unit of time among them. `compared` is the place of the comparison, `of_names`
    the names of columns that it tells ("older than"), and `factor` what its number counts ("10 million").
    `beside` is a comparison with another column ("below the minimum stock").
    `unordered` is the question if its superlative is a part of a name ("the First Aid course").
    `signs` are parts of one letter, "series C", which is no word.
    `excluded` is the place of a word such as "not" or "except", -1 without any. The word for what is wanted may be the
    word for an amount itself (`names_amount`), or be "most", of what is counted (`is_counted`).
    """

    wanted: Wanted
    at: int
    words: tuple[Said, ...]
    place: int = 1
    most: int = 1
    noun: str = ""
    is_who: bool = False
    group: frozenset[str] = frozenset()
    group_next: frozenset[str] = frozenset()
    each: tuple[str, ...] = ()
    period: str = ""
    columns: frozenset[str] = frozenset()
    comparison: Comparison | None = None
    compared: tuple[int, int] = (0, 0)
    of_names: frozenset[str] = frozenset()
    factor: int = 1
    beside: Beside | None = None
    excluded: int = -1
    time: Time | None = None
    inner: Wanted | None = None
    superlative: Superlative | None = None
    is_together: bool = False
    is_listed: bool = False
    is_told: bool = False
    is_counted: bool = False
    is_often: bool = False
    is_how_much: bool = False
    after: int = 0
    names_amount: bool = False
    text: str = ""
    stems: frozenset[str] = frozenset()
    operator: frozenset[str] = frozenset()
    signs: tuple[Part, ...] = ()
    unordered: "RowsAsked | None" = None

    @property
    def is_priced(self) -> bool:
        return self.superlative is not None


def are_same(one: str, other: str) -> bool:
    """Returns whether two stems are of forms of one word, also in German and French: `offen` and `offenen`."""
    if one == other or not find_forms(one).isdisjoint(find_forms(other)):
        return True
    short, long = sorted((one, other), key=len)
    return len(short) >= _FEWEST_ALIKE and long.startswith(short) and long[len(short) :] in _ENDINGS


def is_part(word: str, name: str) -> bool:
    """Returns whether a name is a German compound that ends with the word: `Rechnungsbetrag`."""
    return len(word) >= _FEWEST_OF_COMPOUND and len(name) > len(word) and name.endswith(word)


def is_front(word: str, name: str) -> bool:
    """Returns whether a name is a German compound of the word and a word for an amount or a name: `Nettobetrag`,
    `Kundennummer`.
    """
    if len(word) < _FEWEST_ALIKE:
        return False
    return (name.startswith(word) and name[len(word) :] in _GENERIC) or word in cut_ending(name)


def cut_ending(name: str) -> frozenset[str]:
    """Returns stems of what a name such as `Kundennummer` names: `kunden`, `kunde`, `kund`; none of other names."""
    front = next((name[: -len(ending)] for ending in _OF_NAMES if name.endswith(ending)), "")
    ends = ("", *(end for end in ("s", "n", "en", "e") if front.endswith(end)))
    return frozenset(front.removesuffix(end) for end in ends) - {""}


def is_compound(word: str, names: Collection[str]) -> bool:
    """Returns whether a word is a German compound of two words of a name: `Gasverbrauch` of `Gas: Verbrauch`."""
    for first in names:
        if len(first) > 2 and word.startswith(first):
            rest = word[len(first) :]
            if any(len(name) > 3 and rest in {name, f"s{name}", f"n{name}"} for name in names):
                return True
    return False


def read_rows_asked(question: str) -> RowsAsked | None:
    """Returns what a question asks of all rows of a table, or of a cell; None for any other question."""
    text = say_as_columns(question.strip())
    asked = _read(text, is_ordered=True)
    if asked is None or asked.superlative is None or not asked.superlative.is_weak:
        return asked
    return replace(asked, unordered=_read(text, is_ordered=False))


def read_cell_asked(question: str) -> RowsAsked | None:
    """Returns what a question asks of one thing without the name of a column: "How heavy is the P-3?"."""
    text = question.strip()
    measured = find_measured(text)
    if measured is None or _EXCEPT.search(text) or _NEVER.search(text):
        return None
    kind, (start, end) = measured
    thing = " " * start + text[start:end]
    return RowsAsked(
        wanted=Wanted.CELL,
        at=0,
        words=tuple(_read_words(thing)),
        of_names=find_names(kind),
        is_told=True,
        text=thing.casefold(),
        stems=frozenset(word.stem for word in split_words(thing)),
    )


def _read(text: str, *, is_ordered: bool) -> RowsAsked | None:
    """`is_ordered`: a word such as "first" may order the rows."""
    if len(text) > _LONGEST or _NEVER.search(text) or _BESIDE_COLUMN.search(text) or _has_dropped_code(text):
        return None
    if _WHO_HIRED.match(text):
        return None
    time, rest = read_time(leave_out_from(text))
    if has_range(rest) and (time is not None or not is_between(rest)):
        return None
    comparison = find_comparison(rest)
    rest = comparison.rest
    if has_comparison(rest) or has_range(rest):
        return None
    beside = find_beside(rest) if comparison.comparison is None else None
    excluded = list(_EXCEPT.finditer(rest))
    if len(excluded) > 1 or (not excluded and NEGATION.search(rest)):
        return None
    rest = blank(rest, excluded[0] if excluded else None)
    rest = blank(rest, _NE.search(rest) if excluded else None)
    place, rest = read_ordinal(rest)
    start, end = beside.bound if beside else (0, 0)  # "below the minimum" asks for no least value
    bound = rest[start:end]
    operator = find_operator(rest[:start] + " " * len(bound) + rest[end:], is_ordered=is_ordered)
    is_listed = (operator is None or operator.wanted is Wanted.CELL) and _LISTED.match(text) is not None
    if is_listed:
        found = _LISTED.match(rest)
        if found is None or _COUNTING.search(rest):
            return None
        operator = Operator(
            wanted=Wanted.COUNT, start=found.start(), end=found.end(), written=found.group(), rest=blank(rest, found)
        )
    if operator is None:
        return None
    most, rest = read_most(operator.rest, operator) if operator.wanted in ORDERED else (1, operator.rest)
    noun = _WHICH.match(rest) or _WHICH.match(text)
    column = CELL.match(text) if operator.wanted is Wanted.CELL else None
    together = TOGETHER.search(rest)
    rest = blank(rest, together)
    rest = rest[:start] + bound + rest[end:]
    each = tuple(found["group"] for found in _GROUP.finditer(rest) if _is_each(found))
    return RowsAsked(
        wanted=operator.wanted,
        at=operator.start,
        words=tuple(_read_words(rest)),
        place=place,
        most=most,
        noun=_stem(noun["noun"]) if noun else "",
        is_who=_WHO.match(text) is not None,
        group=frozenset(_stem(found["group"]) for found in _GROUP.finditer(rest)) - {""},
        group_next=frozenset(_stem(found["next"]) for found in _GROUP.finditer(rest) if found["next"]) - {""},
        each=each,
        period=next((_PERIODS[word.casefold()] for word in each if word.casefold() in _PERIODS), ""),
        columns=frozenset(word.stem for word in split_words(column["column"])) if column else frozenset(),
        comparison=comparison.comparison,
        compared=comparison.span,
        beside=beside,
        of_names=comparison.names,
        factor=comparison.factor,
        excluded=excluded[0].start() if excluded else -1,
        time=time,
        inner=operator.inner,
        superlative=operator.superlative,
        is_together=together is not None
        or (operator.wanted is Wanted.COUNT and "total" in operator.written.casefold()),
        is_listed=is_listed,
        is_counted=operator.is_counted,
        is_often=operator.is_often,
        is_how_much=operator.is_how_much,
        after=operator.end,
        names_amount=_AMOUNT.search(operator.written) is not None,
        text=text.casefold(),
        stems=frozenset(word.stem for word in split_words(text)),
        signs=tuple(_find_letters(text)),
        operator=frozenset(word.stem for word in split_words(operator.written)[:1]),
    )


_BESIDE_COLUMN = re.compile(
    r"\b(?:below|above|under|over|unter|über|sous|dessous d|dessus d)\w{0,2}\s"
    r"(?:(?:the|an?|de[mnr]|l[ea]|its|their)\s)?(?:average|mean|median|highest|durchschnitt|mittel|moyenne)",
    re.IGNORECASE,
)
"""A value is compared with a column, or with what has to be computed first: "below the mean", "an above average"."""
_CODE = re.compile(r"(?<![.?!:]\s)(?<=\s)[A-Z]{1,4}\b(?![-./&'’]\w)")


def _has_dropped_code(text: str) -> bool:
    """Returns whether a question has a code that is a small word in lower case, "in IT", and no sign of a part."""
    codes = [code for code in _CODE.findall(text) if code != "I" and not text.isupper()]
    known = {text[word.start : word.end] for word in split_words(text)}
    known |= {part.sign.upper() for part in _find_letters(text)}
    return any(code not in known for code in codes)


def _find_letters(text: str) -> Iterator[Part]:
    """Yields the parts whose sign is a capital letter: "series C"."""
    return (part for part in find_parts(text) if len(part.sign) == 1 and part.written[-1] in _CAPITALS)


_CAPITALS = frozenset("ABCDEFGHJKLMNOPQRSTUVWXYZ")
"""Letters that are signs; "I" is a word."""
_AMOUNT = re.compile(r"amount|value|betrag|wert", re.IGNORECASE)
_COUNTING = re.compile(r"\b(?:how|why|when|wie|warum|wann|comment|pourquoi|quand)\b", re.IGNORECASE)


def _is_each(found: re.Match[str]) -> bool:
    is_by = found.group().casefold().split()[0] in {"by", "nach", "par"}
    return not is_by or is_word_of_time(found["group"])


def _read_words(text: str) -> Iterator[Said]:
    for word in split_words(text):
        written = text[word.start : word.end]
        folded = written.casefold()
        if folded in SMALL_WORDS | _SKIPPED and not written.isupper():
            continue
        yield Said(
            stem=word.stem,
            written=written,
            start=word.start,
            is_generic=word.stem in _GENERIC,
            is_light=folded in _LIGHT
            and not (word.start and (written[:1].isupper() or _is_state(text, word.start, folded))),
            is_row=word.stem in _ROWS,
        )


def _is_state(text: str, start: int, folded: str) -> bool:
    """Returns whether a word that says nothing as a verb is a noun here: "on hold", "at work"."""
    return folded not in _NO_NOUNS and _STATE.search(text, max(0, start - _LONGEST_PREPOSITION), start) is not None


def _stem(word: str) -> str:
    return next((found.stem for found in split_words(word)), "")
