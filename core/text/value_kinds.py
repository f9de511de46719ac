"""Kinds of values: which kind a question asks for, and whether a sentence has it. English, German and French first."""

import re
from collections.abc import Collection
from enum import StrEnum

from core.text.name_spans import find_names
from core.text.terms import split_words
from core.text.word_lists import CALENDAR_WORDS


class ValueKind(StrEnum):
    """The kind of value that answers a question; `NONE` if any sentence may."""

    NONE = "none"
    NUMBER = "number"
    DATE = "date"
    DURATION = "duration"
    PERSON = "person"
    PLACE = "place"


def _any_of(phrases: str) -> str:
    """Returns the pattern of any of the phrases, which are separated by lines and semicolons."""
    found = (phrase.strip() for line in phrases.splitlines() for phrase in line.split(";"))
    return "(?:" + "|".join(phrase for phrase in found if phrase) + ")"


_NUMBER_WORDS = _any_of("""
    one;two;three;four;five;six;seven;eight;nine;ten;eleven;twelve;fifteen;twenty;thirty;forty;fifty;sixty;ninety
    hundred;thousand;million;billion;dozen;half;once;twice;double;triple
    ein;eine;einen;einem;einer;eines;zwei;drei;vier;fünf;sechs;sieben;acht;neun;zehn;elf;zwölf;vierzehn;zwanzig
    dreißig;sechzig;neunzig;hundert;tausend;einmal;zweimal;dreimal
    un;une;deux;trois;quatre;cinq;sept;huit;neuf;dix;onze;douze;quinze;vingt;trente;quarante;cinquante;soixante
    cent;cents;mille;millions
""")
_TIME_UNITS = _any_of("""
    seconds?;minutes?;hours?;days?;weeks?;fortnights?;months?;quarters?;years?;decades?;centur(?:y|ies)
    sekunden?;minuten?;stunden?;tage?n?;wochen?;monate?n?;jahre?n?;jahrhunderte?n?
    secondes?;heures?;jours?;semaines?;mois;ans?;années?;siècles?
""")
_PERIODS = _any_of("year;date;day;month;jahr;datum;tag;monat;année;jour;mois")
_PLACES = _any_of("""
    city;country;town;place;state;county;village;region;stadt;land;ort;dorf;ville;pays;lieu
""")
_GENERIC = _any_of("""
    persons?;people;man;woman;author;company;film;movie;book;river;language;number;amount;kind;type;sort;way;thing
    person;mann;frau;autor;firma;film;buch;fluss;sprache;zahl;betrag;art;personne;homme;femme;auteur;livre;langue;sorte
""")
GENERIC = re.compile(rf"(?:{_GENERIC}|{_PLACES}|{_PERIODS})", re.IGNORECASE)
"""Nouns that only say what kind of thing is asked for."""
_WHICH = _any_of("what;which;welche[nmrs]?;quelle?s?;in")
_DURATION_ASKED = _any_of(rf"""
    how long;how soon\b;how quickly\b;how promptly\b;wie lange;combien de temps
    (?:within|in) (?:what|which) (?:time|period)\b;how much (?:time|notice|warning|advance notice|advance warning)\b
    (?:how many|wie ?viele?n?|combien de) {_TIME_UNITS}\b
    (?:notice|retention|warranty|probation|grace|payment) (?:period|term)\b;kündigungsfrist;frist\b;durée;délai
""")
_DATE_ASKED = _any_of(rf"""
    when\b;wann\b;quand\b;cuándo\b;quando\b;wanneer\b;{_WHICH} {_PERIODS}\b
    deadline;due date;expiry date;expiration date
""")
_NUMBER_ASKED = _any_of(r"""
    how (?:many|much|often|old|big|large|tall|high|far|fast|deep|heavy|wide|hot|cold)\b
    wie ?(?:viele?[nrs]?|oft|alt|groß|hoch|weit|schnell|teuer|schwer|tief)\b
    combien;quel âge;cuánt[oa]s?\b;quant[oiae]\b;hoeveel
    rate\b;price\b;costs?\b;fees?\b;salary\b;amount\b;number\b;total\b;percentage\b;percent\b;share\b;population\b
    balance\b;budget\b;limit\b;revenue\b;income\b;size\b;voltage\b;frequency\b;factor\b;age\b;maximum\b;minimum\b
    penalty\b;fine\b;cap\b;ceiling\b
    preis\b;kosten\b;gehalt\b;betrag\b;anzahl\b;höhe\b;summe\b;prozent\b;größe\b;telefonnummer\b;strafe\b
    prix\b;coût\b;salaire\b;montant\b;nombre\b;taux\b;taille\b;amende\b
""")
_PERSON_ASKED = _any_of(r"""
    who\b;whom\b;whose\b;wer\b;wem\b;wen\b;wessen\b;qui (?!est-ce que);quién(?:es)?\b;chi\b;quem\b
    (?:which|what) (?:person|author|director|president|actor|actress|singer|player)\b
""")
_PLACE_ASKED = _any_of(rf"""
    where\b;wo\b;woher\b;wohin\b;où\b;dónde\b;dove\b;onde\b;waar\b
    {_WHICH} {_PLACES}\b
""")
_ASKING = {
    ValueKind.DURATION: re.compile(rf"\b{_DURATION_ASKED}", re.IGNORECASE),
    ValueKind.DATE: re.compile(rf"\b{_DATE_ASKED}", re.IGNORECASE),
    ValueKind.NUMBER: re.compile(rf"\b{_NUMBER_ASKED}", re.IGNORECASE),
    ValueKind.PERSON: re.compile(rf"\b{_PERSON_ASKED}", re.IGNORECASE),
    ValueKind.PLACE: re.compile(rf"\b{_PLACE_ASKED}", re.IGNORECASE),
}
"""The first of these that a question matches is the kind that it asks for."""

