"""Linking of a question's names to entities by name alone. Open it when a question starts from the wrong entities.

First comes truecasing: whether a word of a question without capitals is a name, by how the corpus writes it.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from core.text.name_spans import find_names
from core.text.names import normalise
from core.text.terms import MARKS, hash_stem, split_words
from core.text.word_lists import FUNCTION_WORDS
from retrieval.graph.names import NameIndex, fold_name
from retrieval.graph.terms import TermStatistics

NameShare = Callable[[str], float]
"""Returns the confidence that a word is a name, from 0 to 1."""


def build_name_share(statistics: TermStatistics) -> NameShare:
    """Returns a function that gives (capital + 0.5) / (capital + lower + 0.5) of a word's stem; 0 for a stop word.

    1 means that the corpus never writes the word without a capital; a word of a script without capitals is never
    written otherwise. In a corpus that is written in capitals alone, no word with capitals is a name.
    """
    cased = statistics.is_cased

    def share(word: str) -> float:
        if not cased and not _is_caseless(word):
            return 0.0
        stems = np.array([hash_stem(one.stem) for one in split_words(word)], np.uint32)
        capital, lower = statistics.casing(stems)
        shares = (capital + 0.5) / (capital + lower + 0.5)
        return float(shares.max(initial=0.0)) if len(stems) else 0.0

    return share


def _is_caseless(word: str) -> bool:
    """Returns whether the word is of a script without capitals, such as Arabic; a number is not."""
    return any(char.isalpha() for char in word) and not any(char.isupper() or char.islower() for char in word)


_CHARACTER = (
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    r"\U00020000-\U0003ffff]"
)
_TOKEN = re.compile(rf"{_CHARACTER}|(?:(?!{_CHARACTER})[^\W_]|[{MARKS}])+(?:\+\+|[+#](?!\w))?")
_WORD_COST, _CHARACTER_COST, _LIMIT = 3, 1, 24
"""A name has at most 8 words, or 24 characters of a script without spaces."""

_LEAST_SHARE = 0.5
"""The least share by which a single word of a question without capitals is a name."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NameLink:
    """A name in the question at `[start, end)`, the entities (by position) that have it, and the confidence, from 0 to
    1.
    """

    start: int
    end: int
    entities: tuple[int, ...]
    confidence: float = 1.0


@dataclass(frozen=True, kw_only=True, slots=True)
class _Token:
    """One word, or one character of a script without spaces; `cost` counts towards the longest name that is
    looked up.
    """

    start: int
    end: int
    key: str
    cost: int
    marked: bool
    """Whether the token has a capital or a digit, or is of a script without capitals: a name may consist of such
    tokens.
    """


_READ = 8000
"""Characters of a question in which names are looked for. Without spaces, two dozen names may begin at each."""


def link_names(question: str, index: NameIndex, share: NameShare) -> list[NameLink]:
    """Returns the names of the question in order. Names do not overlap.

    - If the question has capitals, a name must hold a capital or a digit.
    - If it has no capitals, or only capitals, each run of words that is the name of an entity counts, the longest
      first. A single word counts only if its `share`, by how the corpus writes it, is at least 0.5; the share is its
      confidence.
    - At the end, names that `find_names` sees and that no link overlaps are looked up as a whole.
    """
    question = question[:_READ]
    written = any(c.isupper() for c in question[1:]) and not question.isupper()
    tokens = [_token(match) for match in _TOKEN.finditer(question)]
    links = list(_find_longest(question, tokens, index, share, written=written))
    for name in find_names(question):
        if all(one.end <= name.start or name.end <= one.start for one in links):
            entities = _find_entities(name.form, fold_name(name.form), index)
            if entities:
                links.append(NameLink(start=name.start, end=name.end, entities=entities))
    return sorted(links, key=lambda one: one.start)


def _token(match: re.Match[str]) -> _Token:
    word = match.group()
    spaceless = re.match(_CHARACTER, word) is not None
    caseless = not any(c.isupper() or c.islower() for c in word) and not word.isascii()
    return _Token(
        start=match.start(),
        end=match.end(),
        key=fold_name(word),
        cost=_CHARACTER_COST if spaceless else _WORD_COST,
        marked=caseless or any(c.isupper() or c.isdecimal() for c in word),
    )


def _find_longest(
    question: str, tokens: list[_Token], index: NameIndex, share: NameShare, *, written: bool
) -> Iterator[NameLink]:
    spans = [
        (first, last, _fold_span(tokens[first : last + 1]))
        for first in range(len(tokens))
        for last in _ends_from(tokens, first)
        if _is_eligible(tokens[first : last + 1], first=first == 0, written=written)
    ]
    known = index.known([key for _, _, key in spans])
    found = {(first, last): key for (first, last, key), yes in zip(spans, known, strict=True) if yes}
    at = 0
    while at < len(tokens):
        for last in reversed(_ends_from(tokens, at)):
            key = found.get((at, last))
            form = question[tokens[at].start : tokens[last].end]
            entities = _find_entities(form, key, index) if key is not None else ()
            confidence = 1.0 if written or last > at else share(form)
            if entities and (last > at or confidence >= _LEAST_SHARE):
                yield NameLink(start=tokens[at].start, end=tokens[last].end, entities=entities, confidence=confidence)
                at = last
                break
        at += 1


def _ends_from(tokens: list[_Token], first: int) -> range:
    """Returns the positions at which a name that begins at `first` may end."""
    cost, last = 0, first
    while last < len(tokens) and cost + tokens[last].cost <= _LIMIT:
        cost += tokens[last].cost
        last += 1
    return range(first, last)


def _is_eligible(span: list[_Token], *, first: bool, written: bool) -> bool:
    if len(span) == 1:
        word = span[0]
        if word.cost == _CHARACTER_COST:
            return False
        if not written:
            return word.key not in FUNCTION_WORDS and (len(word.key) >= 3 or not word.key.isalpha())
        if first and word.key in FUNCTION_WORDS:
            return False
    return not written or any(token.marked for token in span)


def _fold_span(span: list[_Token]) -> str:
    parts = [span[0].key]
    for left, right in pairwise(span):
        parts += [" " if left.end < right.start else "", right.key]
    key = "".join(parts)
    return fold_name(key) if key.startswith("the ") else key


def _find_entities(form: str, key: str, index: NameIndex) -> tuple[int, ...]:
    """Returns the entities with exactly this form as their name, or else the entities that share its key."""
    return tuple(index.find_exact(key, normalise(form)) or index.entities(key))
