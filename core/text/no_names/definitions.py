"""Terms that a document defines: `(the "Receiving Party")`, `"Disability" means`. They name nothing outside of it.

Used by `core.text.name_evidence` and `core.text.no_names.document_names`.
"""

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from core.execution.limits import check_work
from core.text.no_names.forms import is_common, is_inflected, is_plain
from core.text.word_lists import ARTICLES, FUNCTION_WORDS

_MARKS = r"[*_]{0,3}"
"""Signs of Markdown around what is defined."""
_QUOTED = re.compile(rf"{_MARKS}[\"“]{_MARKS}(?P<form>[^\W_](?:[\w&/'’ -]|, ){{0,58}}[^\W_]){_MARKS}[,.]?[\"”]{_MARKS}")
_DEFINES_BEFORE = re.compile(
    r"(?:\(|\b(?:each|collectively|individually|jointly|together),?|\bhereafter|\bhereinafter|\bknown\sas|\breferred\sto\sas"
    r"|\bdefined\sas|\bcalled|\bdesignated\sas|\band|\bor)\s?(?:,?\s?(?:the|an?|our|as)\s){0,2}$",
    re.IGNORECASE,
)
_CERTAIN_BEFORE = re.compile(
    r"(?:\((?:each|collectively|together|individually|jointly|such|hereinafter|hereafter)?,?\s?(?:the|an?|our|as)\s"
    r"|\b(?:hereafter|hereinafter|referred\sto\sas|collectively|each)\b[^\"“”\n]{0,24})$",
    re.IGNORECASE,
)
_MEANS = re.compile(r",?\s(?:shall\s)?(?:means?|includes?|refers?|ha(?:s|ve)\sthe\smeanings?)\b")
_ENDS = re.compile(r"[\s.,;]{0,2}(?:\)|\]|and\b|or\b)")
_LONGEST_BEFORE = 48
_LONGEST_NAME = 200
"""Characters before a quote in which the name that it abbreviates may stand."""
_LEAST_TERMS = 2
"""The fewest terms of a document that defines terms, one of them without doubt; else a title in parentheses is none."""
_NEIGHBOUR_BEHIND = re.compile(r",?\s(?:(?:of|and|&|the|for|in)\s){0,2}([A-Z][\w.&’'-]*)")


def find_definitions(texts: Iterable[str]) -> frozenset[str]:
    """Returns the terms of common words that the texts of a document define, each as `fold_term` gives it.

    What abbreviates a longer name before it (`Best Buy Co., Inc. ("Best Buy")`) is a name and no term.
    """
    terms, told = set[str](), set[str]()
    is_certain = False
    for text in texts:
        check_work()
        for definition in _find_in_text(text):
            term = fold_term(definition.form)
            told.add(term)
            is_certain = is_certain or definition.is_certain
            if definition.is_term:
                terms.add(term)
    return frozenset(terms) if is_certain and len(told) >= _LEAST_TERMS else frozenset()


def is_party(form: str) -> bool:
    """Whether a form is a party of a contract, who acts in it: `Receiving Party`. Questions name such a party.

    `Third Party` and `Other Party` are anybody.
    """
    words = form.casefold().split()
    return len(words) > 1 and words[-1] in ("party", "parties") and not FUNCTION_WORDS.issuperset(words[:-1])


def fold_term(form: str) -> str:
    """Returns a term without article, genitive, plural and capitals: `Third Parties` and `third party` are the same."""
    words = form.casefold().split()
    if len(words) > 1 and words[0] in ARTICLES:
        del words[0]
    last = words[-1].removesuffix("'s").removesuffix("’s").rstrip("'’")
    if last.endswith("ies") and len(last) > 4:
        last = last[:-3] + "y"
    elif last.endswith("s") and not last.endswith("ss") and len(last) > 3:
        last = last[:-1]
    return " ".join((*words[:-1], last))


class _Definition(NamedTuple):
    """A quoted form beside words that define it; `is_certain`: they do nothing else. `is_term`: it is no name."""

    form: str
    is_certain: bool
    is_term: bool


def _find_in_text(text: str) -> Iterator[_Definition]:
    if '"' not in text and "“" not in text:
        return
    for quote in _QUOTED.finditer(text):
        form = quote["form"]
        if not form[0].isupper() and form.split(maxsplit=1)[0] not in ARTICLES:
            continue
        before = text[max(quote.start() - _LONGEST_BEFORE, 0) : quote.start()]
        means = _MEANS.match(text, quote.end()) is not None
        is_certain = means or _CERTAIN_BEFORE.search(before) is not None
        if not is_certain and not (_DEFINES_BEFORE.search(before) and _ENDS.match(text, quote.end())):
            continue
        is_term = _is_plain(form) and not _abbreviates(text, quote.start(), form)
        yield _Definition(form, is_certain=is_certain, is_term=is_term)


def _is_plain(form: str) -> bool:
    """Whether a form is common words with capitals, and no acronym."""
    words = [word for word in form.split() if word.casefold() not in FUNCTION_WORDS]
    return (
        bool(words)
        and all(is_common(word) or is_inflected(word.casefold()) for word in words)
        and any(map(is_plain, words))
        and not any(word.isupper() for word in words)
    )


def _abbreviates(text: str, start: int, form: str) -> bool:
    """Whether the form stands before `start`, as a whole (`Quantum Labs, a company ("Quantum Labs")`) or as a part of a
    longer name. A single word at the end of a longer name is only its main noun: `Non-Disclosure Agreement
    ("Agreement")`.
    """
    begin = max(text.rfind("\n\n", 0, start), start - _LONGEST_NAME, 0)
    before = " ".join(text[begin:start].split())
    at = before.find(form)
    while at >= 0:
        end = at + len(form)
        neighbour = _NEIGHBOUR_BEHIND.match(before, end)
        if " " in form or (neighbour is not None and neighbour[1].casefold() not in FUNCTION_WORDS):
            return True
        at = before.find(form, end)
    return False
