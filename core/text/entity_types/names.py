"""What a name shows by itself: the forms of dates, amounts, laws and companies, main nouns, and titles of persons.

`choose_type` weighs all signs of an entity: its name, and what facts say of the type of their ends.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence, Set
from enum import StrEnum
from itertools import pairwise

from core.text.entity_types.kinds import GIVEN_NAMES, KINDS, LONGEST, NAME_NOUNS, EntityType
from core.text.word_lists import CALENDAR_WORDS, COMPANIES, INSTITUTIONS

_MONTHS = "|".join(sorted(word for word in CALENDAR_WORDS if len(word) > 2))
_YEAR = r"(?:1\d|20)\d\d"
_DAY = r"\d{1,2}(?:st|nd|rd|th|er|\.)?"
_DATE = re.compile(
    rf"(?:in )?{_YEAR}(?:s|er)?|(?:fy|fiscal|fiscal year) ?{_YEAR}|q[1-4] ?{_YEAR}|{_YEAR} ?q[1-4]"
    rf"|{_YEAR} ?[-–/] ?(?:{_YEAR}|\d\d)|{_YEAR}-\d\d(?:-\d\d)?|\d{{1,2}}[./]\d{{1,2}}[./](?:{_YEAR}|\d\d)"
    rf"|(?:{_DAY} )?(?:de )?(?:{_MONTHS})\.?(?: de)?(?: {_DAY})?,? {_YEAR}|{_DAY} (?:{_MONTHS})|(?:{_MONTHS}) {_DAY}"
    r"|\d{1,2}(?:st|nd|rd|th) century|\d{1,2}\. jahrhundert",
    re.IGNORECASE,
)
_FIGURE = r"(?<!\d)[-+−]?\d{1,15}+(?:[,.'’ ]\d{3}(?!\d))*+(?:[.,]\d{1,6}+)?"
_SCALE = (
    r"(?:hundred|thousand|millions?|billions?|trillions?|tausend|mio\.?|mrd\.?|millionen|milliarden?|milliards?|mn|bn)"
)
_CURRENCY = r"(?:[$€£¥₹]|(?:us|ca|a|hk|nz)\$|usd|eur|gbp|chf|jpy|cad|aud|dollars?|euros?|pounds?|yen|francs?|franken)"
_UNIT = (
    r"(?:percent|per cent|prozent|pour cent|[kmc]?m[²2³3]?|km/h|mph|mi|miles?|feet|ft|inches|acres?|hectares?"
    r"|ha|[kmgt]b|[km]?g|tonnes?|tons?|lbs?|[kmgt]w|kwh|mwh|gwh|[kmg]?hz|people|inhabitants|einwohner|habitants"
    r"|seconds?|minutes?|hours?|days?|weeks?|months?|years?|tage?n?|wochen?|monate?n?|jahre?n?|jours?|mois|ans?|shares)"
)
_AMOUNT = re.compile(
    rf"\(?{_CURRENCY} ?\(?{_FIGURE}\)?(?: ?{_SCALE})?\)?|{_FIGURE}(?: {_SCALE})? ?{_CURRENCY}|{_FIGURE} {_SCALE}"
    rf"|{_FIGURE} ?(?:%|‰|°[cf]?)|{_FIGURE}(?: {_SCALE})? {_UNIT}|\(?\d{{1,3}}(?:,\d{{3}})+(?:\.\d{{1,6}})?\)?",
    re.IGNORECASE,
)
_LAW = re.compile(
    r"(?:council |commission |implementing |delegated |durchführungs)?(?:directive|regulation|richtlinie|verordnung"
    r"|règlement|decision)s? (?:\(\w{2,7}\) )?(?:no\.? |nr\.? |n° ?)?\d{1,4}/\d{1,4}(?:/\w{2,7})?"
    r"|(?:public law|pub\. ?l\.|p\.l\.) (?:no\. )?\d{1,3}[-–]\d{1,4}|loi n° ?\d{2,4}-\d{1,5}|rule \d{1,4}\w?-\d{1,4}\w?"
    r"|\d{1,2} (?:u\.?s\.?c\.?|c\.?f\.?r\.?)(?: §{1,2} ?| part )?[\d.]{0,12}\w?|§{1,2} ?\d{1,5}\w? .{0,60}"
    r"|(?-i:[A-Z]).{2,120} (?-i:Act|Statute|Treaty)(?: of \d{4})?"
    r"|\w{3,40}(?:gesetz|verordnung|gesetzbuch)|(?-i:Treaty|Statute) of .{2,100}|code (?:civil|pénal|du travail)",
    re.IGNORECASE,
)
_LEGAL_FORM = re.compile(
    r"[^\W_a-z].{1,150}[ ,](?:Inc\.?|INC\.?|Incorporated|Corp\.?|CORP\.?|Corporation|CORPORATION|Ltd\.?|LTD\.?|Limited"
    r"|LLC|L\.L\.C\.?|LLP|L\.P\.|plc|PLC|GmbH|AG|KG|KGaA|OHG|e\. ?V\.|S\.A\.?|SA|S\.A\.S\.?|SAS|SARL|S\.A\.R\.L\.?"
    r"|S\.p\.A\.?|SpA|S\.r\.l\.?|N\.V\.|NV|B\.V\.|BV|Oyj?|A/S|ASA|Pty\.?|K\.K\.|& Co\.?|Company|COMPANY)"
)
_TITLED = re.compile(
    r"(?:(?:Dr|Mr|Mrs|Ms|Prof|Mme|Mlle|Sra)\.? |(?:Rev|Hon|Sgt|Lt|Capt|Gen|Col)\. |Sir |Dame |Herr |Frau |Madame "
    r"|Monsieur |Señora? |Professor |Pope |Papst |Pape |Emperor |Kaiser )[^\W\d_a-z].{1,100}"
)
_SUFFIXED = re.compile(r".{3,100},? (?:Jr\.?|Sr\.?|Ph\.? ?D\.?|M\.D\.|Esq\.?)")
_CAPITAL = r"[^\W\d_a-z][\w'’-]{1,30}"
_INITIALED = re.compile(
    r"(?!U\. ?[SKN]\.|[A-Z]\. ?[A-Z]\.$)(?:[^\W\d_a-z][a-zà-ÿ]{1,30} (?:[A-Z]\. ?){1,2}|(?:[A-Z]\. ?){2,3})"
    r"[A-ZÀ-Þ][\w'’-]{0,4}[a-zà-ÿ][\w'’-]{0,30}"
)
"""`Ada B. Lund` and `A. B. Lund`; `U.S. Treasury`, `Python API` and `Section III` are none."""
_FULL_NAME = re.compile(rf"({_CAPITAL})(?: {_CAPITAL}| [A-Z]\.| (?:de|van|von|der|la|di|da|del)){{0,3}} {_CAPITAL}")
_QUALIFIED = re.compile(r".{1,150} \((?:[^()]{0,60} )?([^\W\d_]{2,30})\)")
_QUOTED = re.compile('["“„«‘].{2,150}["”“»’]')
_PLACE_FIRST = re.compile(
    r"(?:Lake|Mount|Mt\.?|River|Lac|Cape|Fort|Isle of|Republic of|Kingdom of|Rue|Place de) .{2,100}"
)
_EVENT = re.compile(
    r"(?:Battle|Siege|Schlacht|Bataille) .{2,100}|.{2,100} (?:War|Wars|War I{1,3}|Olympics|Championships?|Festival)"
    r"|World War I{1,2}"
)
_WORK_FIRST = re.compile(r"(?:Journal|Annals|Proceedings|Transactions|Encyclop[ae]dia) of .{2,100}")
WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


def find_type_of_name(name: str) -> EntityType | None:
    """Returns the type that a name, as it is written, shows by itself; None if it has no sure sign."""
    name = name.strip()
    if not name or len(name) > LONGEST:
        return None
    for type, pattern in _WHOLE.items():
        if pattern.fullmatch(name):
            return type
    if qualified := _QUALIFIED.fullmatch(name):
        return KINDS.get(qualified[1].casefold())
    return _find_type_of_words(name)


_WHOLE = {
    EntityType.DATE: _DATE,
    EntityType.AMOUNT: _AMOUNT,
    EntityType.ORGANISATION: _LEGAL_FORM,
    EntityType.LAW: _LAW,
}
"""Forms that are sure whatever else a name has."""


def _find_type_of_words(name: str) -> EntityType | None:
    if _EVENT.fullmatch(name):
        return EntityType.OTHER
    if _QUOTED.fullmatch(name) or _WORK_FIRST.fullmatch(name):
        return EntityType.WORK
    words = WORD.findall(name)
    if type := _find_type_of_noun(words):
        return type
    if _PLACE_FIRST.fullmatch(name):
        return EntityType.PLACE
    return EntityType.PERSON if _is_person(name, {word.casefold() for word in words}) else None


def _find_type_of_noun(words: Sequence[str]) -> EntityType | None:
    """Returns the type of a name's main noun, which stands before "of" or last: "University" of "University of Ham".

    In German and French, it may also stand first without "of".
    """
    if len(words) < 2 or not words[0][0].isupper():
        return None
    heads = [word for word, after in pairwise(words) if after in OF] or [words[-1]]
    heads += [words[0]] if words[0].casefold() in _FIRST_NOUNS else []
    types = (NAME_NOUNS.get(head.casefold()) for head in heads if head[0].isupper())
    return next((type for type in types if type), None)


_FIRST_NOUNS = frozenset(
    {"universität", "université", "universidad", "università", "ministère", "institut", "hochschule"}
)


def _is_person(name: str, words: Set[str]) -> bool:
    if words & NAME_NOUNS.keys():
        return False  # "Wilson Authority Report": which noun says what it is, is not sure
    if _TITLED.fullmatch(name) or _SUFFIXED.fullmatch(name):
        return True
    full = _FULL_NAME.fullmatch(name)
    has_form = _INITIALED.fullmatch(name) or (full and full[1].casefold() in GIVEN_NAMES)
    return bool(has_form) and not words & _NO_PERSONS


_NO_PERSONS = INSTITUTIONS | COMPANIES
"""Words of names such as `George W. Bush Library`, which begin as a person's."""


