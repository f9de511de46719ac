"""What a question asks for: its words with their weights, its names, and the kind of value that answers it.

Open it to change which words count, or how a question for a number, a date or a person is known.
"""

import re
from dataclasses import dataclass
from math import log1p

from core.passage_context.named_parts import asks_for_release
from core.passage_context.other_words import OtherWords, find_near_words, find_other_words, find_said_labels
from core.ports.retrieval import PassageCounts
from core.text.terms import split_words
from core.text.value_kinds import (
    GENERIC,
    ValueKind,
    find_digits,
    find_kind,
    find_name_spans,
    find_signs,
    find_stems,
)
from core.text.word_lists import KIND_QUESTION_WORDS, SMALL_WORDS
from reasoning.strategies.extractive.quoting.wording import Wanted, asks_for_place, find_wanted, speaks_of_growth

_MOST = 60
"""Only so many first stems of a question count, so that a pasted text costs no more."""
READ = 8000
"""Characters of a question that are read."""
_MOST_READ = 400
_OTHER_WORDS_READ = 2000
_ASKED_WEIGHT = 0.5
"""The factor of a noun behind "which": it says what kind of thing is asked for, in words that may be others."""
_SIGN_WEIGHT, _SHORT_WEIGHT = 0.6, 0.5
"""The factors of a sign such as `6.3.1.5`, which no statistics have, and of a digit alone."""
_FREQUENT = 0.2
"""If a greater share of the passages has a word, its absence tells nothing."""
_FEWEST_PASSAGES = 20
"""Of fewer passages, no word is frequent."""


@dataclass(frozen=True, kw_only=True, slots=True)
class AskedWord:
    """A word of a question. `is_name`: it has a digit, or it is a word of a name. `is_kind`: it names the kind of thing
    that is asked for, as "city" in "Which city" and "old" in "How old", which the answer need not have.
    """

    stem: str
    written: str
    weight: float
    is_name: bool = False
    is_kind: bool = False
    is_frequent: bool = False


_ANYTHING = Wanted()


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """The words of a question, each stem once, in order. `is_question`: it has a question word or a question mark, so
    it is no list of words as they are typed into a search box. `is_open`: it begins with such a word, so yes is no
    answer. `asks_for_release`: it asks which version it is. `counts`: it asks how many there are, and
    `asks_for_amount`: for that, or for an amount of a statement; a percentage is no answer. A question that asks for a
    reason asks for no value.
    """

    words: tuple[AskedWord, ...]
    stems: frozenset[str]
    digits: frozenset[str]
    kind: ValueKind
    is_question: bool
    is_open: bool
    wanted: Wanted = _ANYTHING
    asks_for_place: bool = False
    asks_for_release: bool = False
    counts: bool = False
    asks_for_amount: bool = False
    other_words: tuple[OtherWords, ...] = ()
    near_words: tuple[OtherWords, ...] = ()


_KIND_WORDS = "|".join(sorted(KIND_QUESTION_WORDS))
_OPEN = re.compile(
    r"\b(?:who|whom|whose|when|where|why|how|what|which|whats"
    r"|wer|wem|wen|wessen|wann|wo|woher|wohin|warum|weshalb|wie|wieviel|wieviele|was"
    r"|qui|quand|où|pourquoi|comment|combien|quoi|qu[’']est"
    r"|quién|quiénes|cuándo|dónde|cómo|cuánto|cuánta|cuántos|cuántas|qué|cuál|cuáles"
    r"|chi|quando|dove|come|quanto|quanti|quante|perché|wie|wanneer|waar|waarom|hoe|hoeveel|quem|onde|quanto"
    rf"|{_KIND_WORDS})\b",
    re.IGNORECASE,
)
_HOW_MANY = re.compile(r"\b(?:how many|wie ?viele|combien d[e’'])", re.IGNORECASE)
_OF_SHARES = re.compile(
    r"%|\b(?:per ?cent|percentages?|shares? of|portion|proportion|fraction|rates?|margins?|ratios?|yield|compar\w{1,5}"
    r"|higher|lower|how much of|Prozent\w{0,6}|Anteil|Quote|Marge|taux|marge|pour ?cent)(?!\w)",
    re.IGNORECASE,
)
"""Words of questions that a percentage may answer."""
_MEASURED_BY = frozenset({"how", "wie"})
_MEASURES = frozenset(
    {"often", "old", "big", "large", "tall", "high", "long", "far", "fast", "deep", "heavy", "wide", "hot", "cold"}
    | {"oft", "alt", "groß", "hoch", "lang", "weit", "schnell", "teuer", "schwer", "tief"}
)
"""Words behind `_MEASURED_BY` that say which kind of number is asked for."""
_WORD_BEFORE = 20
_LAST_WORD = re.compile(r"(?<!\w)(\w++)\s\Z")