_NUMBER = re.compile(rf"\d+|[%‰€$£¥½¼¾]|\b{_NUMBER_WORDS}\b", re.IGNORECASE)
_YEAR = r"(?:1[89]|20)\d\d\b"
_NO_DATES = frozenset({"may", "sat", "sun", "mar", "mon"})
"""Words of the calendar that are mostly other words."""
_DAY = re.compile(r"(?:mon|tue|wed|thu|fri|sat|sun)\w*|\w+tag|mittwoch|sonnabend|\w+di|dimanche")
_MONTHS = sorted(word for word in CALENDAR_WORDS - _NO_DATES if not _DAY.fullmatch(word))
_MONTH = rf"(?:{'|'.join(_MONTHS)}|(?-i:May|MAY|Mar))\b"
_NO_NUMBER = re.compile(
    rf"\b{_MONTH}\.? \d{{1,2}}(?:st|nd|rd|th)?\b(?:,? {_YEAR})?|\b(?:\d{{1,2}}\.? )?{_MONTH}\.? {_YEAR}"
    rf"|\b(?:in|since|until|before|fiscal|year|im|seit|jahr|en|depuis|année) {_YEAR}"
    rf"|\b(?:quarters?|months?|half|end|years?|quartal|trimestre) (?:of|de) (?:fiscal )?(?:year )?{_YEAR}"
    rf"|\b(?:\d{{1,2}}|{_NUMBER_WORDS})-(?=\s|(?:months?|weeks?) (?:periods?|ended)\b)",
    re.IGNORECASE,
)
"""Dates, and the "three-" and "nine-" of "three- and nine-month periods": a sentence that has them states no amount."""
_UNIT = (
    r"(?:EUR|USD|GBP|CHF|JPY|CAD|AUD|SEK|NOK|DKK|PLN|CZK|Euros?|Dollars?|Franken|Pfund|Pounds?|Francs?|Cents?"
    r"|Tsd|Mio|Mrd|Tausend|Millionen|Milliarden|Prozent|Percent|Punkte?n?|[MGT]B|[MG]?Hz|[MG]?W|V|MWh|GWh"
    r"|Liter|Meter|Kilometer|Quadratmeter|Kilo(?:gramm)?|Gramm|Tonnen|Stück"
    r"|Sekunden|Minuten|Stunden|Tagen?|Wochen|Monaten?|Jahren?)\b"
)
"""Units and currencies with a capital letter, as the first word of an item has one."""
_REFERENCE = re.compile(
    r"(?:\b(?:sections?|articles?|clauses?|paragraphs?|chapters?|exhibits?|annex|appendix|schedules?|Artikel|Absatz"
    r"|Abs\.|Ziffer|Anhang|Anlage|alinéa|annexe)|§{1,2})\s{0,2}\d{1,4}(?:\.\d{1,4}){0,4}(?:\(\w{1,3}\)){0,3}",
    re.IGNORECASE,
)
"""What refers to a place in a text: `Section 2.10` is no amount and no date."""
_PLACE_IN_TEXT = re.compile(
    r"\A\W{0,3}(?:\d{1,3}(?:\.\d{1,3}){0,4}[.)](?=\s)"
    rf"|\d{{1,2}}(?:\.\d{{1,2}}){{1,4}}(?=\s+(?-i:(?!{_UNIT})[A-ZÄÖÜ]))|\([a-z\d]{{1,3}}\))"
    rf"|{_REFERENCE.pattern}",
    re.IGNORECASE,
)
"""The number of an item of a list, and references: neither is an amount."""
_DURATION = re.compile(
    rf"(?:\d|\b(?:{_NUMBER_WORDS}|several|few|many|a|an)\b)\W{{0,4}}(?:\w{{1,12}}\W{{1,3}}){{0,2}}{_TIME_UNITS}\b",
    re.IGNORECASE,
)
_DATE = re.compile(
    r"\b(?:1\d|20)\d\d\b|\b\d{1,2}[./-]\d{1,2}\b|\b\d{1,2}:\d\d\b|\b(?-i:May)\b"
    rf"|\b(?:{'|'.join(sorted(CALENDAR_WORDS - _NO_DATES))}|today|tomorrow|yesterday)\b",
    re.IGNORECASE,
)
_COUNTED = re.compile(r"\s?([^\W\d_]{2,40}|[%‰€$£¥°])")
"""What may be counted by the number before it: "in 2000 cases"."""
_SIGN = re.compile(r"[^\s\d_]{0,40}+[\d_][^\s|;,]{0,40}")
_MARKS = "._-:!?/'\"`´()[]{}<>*§#$€£%=+~^’“”„«»–—"
_CODE = re.compile(r"([a-z]{1,6})(-?)(\d{1,5}[a-z]{0,2})")
_FEWEST_LETTERS = 2
"""Letters of a code without a hyphen: `bm900`, but not `q3`."""
_DIGITS = re.compile(r"\d+")


