"""Whether two documents in force answer differently: a sentence of one, and a sentence of the same clause of the other
that has nearly the same words with another number, amount or day, or that denies what the first one says.

Sentences whose words differ more are not compared: that one rule says "30 days" and another "14 days" is a conflict
only if both are of the same matter. A sentence on the document's own validity contradicts no other document.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from core.execution.limits import check_work
from core.text.sentences import split_sentences
from core.text.terms import split_words
from core.text.word_lists import words_of
from core.validity.differences import Clause, match_clauses
from core.validity.sentences import read_sentence
from core.validity.written_dates import find_dates

_MOST_VALUES = 8
"""Values of a sentence; a row of more figures is no rule."""
_LONGEST_QUOTE = 5_000
"""Characters of a quote that are compared."""
_MOST_QUOTED = 20
"""Sentences of a quote that are compared."""
_MOST_SENTENCES = 400
"""Sentences of a clause that are compared."""
_ALIKE, _ALIKE_WITH_OTHERS, _ALIKE_DENIED = 0.6, 0.8, 0.8
"""The least share of words in common: if only one sentence has words that the other lacks, if both have, and if one
denies the other. Another subject ("managers", "trainees") is such a word; it mostly stands first, so if both sentences
have other words, their first words must be common.
"""


_NUMBERS = {
    word: Decimal(number)
    for number, words in {
        "0": "zero null", "0.5": "half halb halbe", "1": "one eins",
        "2": "two zwei", "3": "three drei",
        "4": "four vier", "5": "five fünf", "6": "six sechs", "7": "seven sieben",
        "8": "eight acht", "9": "nine neun", "10": "ten zehn", "11": "eleven elf", "12": "twelve zwölf",
        "13": "thirteen dreizehn", "14": "fourteen vierzehn", "15": "fifteen fünfzehn", "16": "sixteen",
        "17": "seventeen", "18": "eighteen", "19": "nineteen", "20": "twenty zwanzig", "30": "thirty dreißig",
        "40": "forty vierzig", "50": "fifty fünfzig", "60": "sixty sechzig", "90": "ninety neunzig",
        "100": "hundred hundert", "1e3": "thousand tausend tsd", "1e6": "million millionen mio mn",
        "1e9": "billion bn milliarde milliarden mrd",
    }.items()
    for word in words.split()
}  # fmt: skip
_LEAST_SCALE = 100
"""Words for numbers from here on multiply the number before them: `1.5 million`, `two hundred`."""
_ORDINALS = {
    word: Decimal(number)
    for number, words in enumerate(
        ("first erste ersten erster", "second zweite zweiten zweiter", "third dritte dritten dritter"), start=1
    )
    for word in words.split()
}
_UNITS = {
    word: (kind, factor)
    for kind, factor, words in (
        ("time", 1, "seconds sekunde sekunden"),
        ("time", 60, "minute minutes minuten min mins"),
        ("time", 3600, "hour hours stunde stunden h hr hrs std"),
        ("time", 86_400, "day days tag tage tagen"),
        ("time", 604_800, "week weeks woche wochen"),
        (
            "time at work 86400",
            86_400,
            "workday workdays werktag werktage werktagen arbeitstag arbeitstage arbeitstagen",
        ),
        ("time in months", 1, "month months monat monate monaten"),
        ("time in months", 3, "quarter quarters quartal quartale quartalen"),
        ("time in months", 12, "year years jahr jahre jahren"),
        ("%", 1, "% percent percentage prozent"),
        ("EUR", 1, "€ eur euro euros"),
        ("USD", 1, "$ usd dollar dollars"),
        ("GBP", 1, "£ gbp pound pounds"),
    )
    for word in words.split()
}
"""The kind of each unit, and how many of the smallest unit it is. What has no fixed length in another kind of time (a
month in days, a working day in hours) is of a kind of its own.
"""
_AT_WORK = frozenset(("business", "working", "banking", "trading"))
_BETWEEN = _AT_WORK | {"calendar", "consecutive", "full"}
"""Words between a number and its unit."""
_TOKEN = re.compile(r"\d+(?:[.,'’\u00a0]\d{1,9}){0,5}|[%€$£≥≤]|[^\W\d_]+(?:['’][^\W\d_]+){0,4}")
_THOUSANDS = re.compile(r"[1-9]\d{0,2}[.,]\d{3}")
_REFERENCE = re.compile(
    r"(?:\b(?:section|chapter|article|clause|paragraph|annex|appendix|schedule|table|page|version|abschnitt|kapitel"
    r"|artikel|absatz|ziffer|anlage|tabelle|seite)s? |§{1,2} ?)\d{1,4}(?:\.\d{1,4}){0,4}",
    re.IGNORECASE,
)
"""A place in a document, or a version: no value of a rule."""
_NO_DENIAL = re.compile(
    r"\b(?:no|not|nicht) (?:later|more|less|fewer|longer|earlier|only|nur|später|mehr|weniger|länger|früher)\b",
    re.IGNORECASE,
)
_BOUNDS = {
    " ≥ ": re.compile(
        r"\b(?:at least|(?:no|not) (?:less|fewer|earlier|shorter) than|(?<!no )(?<!not )(?:more|longer|later) than"
        r"|mindestens|wenigstens|frühestens|nicht (?:weniger|kürzer|früher) als"
        r"|(?<!nicht )(?:mehr|länger|später) als|or more|or longer|oder mehr|(?<!\d )min(?=\.? \d))\b",
        re.IGNORECASE,
    ),
    " ≤ ": re.compile(
        r"\b(?:at most|up to|within|(?:no|not) (?:more|longer|later) than|(?<!no )(?<!not )(?:less|fewer|earlier) than"
        r"|höchstens|spätestens|innerhalb|binnen|bis zu|nicht (?:mehr|länger|später) als"
        r"|(?<!nicht )(?:weniger|kürzer|früher) als|or less|or fewer|oder weniger|max(?=\.? \d))\b",
        re.IGNORECASE,
    ),
}
"""What says that a value is the least or the greatest one; nouns and adjectives are in `_BOUNDING`."""
_BOUNDING = {
    word: sign for sign, words in (("≥", "≥ minimum minimal"), ("≤", "≤ maximum maximal")) for word in words.split()
}
_NUMBERED = re.compile(r"\b[Nn](?:os?|r)\. ?(?=\d)|(?<=\w )N[or] ?(?=\d)")
"""`Form No. 5`, `Nr. 5`. Without a full stop, `No` is a denial at the start of a sentence: `No 18-year-olds`."""
_DENIALS = words_of(
    "not no never neither nor cannot nobody none unless nicht kein keine keinen keinem keiner nie niemals"
)
_DENYING = {
    word: stem
    for words, stem in (
        ("prohibited forbidden disallowed impermissible verboten untersagt unzulässig", "allowed"),
        ("excluded ausgeschlossen", "included"),
    )
    for word in words.split()
}
_SAME = {"permitted": "allowed", "permissible": "allowed", "erlaubt": "allowed", "zulässig": "allowed"}
_EMPTY = words_of(
    "the a an this these that must shall may will should can is are be been has have of for to in on at by with within"
    " up most least than per each every and or its their it der die das den dem des ein eine einer eines einem einen"
    " ist sind wird werden darf dürfen muss müssen soll sollen für von vom zu zum zur im in am und oder pro je bis"
)

_Value = tuple[str, Decimal | str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Contradiction:
    """Two sentences, verbatim, of clauses that match: `said` by one document, `otherwise` by the other."""

    said: str
    otherwise: str
    clause: str


@dataclass(frozen=True, slots=True)
class _Reading:
    """The values of a sentence, its other words as stems, and whether it denies. A value is its unit and number, and
    may be the least (`≥`) or the greatest one (`≤`).
    """

    values: Mapping[_Value, str]
    words: frozenset[str]
    denies: bool
    first: str = ""


def find_contradictions(
    quote: str,
    own: Sequence[Clause],
    others: Sequence[Clause],
    question: str,
    match: Callable[[], Mapping[int, int]] | None = None,
) -> Iterator[Contradiction]:
    """Yields the sentences of other clauses that contradict the sentences of a quote from own clauses, the first one of
    each sentence. Of a long quote only sentences count that have a word of the question. `match` returns
    `match_clauses(others, own)`, which is the same for all quotes.
    """
    wanted, quote = _list_stems(question), quote[:_LONGEST_QUOTE]
    quoted = [
        (at, sentence)
        for at, clause in enumerate(own)
        for sentence in _list_sentences(clause)
        if _overlap(sentence, quote)
    ]
    if len(quoted) > 1:
        quoted = [
            (at, said)
            for at, said in quoted
            if wanted & {word.stem for word in split_words(f"{own[at].heading} {said}")}
        ]
    if not quoted:
        return
    matched = match_clauses(others, own) if match is None else match()
    read: dict[int, Mapping[str, _Reading]] = {}
    for at, said in list(dict.fromkeys(quoted))[:_MOST_QUOTED]:
        place = matched.get(at)
        if place is None or read_sentence(said):
            continue
        if place not in read:
            read[place] = _read_all(others[place])
        has_heading = bool(own[at].series) and own[at].series == others[place].series
        otherwise = _find_otherwise(said, read[place], has_heading=has_heading)
        if otherwise:
            yield Contradiction(said=said, otherwise=otherwise, clause=own[at].name)


def _list_stems(text: str) -> set[str]:
    return {word.stem for word in split_words(text)}


def _list_sentences(clause: Clause) -> list[str]:
    ranges = split_sentences(clause.text)[:_MOST_SENTENCES]
    return [sentence for start, end in ranges if (sentence := " ".join(clause.text[start:end].split()))]


def _overlap(sentence: str, quote: str) -> bool:
    quote = " ".join(quote.split())
    return sentence in quote or (len(quote) > 10 and quote in sentence)


def _read_all(clause: Clause) -> Mapping[str, _Reading]:
    """Returns the sentences of a clause, each once, as they are read."""
    readings: dict[str, _Reading] = {}
    for sentence in _list_sentences(clause):
        check_work()
        if sentence not in readings:
            readings[sentence] = _read(sentence)
    return readings


def _find_otherwise(said: str, others: Mapping[str, _Reading], *, has_heading: bool) -> str:
    """Returns the sentence of a clause that is most like another sentence, if it contradicts it; '' if it does not."""
    reading = _read(said)
    if len(reading.values) > _MOST_VALUES:
        return ""
    best: tuple[float, bool, str] = (0.0, False, "")
    for sentence, found in others.items():
        alike = _compare(reading, found, has_heading=has_heading)
        differs = _differ(reading, found, alike)
        if alike > best[0] or (alike == best[0] and best[1] and not differs):
            best = alike, differs, sentence
    alike, differs, sentence = best
    return sentence if differs and not read_sentence(sentence) else ""


def _compare(one: _Reading, other: _Reading, *, has_heading: bool) -> float:
    """Returns the share of words in common; 0 if they are too few to tell that both are of the same matter."""
    common, either = one.words & other.words, one.words | other.words
    if len(common) < (1 if has_heading else 2):
        return 0.0
    alike = len(common) / len(either)
    if not (one.words - other.words and other.words - one.words):
        return alike if alike >= _ALIKE else 0.0
    return alike if alike >= _ALIKE_WITH_OTHERS and {one.first, other.first} <= common else 0.0


def _differ(one: _Reading, other: _Reading, alike: float) -> bool:
    if one.denies != other.denies:
        return alike >= _ALIKE_DENIED and not (_lack(one, other) or _lack(other, one))
    mine, others = _lack(one, other), _lack(other, one)
    if not mine or not others or len(other.values) > _MOST_VALUES:
        return False
    kinds = {kind for kind, _ in mine} & {kind for kind, _ in others}
    times = {"day", "year", "place"}  # amounts of two days, or of the first and the second instalment, are two matters
    if "year" in kinds or (kinds & times and (mine | others) - _of_kinds(mine | others, times)):
        return False
    return any(
        _exclude(value, another) and {one.values[value], other.values[another]} != {"≥", "≤"}
        for value in mine
        for another in others
    )


def _exclude(one: _Value, other: _Value) -> bool:
    """Returns whether not both of two different values can be right: 12 months and 52 weeks can."""
    kinds = {one[0], other[0]}
    return len(kinds) == 1 or "" in kinds or not any(kind.startswith("time") for kind in kinds)


def _lack(one: _Reading, other: _Reading) -> set[_Value]:
    """Returns the values of one sentence that the other lacks. A number without a unit is equal to any with one."""
    numbers = {number for _, number in other.values}
    return {
        (kind, number)
        for kind, number in one.values
        if (kind, number) not in other.values and not (number in numbers and (not kind or ("", number) in other.values))
    }


def _of_kinds(values: set[_Value], kinds: set[str]) -> set[_Value]:
    return {(kind, number) for kind, number in values if kind in kinds}


def _read(sentence: str) -> _Reading:
    values: dict[_Value, str] = {}
    text = _NUMBERED.sub("", _REFERENCE.sub(" ", sentence))
    for sign, pattern in _BOUNDS.items():
        text = pattern.sub(sign, text)
    text = _NO_DENIAL.sub(" ", text)
    for found in reversed(list(find_dates(text))):
        values["day", found.day.isoformat()] = _find_bound(_list_tokens(text[: found.start]), ())
        text = f"{text[: found.start]} {text[found.end :]}"
    tokens = _join_numbers(_list_tokens(text))
    rest: list[str] = []
    denials = 0
    for at, token in enumerate(tokens):
        if token in _ORDINALS:
            values["place", _ORDINALS[token]] = ""
        elif (number := _read_number(token)) is not None:
            value = _with_unit(number, token, tokens, at)  # of `thirty (30) days`, the first one has the sign
            values[value] = _find_bound(tokens[:at], tokens[at + 1 :]) or values.get(value, "")
        elif token in _DENIALS or token in _DENYING or token.endswith(("n't", "n’t")):
            denials += 1
            rest += [_DENYING[token]] if token in _DENYING else []
        elif token not in _UNITS and token not in _AT_WORK and token not in _EMPTY:
            rest.append(_SAME.get(token, token))
    words = [word.stem for word in split_words(" ".join(rest))]
    return _Reading(values, frozenset(words), denials % 2 == 1, words[0] if words else "")


def _list_tokens(text: str) -> list[str]:
    return [token.group().casefold() for token in _TOKEN.finditer(text)]


def _find_bound(before: Sequence[str], after: Sequence[str]) -> str:
    """Returns the sign that is said of a value: some words before it, or next to its unit (`30 days at most`)."""
    for token in reversed(before[-5:]):
        if token in _BOUNDING:
            return _BOUNDING[token]
        if _read_number(token) is not None:
            break
    for token, following in zip(after[:3], [*after[1:4], ""], strict=False):
        if token in _BOUNDING:
            return "" if following and _read_number(following) is not None else _BOUNDING[token]
    return ""


def _join_numbers(tokens: Sequence[str]) -> list[str]:
    """Returns tokens with numbers of several words in digits: `1.5 million`, `two hundred`, `twenty-five`."""
    joined: list[str] = []
    for token in tokens:
        before = _read_number(joined[-1]) if joined and joined[-1] else None
        number = _NUMBERS.get(token)
        if before is None or number is None or number == before:  # `100 (hundred)` says it twice
            joined.append(token)
        elif number >= _LEAST_SCALE:
            # `1.125 million` and `1,250 million` are two numbers each, so none is read
            joined[-1] = "" if _THOUSANDS.fullmatch(joined[-1]) else f"{before * number:.2f}"
        elif joined[-1] in _NUMBERS and 20 <= before < _LEAST_SCALE and 1 <= number < 10:
            joined[-1] = f"{before + number:.2f}"
        else:
            joined.append(token)
    return [token for token in joined if token]


def _read_number(token: str) -> Decimal | None:
    if token in _NUMBERS:
        return _NUMBERS[token]
    if not token[0].isdecimal():
        return None
    parts = re.split(r"[.,'’\u00a0]", token)
    # `1,000` and `1.000` are a thousand in one country or another, `0.500` is a half in each
    is_fraction = len(parts) > 1 and (len(parts[-1]) != 3 or not parts[0].strip("0"))
    whole, fraction = ("".join(parts[:-1]), parts[-1]) if is_fraction else ("".join(parts), "")
    return Decimal(f"{whole}.{fraction or 0}").normalize()


def _with_unit(number: Decimal, token: str, tokens: Sequence[str], at: int) -> _Value:
    """Returns a number in the smallest unit of its kind: `two weeks` and `14 days` are equal."""
    following = [word for word in tokens[at + 1 : at + 5] if word not in _BETWEEN and _read_number(word) is None]
    before = tokens[at - 1] if at and tokens[at - 1] in "€$£" else ""
    kind, factor = _UNITS.get(before) or _UNITS.get(following[0] if following else "", ("", 1))
    if kind == "time" and not _AT_WORK.isdisjoint(tokens[at : tokens.index(following[0], at)]):
        kind = f"time at work {factor}"
    if not kind and len(token) == 4 and token.isdecimal() and 1900 <= number <= 2100:
        return "year", number
    return kind, (number * factor).normalize()
