"""A question's names to the corpus' entities, by name alone."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from core.text.names import normalise
from core.text.surface import FUNCTION_WORDS, find_names
from retrieval.graph.name_index import NameIndex, fold_name
from retrieval.pagerank.truecase import NameShare

__all__ = ["NameLink", "link_names"]

_CHARACTER = (
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    r"\U00020000-\U0003ffff]"
)
_TOKEN = re.compile(rf"{_CHARACTER}|(?:(?!{_CHARACTER})[^\W_]|[\u0300-\u036f])+(?:\+\+|[+#](?!\w))?")
_WORD_COST, _CHARACTER_COST, _LIMIT = 3, 1, 24
"""A name is looked for in up to 8 words, or 24 characters of a script without spaces."""


_LEAST_SHARE = 0.5
"""In a question without capitals a single word is a name only if the corpus writes it as one at least this often."""


@dataclass(frozen=True, kw_only=True, slots=True)
class NameLink:
    """A name in the question at `[start, end)`, the entities (by position) that bear it, and how sure that is."""

    start: int
    end: int
    entities: tuple[int, ...]
    confidence: float = 1.0


@dataclass(frozen=True, kw_only=True, slots=True)
class _Token:
    start: int
    end: int
    key: str
    cost: int
    marked: bool
    """A capital, a digit, or a script without capitals: a name may consist of this word."""


def link_names(question: str, index: NameIndex, share: NameShare) -> list[NameLink]:
    """The names of the question, in order, none overlapping another.

    A question with capitals is taken at its word: a name holds a capital or a digit. In one without (or in nothing but
    capitals) any run of words that is an entity's name counts, the longest first; a single word only if its `share`, as
    the corpus writes it, is that of a name, and with that confidence.
    """
    written = any(c.isupper() for c in question[1:]) and not question.isupper()
    tokens = [_token(match) for match in _TOKEN.finditer(question)]
    links = list(_longest(question, tokens, index, share, written=written))
    for name in find_names(question):
        if all(one.end <= name.start or name.end <= one.start for one in links):
            entities = _bearers(name.form, fold_name(name.form), index)
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


def _longest(
    question: str, tokens: list[_Token], index: NameIndex, share: NameShare, *, written: bool
) -> Iterator[NameLink]:
    spans = [
        (first, last, _key(tokens[first : last + 1]))
        for first in range(len(tokens))
        for last in _reach(tokens, first)
        if _eligible(tokens[first : last + 1], first=first == 0, written=written)
    ]
    known = index.known([key for _, _, key in spans])
    found = {(first, last): key for (first, last, key), yes in zip(spans, known, strict=True) if yes}
    at = 0
    while at < len(tokens):
        for last in reversed(_reach(tokens, at)):
            key = found.get((at, last))
            form = question[tokens[at].start : tokens[last].end]
            entities = _bearers(form, key, index) if key is not None else ()
            confidence = 1.0 if written or last > at else share(form)
            if entities and (last > at or confidence >= _LEAST_SHARE):
                yield NameLink(start=tokens[at].start, end=tokens[last].end, entities=entities, confidence=confidence)
                at = last
                break
        at += 1


def _reach(tokens: list[_Token], first: int) -> range:
    """The last tokens that a name may have which begins at `first`."""
    cost, last = 0, first
    while last < len(tokens) and cost + tokens[last].cost <= _LIMIT:
        cost += tokens[last].cost
        last += 1
    return range(first, last)


def _eligible(span: list[_Token], *, first: bool, written: bool) -> bool:
    if len(span) == 1:
        word = span[0]
        if word.cost == _CHARACTER_COST:
            return False
        if not written:
            return word.key not in FUNCTION_WORDS and (len(word.key) >= 3 or not word.key.isalpha())
        if first and word.key in FUNCTION_WORDS:
            return False
    return not written or any(token.marked for token in span)


def _key(span: list[_Token]) -> str:
    parts = [span[0].key]
    for left, right in pairwise(span):
        parts += [" " if left.end < right.start else "", right.key]
    key = "".join(parts)
    return fold_name(key) if key.startswith("the ") else key


def _bearers(form: str, key: str, index: NameIndex) -> tuple[int, ...]:
    """Those whose name is exactly the form, else those that share its key."""
    sharing = index.entities(key)
    name = normalise(form)
    exact = tuple(i for i in sharing if index.names[i] == name)
    return exact or tuple(sharing)