def read_question(text: str, counts: PassageCounts) -> Asked:
    """Returns what a question asks for; `counts` weighs its words."""
    text = text[:READ]
    named = find_name_spans(text)
    words: dict[str, AskedWord] = {}
    for word in split_words(text)[:_MOST_READ]:
        written = text[word.start : word.end]
        if word.stem in words or written.casefold() in SMALL_WORDS:
            continue
        before = _LAST_WORD.search(text[max(0, word.start - _WORD_BEFORE) : word.start])
        word_before = before[1].casefold() if before is not None else ""
        is_asked = word_before in KIND_QUESTION_WORDS
        is_measure = word_before in _MEASURED_BY and written.casefold() in _MEASURES
        words[word.stem] = AskedWord(
            stem=word.stem,
            written=written,
            weight=_weigh(word.stem, counts) * (_ASKED_WEIGHT if is_asked else 1),
            is_name=any(c.isdigit() for c in written) or any(s <= word.start and word.end <= e for s, e in named),
            is_kind=is_measure or (is_asked and GENERIC.fullmatch(written) is not None),
            is_frequent=_is_frequent(word.stem, counts),
        )
    for sign in sorted(find_signs(text) - words.keys() - {""})[:_MOST]:
        weight = _SIGN_WEIGHT * _weigh(sign, counts) * (1 if len(sign) > 1 else _SHORT_WEIGHT)
        words[sign] = AskedWord(stem=sign, written=sign, weight=weight, is_name=True)
    is_open = _OPEN.search(text) is not None
    wanted = find_wanted(text)
    return Asked(
        words=tuple(words.values())[:_MOST],
        stems=find_stems(text),
        digits=find_digits(text),
        kind=ValueKind.NONE if wanted.reason else find_kind(text),
        is_question=is_open or text.rstrip().endswith(("?", "？", "؟")),
        is_open=is_open,
        wanted=wanted,
        asks_for_place=asks_for_place(text),
        asks_for_release=asks_for_release(text),
        counts=_HOW_MANY.search(text) is not None,
        asks_for_amount=_asks_for_amount(text[:_OTHER_WORDS_READ]),
        other_words=tuple(find_other_words(text[:_OTHER_WORDS_READ])),
        near_words=tuple(find_near_words(text[:_OTHER_WORDS_READ])),
    )


def _asks_for_amount(question: str) -> bool:
    """Returns whether a question asks how many there are, or for an amount of a statement, and for no percentage."""
    if _OF_SHARES.search(question) is not None or speaks_of_growth(question):
        return False
    return _HOW_MANY.search(question) is not None or bool(find_said_labels(question))


def _weigh(stem: str, counts: PassageCounts) -> float:
    """Returns Lucene's idf, the greatest for a stem that no passage has; 1 if nothing is known."""
    if not counts.passages:
        return 1.0
    having = min(counts.having.get(stem, 0), counts.passages)
    return log1p((counts.passages - having + 0.5) / (having + 0.5))


def _is_frequent(stem: str, counts: PassageCounts) -> bool:
    return counts.passages >= _FEWEST_PASSAGES and counts.having.get(stem, 0) > _FREQUENT * counts.passages