OF = frozenset({"of", "for", "de", "der", "des", "für", "du", "von", "pour"})


class FactEnd(StrEnum):
    """The end of a fact that an entity is."""

    SUBJECT = "subject"
    OBJECT = "object"


_CALLED = re.compile(
    r"(?:is|was|are|were|has been|became|ist|war|wurde|sind|est|était|sont|fut)"
    r"(?: (?:an?|the|one of(?: the)?|ein|eine|der|die|das|une?|le|la|l['’]))?(?: (.{1,100}))?|instance of|type|kind",
    re.IGNORECASE,
)
_ENDS_NOUN = OF | {"in", "by", "from", "at", "on", "to", "with", "that", "which", "who", "im", "aus", "dans", "à"}
"""Words behind which a phrase says no more what something is: "city in the state of Ohio"."""

_P, _O, _L, _W = EntityType.PERSON, EntityType.ORGANISATION, EntityType.PLACE, EntityType.WORK
_RELATIONS: dict[str, tuple[EntityType | None, EntityType | None]] = {
    **dict.fromkeys(
        ("was born in", "born in", "was born at", "was born to", "grew up in", "place of birth"), (_P, None)
    ),
    **dict.fromkeys(("was born on", "born on", "died on", "died of", "date of birth"), (_P, None)),
    **dict.fromkeys(("married", "was married to", "is married to", "spouse", "heiratete", "épousa"), (_P, _P)),
    **dict.fromkeys(("wurde geboren in", "est né à", "est née à", "est né en", "est née en"), (_P, None)),
    **dict.fromkeys(("was written by", "was composed by", "was directed by", "directed by", "written by"), (_W, _P)),
    **dict.fromkeys(("starred in", "starred as", "appeared in film"), (_P, None)),
    **dict.fromkeys(("studied at", "graduated from", "was educated at"), (_P, _O)),
    **dict.fromkeys(("is subsidiary of", "is a subsidiary of", "is a wholly owned subsidiary of"), (_O, _O)),
    **dict.fromkeys(("is capital of", "is the capital of", "was capital of", "is hauptstadt von"), (_L, _L)),
    **dict.fromkeys(("is mayor of", "was mayor of"), (_P, _L)),
}
"""Relations that say what their subject and their object are."""