def find_kind(question: str) -> ValueKind:
    """Returns the kind of value that a question asks for."""
    return next((kind for kind, pattern in _ASKING.items() if pattern.search(question)), ValueKind.NONE)


def has_value(kind: ValueKind, text: str, *, stems: Collection[str], digits: Collection[str]) -> bool:
    """Returns whether a text has a value of a kind. Names and numbers that the question has itself, whose `stems` and
    `digits` are given, do not count.
    """
    match kind:
        case ValueKind.NONE:
            return False
        case ValueKind.NUMBER:
            return _has_number(text, digits) and _has_number(
                _without_dates(_PLACE_IN_TEXT.sub(" ", text), stems), digits
            )
        case ValueKind.DURATION:
            return _DURATION.search(text) is not None
        case ValueKind.DATE:
            return any(date not in digits for date in _DATE.findall(_REFERENCE.sub(" ", text)))
        case ValueKind.PERSON | ValueKind.PLACE:
            return any(find_stems(text[start:end]) - set(stems) for start, end in find_name_spans(text))


def _without_dates(text: str, stems: Collection[str]) -> str:
    """Returns a text without its dates. A number before a sign, or before a word of the question, is none."""

    def replace(date: re.Match[str]) -> str:
        counted = _COUNTED.match(text, date.end())
        if counted is None or not date[0][-1].isdigit():
            return " "
        return date[0] if not counted[1].isalpha() or find_stems(counted[1]) & set(stems) else " "

    return _NO_NUMBER.sub(replace, text)


def _has_number(text: str, digits: Collection[str]) -> bool:
    return any(number not in digits for number in _NUMBER.findall(text))


def find_stems(text: str) -> frozenset[str]:
    """Returns the stems of the words of a text, without stop words, and its signs, in small letters.

    Signs are what has a digit or a "_", as it stands between white space, without marks at its ends: `6.3.1.5`, `8`.
    A code has both ways to write it: `bm-900`, `bm900`.
    """
    signs = find_signs(text)
    return frozenset(word.stem for word in split_words(text)).union(signs, *map(_write_code, signs))


def _write_code(sign: str) -> tuple[str, ...]:
    """Returns the other way to write a code of letters and a number: `bm900` of `bm-900`, and the reverse, with both
    parts.
    """
    code = _CODE.fullmatch(sign)
    if code is None or (not code[2] and len(code[1]) < _FEWEST_LETTERS):
        return ()
    return (f"{code[1]}{code[3]}",) if code[2] else (f"{code[1]}-{code[3]}", code[1], code[3])


def find_signs(text: str) -> frozenset[str]:
    return frozenset(sign.strip(_MARKS) for sign in _SIGN.findall(text.casefold()))


def find_digits(text: str) -> frozenset[str]:
    """Returns the runs of digits of a text, single digits included, which are no words."""
    return frozenset(_DIGITS.findall(text))


def find_name_spans(text: str) -> list[tuple[int, int]]:
    return [(name.start, name.end) for name in find_names(text)]
