"""Definitions of terms, `“Maturity Date” means 3 May 2031.`: clauses use the term, and the value stands here alone.

Open it to teach forms of definitions.
"""

import re
from collections.abc import Iterator, Sequence

from core.ports.retrieval import Hit
from core.text.terms import split_words
from core.text.value_kinds import ValueKind, find_digits, find_stems, has_value
from core.text.word_lists import SMALL_WORDS
from reasoning.strategies.extractive.quoting.asked import Asked
from reasoning.strategies.extractive.quoting.units import READ, Unit

_DEFINES = re.compile(
    r"[\"“„«]\s?[*_]{0,3}(?P<term>[^\W\d_][^\"“”„«»*_;:.]{1,60})[*_]{0,3}\s?[\"”“»]\s{1,3}(?:\([^()\n]{1,60}\)\s)?"
    r"(?:(?:shall |will )?(?:means?|have|has|refers? to|is|are|be)\b|bedeutet|bezeichnet|ist\b|sind\b|heißt"
    r"|désigne|signifie|est\b)",
    re.IGNORECASE,
)
_USED = re.compile(r"\b[A-ZÀ-ÖØ-Þ][\w-]{1,30}(?:\s[A-ZÀ-ÖØ-Þ][\w-]{1,30}){0,4}")
"""Words with capitals, as an agreement writes its defined terms."""
_ASKS_MEANING = re.compile(
    r"\W{0,3}(?:what|was|wie|qu['’]est-ce)\s(?:is|are|was|were|does|do|ist|sind|bedeutet|heißt|lautet|que)\s"
    r"(?:meant by\s|the meaning of\s|the definition of\s|la définition de\s)?"
    r"(?:(?:the|an?|der|die|das|le|la|un|une)\s|l['’])?[\"“„«]?(?P<term>[^\"“”„«»?]{2,60}?)[\"”“»]?(?:\smeans?)?"
    r"(?P<whose>\s(?:of|under|von|nach|de|du|selon)\s[^?\d]{2,80})?\W{0,3}\Z",
    re.IGNORECASE,
)
_HEADS = {
    ValueKind.DATE: ("date", "datum", "termin"),
    ValueKind.DURATION: ("period", "term", "frist", "laufzeit", "durée", "période"),
}
"""Last words of terms that are of a kind."""
_OF_KIND = 10.0
"""More than words weigh: such a term stands in the place of the value."""
_QUOTED = 3
"""Units that are quoted."""
_LEAST_OF_QUESTION = 0.5
"""The share of the words' weight that a term must have, so that its definition goes first."""
_MOST_READ = 100
"""Definitions that are compared."""
_MOST_TERMS = 2
"""Terms whose definitions are looked for."""
_PREFIX = 5
"""Letters that a word of a term and a word of a question must share: "Maturity", "mature"."""


def list_sought_terms(asked: Asked, question: str, units: Sequence[Unit]) -> tuple[str, ...]:
    """Returns the terms whose definitions may answer a question, if none of the units defines them: the term whose
    meaning is asked for, or those that the best units use in the place of the wanted value.
    """
    known = {_fold(term) for unit in units for term in _list_defined(unit.text)}
    meaning = _ASKS_MEANING.match(question)
    sought = [meaning["term"].strip()] if meaning else []
    if not _has_value(asked, units[:1]):
        used = _weigh_used(asked, units)
        sought += sorted(used, key=lambda term: -used[term])
    return tuple(dict.fromkeys(term for term in sought if _fold(term) not in known))[:_MOST_TERMS]


def defines(hit: Hit, term: str) -> bool:
    """Returns whether a hit has the definition of a term."""
    return any(_fold(found) == _fold(term) for found in _list_defined(hit.chunk.text[:READ]))