def find_type_of_fact(end: FactEnd, predicate: str, other: str) -> EntityType | None:
    """Returns the type that a fact gives to one of its ends. `other` is the name of its other end, as written."""
    predicate = " ".join(predicate.split()).casefold()
    if len(predicate) > LONGEST or len(other) > LONGEST:
        return None
    if predicate in _RELATIONS:
        return _RELATIONS[predicate][end is FactEnd.OBJECT]
    kind = find_called_kind(predicate, other) if end is FactEnd.SUBJECT else None
    return _find_type_of_kind(kind) if kind else None


def find_called_kind(predicate: str, other: str) -> str | None:
    """Returns what a fact calls its subject, up to a preposition, in lower case: "chemist" of "is a", "chemist in Ham".

    None if it calls its subject nothing, or is too long.
    """
    predicate = " ".join(predicate.split()).casefold()
    if len(predicate) > LONGEST or len(other) > LONGEST:
        return None
    called = _CALLED.fullmatch(predicate)
    if called is None:
        return None
    words = WORD.findall((called[1] or other).casefold().removeprefix("one of "))
    ends = (place for place, word in enumerate(words) if place and word in _ENDS_NOUN)
    return " ".join(words[: next(ends, len(words))])


def _find_type_of_kind(phrase: str) -> EntityType | None:
    """Returns the type of what a phrase calls something: the last noun that is a kind."""
    found = None
    for word in phrase.split():
        found = (
            KINDS.get(word) or KINDS.get(word.removesuffix("s")) or KINDS.get(f"{word.removesuffix('ies')}y") or found
        )
    return found


_OF_NAME = 2
"""Votes of a name's own sign."""
_SURE = frozenset({EntityType.DATE, EntityType.AMOUNT})


def choose_type(name: str, votes: Iterable[EntityType]) -> EntityType | None:
    """Returns the type that more than half of all votes are for; None if there is none.

    The name's own sign has two votes. Dates and amounts are what they are, whatever facts say.
    """
    own = find_type_of_name(name)
    if own in _SURE:
        return own
    if not WORD.search(name):
        return None  # the number of a section, as `17.2.1`
    counts = Counter(votes)
    if own is not None:
        counts[own] += _OF_NAME
    total = counts.total()
    return next((type for type, count in counts.items() if 2 * count > total), None)
