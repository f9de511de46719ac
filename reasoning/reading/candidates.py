"""The values of passages that can answer a question: names, dates, numbers, or the sides of a choice."""

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum

from core.ports.retrieval import Hit
from core.text.answers import normalise_answer
from core.text.languages import detect_language
from core.text.lead_in import split_lead_in
from core.text.name_spans import find_names
from core.text.value_kinds import ValueKind, find_kind

__all__ = [
    "Form",
    "are_sentences_asked",
    "find_form",
    "is_short_answer_asked",
    "list_candidates",
    "list_judgements",
    "list_sides",
]

_MOST = 60
_LONGEST = 80
_LONGEST_QUESTION = 1000
"""Characters of a question that a few words may answer. A longer text tells a story, and is costly to take apart."""

_BEGINNINGS = {
    ("yes", "no"): re.compile(
        r"(?:is|are|was|were|do|does|did|has|have|had|can|could|may|must|will|would|should|shall)\b", re.IGNORECASE
    ),
    ("ja", "nein"): re.compile(
        r"(?:ist|sind|war|waren|hat|haben|hatte|hatten|kann|können|wird|werden|darf|dürfen|muss|müssen|gibt)\b",
        re.IGNORECASE,
    ),
    ("oui", "non"): re.compile(r"(?:est-ce|est-elle|est-il|a-t-il|a-t-elle)\b", re.IGNORECASE),
    ("sí", "no"): re.compile(r"¿?(?:es|son|está|hay|fue|era|tiene)\b", re.IGNORECASE),
}
"""How a question begins that is answered by these words."""
_ENGLISH_OR_GERMAN = re.compile(r"was\b", re.IGNORECASE)
_ASKED_FOR = re.compile(
    r"\b(?:who|whom|whose|when|where|which|what|how (?:many|much|long|far|old|often|tall|high|big|large)"
    r"|wer|wem|wen|wessen|wann|wo|woher|wohin|welche[nmrs]?|wie ?(?:viele?n?|lange|alt|hoch|groß|oft|weit)"
    r"|qui|quand|où|quel(?:le)?s?|combien|quién(?:es)?|cuándo|dónde|cuál(?:es)?|cuánt[oa]s?)\b",
    re.IGNORECASE,
)
_TOLD = re.compile(
    r"\b(?:why|how (?:do|does|did|can|could|should|is|are|was|were|has|have|to)|explain|describe|summari[sz]e|list"
    r"|compar(?:e|ing)|discuss|outline|analy[sz]e|evaluate|assess|combine"
    r"|what (?:happens|are the|were the|is the difference)"
    r"|warum|weshalb|erkläre|beschreibe|fasse|nenne|vergleiche|wie (?:kann|wird|funktioniert|werden)"
    r"|pourquoi|comment|explique[rz]?|décri[svrez]+|résume[rz]?|liste[rz]?|por qué|cómo|explica|describe|resume)\b",
    re.IGNORECASE,
)
_SEVERAL = re.compile(
    r"\b(?:and|und|et|y) (?:if (?:so|not)|to what extent|how|why|what|which|when|where|wie|warum|welche[nmrs]?|wann"
    r"|wo|comment|pourquoi|quel(?:le)?s?|quand|où|cómo|qué|cuándo)\b"
    r"|\bwh(?:at|ich) (?:\w+ ){0,2}(?:changes|trends|factors|reasons|risks|measures|proceedings|steps|effects)\b"
    r"|\b(?:correlation|relationship|trends|breakdown|implications?)\b"
    r"|\bthe (?:\w+ ){0,2}(?:drivers?|contributors?|rationale|impact (?:of|on))\b",
    re.IGNORECASE,
)
"""A question in two parts, or for a list or a relation: "yes", or one name, is no answer to it."""
_OR = re.compile(r"(?<=\s)(?:or|oder|ou)(?=\s)")