def find_definition(asked: Asked, question: str, units: Sequence[Unit]) -> tuple[int, int] | None:
    """Returns the place of the unit that defines the term whose meaning is asked for, or that a better unit uses in the
    place of the wanted value, and the place where it belongs; None if there is none.

    It goes first if it tells the meaning, or if the term has most words of the question. Else it goes behind the best
    unit, which may answer without it.
    """
    meaning = _ASKS_MEANING.match(question)
    defining = [(place, unit, term) for place, unit in enumerate(units) for term in _list_defined(unit.text)][
        :_MOST_READ
    ]
    for place, _, term in defining:
        if meaning and _is_meant(meaning, term):
            return place, 0
    if not units or _has_value(asked, units[:1]):
        return None
    used = _weigh_used(asked, units)
    weighed = [
        (used[term], -place, term)
        for place, unit, term in defining
        if place and term in used and _tells(asked, meaning is not None, term, unit)
    ]
    if not weighed:
        return None
    _, place, term = max(weighed)
    total = sum(word.weight for word in asked.words if not word.is_name and not word.is_kind)
    return -place, 0 if _weigh(asked, term) >= _LEAST_OF_QUESTION * total else 1


def _is_meant(meaning: re.Match[str], term: str) -> bool:
    """Returns whether a question asks what a term is. "of the loan" may stand behind it if it has the capitals of the
    term.
    """
    asked = " ".join(meaning["term"].split())
    return asked == term if meaning["whose"] else _fold(asked) == _fold(term)


def _tells(asked: Asked, asks_meaning: bool, term: str, unit: Unit) -> bool:
    """Returns whether a definition has the wanted value, or the question asks what it is and says the whole term."""
    if asked.kind is not ValueKind.NONE:
        return _has_value(asked, [unit])
    return asks_meaning and len(term.split()) > 1 and find_stems(term) <= asked.stems


def _has_value(asked: Asked, units: Sequence[Unit]) -> bool:
    """Returns whether a unit has a value of the kind that is asked for, or any number, if no kind is known."""
    if asked.kind is ValueKind.NONE:
        return any(find_digits(unit.text) - asked.digits for unit in units)
    return any(has_value(asked.kind, unit.text, stems=asked.stems, digits=asked.digits) for unit in units)


def _list_defined(text: str) -> Iterator[str]:
    for found in _DEFINES.finditer(text):
        yield " ".join(found["term"].split())


def _list_used(unit: Unit) -> frozenset[str]:
    """Returns the terms that a sentence uses, and does not define, as far as they are known by their capitals."""
    terms = set()
    for found in _USED.finditer(unit.text) if not unit.is_row else ():
        words = found[0].split()
        while words and words[0].casefold() in SMALL_WORDS:
            words = words[1:]
        terms.add(" ".join(words))
    return frozenset(terms.difference(_list_defined(unit.text), [""]))


def _weigh_used(asked: Asked, units: Sequence[Unit]) -> dict[str, float]:
    """Returns the terms that the best units use, with the weight of their words of the question. A term of the best
    unit may also say by its last word that it is of the kind that is asked for.
    """
    weights = {term: _weigh(asked, term) for unit in units[:_QUOTED] for term in _list_used(unit)}
    for term in frozenset[str]().union(*map(_list_used, units[:1])):
        weights[term] += _OF_KIND * (term.split()[-1].casefold() in _HEADS.get(asked.kind, ()))
    return {term: weight for term, weight in weights.items() if weight}


def _weigh(asked: Asked, term: str) -> float:
    """Returns the weight of the words of a question that a term has. A name counts only in a term of several words that
    the question has whole: other names are of parties.
    """
    stems = [word.stem for word in split_words(term)]
    is_whole = len(stems) > 1 and asked.stems.issuperset(stems)
    return sum(
        word.weight
        for word in asked.words
        if (is_whole or not word.is_name) and any(_is_same(word.stem, stem) for stem in stems)
    )


def _is_same(first: str, second: str) -> bool:
    shorter = min(len(first), len(second))
    return first == second or (shorter >= _PREFIX and first[:shorter] == second[:shorter])


def _fold(term: str) -> str:
    return " ".join(term.casefold().split())