_MONTHS = (
    "January|February|March|April|May|June|July|August|September|October|November|December"
    "|Januar|Februar|März|Mai|Juni|Juli|Oktober|Dezember"
    "|janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre"
)
_DATE = re.compile(
    rf"\b(?:\d{{1,2}}\.?\s)?(?:{_MONTHS})(?:\s\d{{1,2}}(?:st|nd|rd|th)?)?(?:,?\s\d{{4}})?\b"
    r"|\b\d{1,4}[./-]\d{1,2}[./-]\d{1,4}\b|\b(?:1\d|20)\d\d(?:\s?[–-]\s?(?:(?:1\d|20)?\d\d))?\b"
)
_AMOUNT = re.compile(r"(?:[$€£¥]\s?|\b(?:USD|EUR|CHF)\s)?\d[\d.,]{0,20}(?:\s?%|(?:\s[a-zäöüß]{2,20}){0,2})")


class Form(StrEnum):
    """The form of a question's answer."""

    JUDGEMENT = "judgement"
    """Yes or no."""
    CHOICE = "choice"
    """One of the sides that the question names."""
    VALUE = "value"
    """A date, a number, a name or a few words."""


def find_form(question: str) -> Form:
    if list_sides(question):
        return Form.CHOICE
    return Form.JUDGEMENT if list_judgements(question) else Form.VALUE


def is_short_answer_asked(question: str) -> bool:
    """Returns whether a few words answer a question: it asks who, when, which or how many, or whether something is so,
    nothing in it asks for an explanation, a list, a summary or a second thing, and it is no longer than 1,000
    characters.
    """
    if are_sentences_asked(question):
        return False
    return bool(list_judgements(question)) or _ASKED_FOR.search(question) is not None


def are_sentences_asked(question: str) -> bool:
    """Returns whether a question asks for an explanation, a list, a comparison, or two things, or is a long text."""
    if len(question) > _LONGEST_QUESTION:
        return True
    return _TOLD.search(question) is not None or _SEVERAL.search(question) is not None


def list_judgements(question: str) -> tuple[str, ...]:
    """Returns yes and no in the language of a question that is answered by them; empty for any other."""
    _, asked = split_lead_in(question)
    if _ENGLISH_OR_GERMAN.match(asked.lstrip()) and detect_language([asked]) == "de":
        return ()  # "Was bedeutet das?"
    return next((words for words, beginning in _BEGINNINGS.items() if beginning.match(asked.lstrip())), ())


def list_sides(question: str) -> tuple[str, ...]:
    """Returns the names of the question between which it offers a choice; empty if it offers none."""
    names = find_names(question)
    for found in _OR.finditer(question):
        left = [name for name in names if name.end <= found.start()]
        right = [name for name in names if name.start >= found.end()]
        if left and right and found.start() - left[-1].end < 3 and right[0].start - found.end() < 6:
            return (left[-1].form, right[0].form)
    return ()


def list_candidates(question: str, hits: Sequence[Hit]) -> tuple[str, ...]:
    """Returns the values of the requested kind in the hits, in their order, each once.

    A name in the question is left out, unless the question chooses between names.
    """
    found: Iterator[str]
    match find_kind(question):
        case ValueKind.DATE:
            found = (one.group() for hit in hits for one in _DATE.finditer(hit.chunk.text))
        case ValueKind.NUMBER | ValueKind.DURATION:
            found = (one.group() for hit in hits for one in _AMOUNT.finditer(hit.chunk.text))
        case _:
            found = _names(question, hits, with_digits=find_kind(question) is ValueKind.NONE)
    return _distinct(found)


def _names(question: str, hits: Sequence[Hit], *, with_digits: bool) -> Iterator[str]:
    asked = f" {normalise_answer(question)} "
    for hit in hits:
        for name in (_without_addition(hit.document.title), *(one.form for one in find_names(hit.chunk.text))):
            is_asked = f" {normalise_answer(name)} " in asked
            if not is_asked and (with_digits or not any(map(str.isdigit, name))):
                yield name


def _without_addition(title: str) -> str:
    """`Green (album)` is called Green."""
    return re.sub(r"\s\([^()]*\)\Z", "", title)


def _distinct(found: Iterable[str]) -> tuple[str, ...]:
    candidates: dict[str, str] = {}
    for one in found:
        value = one.strip(" ,.;:")
        if value and len(value) <= _LONGEST and (known := normalise_answer(value)):
            candidates.setdefault(known, value)
        if len(candidates) == _MOST:
            break
    return tuple(candidates.values())
