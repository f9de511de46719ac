"""`KeywordQuery`: keywords with weights and exclusions for a BM25 index, rendered in Lucene's syntax.

Each operation returns a new query, or the same one if it has nothing to change.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Self

from core.text.word_lists import STOP_WORDS

__all__ = ["Keyword", "KeywordQuery", "comparable"]

_BARE = re.compile(r"[A-Za-z0-9_]+")
_OPERATORS = frozenset({"AND", "OR", "NOT", "TO", "IN"})
_WEIGHT = re.compile(r"(?<=\S)\^\d+(?:\.\d+)?$")
_CHARACTER = re.compile("[\u2e80-\u312f\u31a0-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_ESCAPED = str.maketrans({'"': '\\"', "\\": "\\\\"})
_AROUND = "()[]{}<>.,;:!?\"'“”„»«"


def comparable(text: str) -> str:
    """Returns the tokens that an index makes of a keyword, without case and punctuation; '' if it has no word.

    Scripts without spaces are indexed by character.
    """
    kept = (c if c == "_" or unicodedata.category(c)[0] in "LMN" else " " for c in _trim(text).casefold())
    return " ".join(_CHARACTER.sub(r" \g<0> ", "".join(kept)).split())


@dataclass(frozen=True, kw_only=True)
class Keyword:
    """A word, or a phrase of several; `weight` multiplies the score of a match."""

    text: str
    weight: int = 1


@dataclass(frozen=True, kw_only=True)
class KeywordQuery:
    """Matches any of `keywords` and none of `excluded`. Each is there once, and no keyword is excluded as well."""

    keywords: tuple[Keyword, ...]
    excluded: tuple[str, ...] = ()

    @classmethod
    def of(cls, words: Iterable[str]) -> Self:
        """Returns a query of each word once, with weight 1; raises `ValueError` if none holds a letter or a digit."""
        distinct: dict[str, Keyword] = {}
        for word in words:
            if comparable(word):
                distinct.setdefault(comparable(word), Keyword(text=_trim(word)))
        if not distinct:
            raise ValueError("there is no keyword with a letter or a digit")
        return cls(keywords=tuple(distinct.values()))

    @property
    def key(self) -> tuple[frozenset[tuple[str, int]], frozenset[str]]:
        """A key that is equal for queries that find the same: order, case and punctuation make no difference."""
        keywords = frozenset((comparable(one.text), one.weight) for one in self.keywords)
        return keywords, frozenset(map(comparable, self.excluded))

    def extend(self, word: str) -> Self:
        """Returns the query with one more keyword, at the end."""
        if not comparable(word) or self._has(word):
            return self
        return replace(
            self, keywords=(*self.keywords, Keyword(text=_trim(word))), excluded=self._exclusions_without(word)
        )

    def emphasize(self, word: str) -> Self:
        """Returns the query with the keyword's weight raised by one; a missing keyword is added before the others."""
        if not comparable(word):
            return self
        if not self._has(word):
            first = Keyword(text=_trim(word))
            return replace(self, keywords=(first, *self.keywords), excluded=self._exclusions_without(word))
        wanted = comparable(word)
        raised = (
            replace(one, weight=one.weight + 1) if comparable(one.text) == wanted else one for one in self.keywords
        )
        return replace(self, keywords=tuple(raised))

    def filter(self, word: str) -> Self:
        """Returns the query without the keyword, unless it is the only one; another word is excluded.

        A word that is only part of a keyword is left: excluding it would exclude everything that the keyword finds.
        """
        noise = comparable(word)
        if self._has(word):
            kept = tuple(one for one in self.keywords if comparable(one.text) != noise)
            return replace(self, keywords=kept) if kept else self
        part_of_keyword = any(f" {noise} " in f" {comparable(one.text)} " for one in self.keywords)
        if not noise or part_of_keyword or noise in map(comparable, self.excluded):
            return self
        return replace(self, excluded=(*self.excluded, _trim(word)))

    def loosen(self, texts: Iterable[str]) -> Self:
        """Returns the query with other keywords in the place of each phrase that none of the texts holds.

        The addition to a name, as in `Inside Man (film)`, is separated from it. Another phrase becomes its words.
        """
        held = [f" {comparable(text)} " for text in texts]
        loose = self
        for one in self.keywords:
            parts = [part for part in _split_phrase(one.text) if comparable(part)]
            if len(parts) > 1 and not any(f" {comparable(one.text)} " in text for text in held):
                loose = loose._replace(one, parts)
        return loose

    def __str__(self) -> str:
        keywords = (_quote(one.text) + (f"^{one.weight}" if one.weight > 1 else "") for one in self.keywords)
        return " ".join([*keywords, *(f"-{_quote(word)}" for word in self.excluded)])

    def _replace(self, keyword: Keyword, parts: Iterable[str]) -> Self:
        """Returns the query with keywords of the same weight in the place of one, unless it has them already."""
        excluded = self.excluded
        keywords: dict[str, Keyword] = {}
        others = {comparable(one.text) for one in self.keywords if one is not keyword}
        for one in self.keywords:
            if one is not keyword:
                keywords[comparable(one.text)] = one
                continue
            for part in parts:
                if comparable(part) not in others:
                    keywords.setdefault(comparable(part), replace(keyword, text=part))
                    excluded = tuple(word for word in excluded if comparable(word) != comparable(part))
        return replace(self, keywords=tuple(keywords.values()), excluded=excluded)

    def _has(self, word: str) -> bool:
        return comparable(word) in {comparable(one.text) for one in self.keywords}

    def _exclusions_without(self, word: str) -> tuple[str, ...]:
        """Returns the exclusions without those that would exclude what the word finds."""
        wanted = f" {comparable(word)} "
        return tuple(one for one in self.excluded if f" {comparable(one)} " not in wanted)


def _trim(word: str) -> str:
    """Returns the word without the quotes, the sign and the weight that a model may have put around it."""
    return _WEIGHT.sub("", " ".join(word.split())).lstrip("-+ ").strip('"“”„»« ')


def _split_phrase(phrase: str) -> tuple[str, ...]:
    """Returns a name and the words of its addition in brackets; of another phrase, its words but for stop words.

    Nothing is split within a word, so a text without spaces stays whole.
    """
    name, opening, addition = phrase.rpartition("(")
    if opening and phrase.endswith(")") and name[:1].strip() and "\n" not in name.rstrip() and _is_flat(addition[:-1]):
        return (name.rstrip(), *_split_words(addition[:-1]))
    return _split_words(phrase)


def _is_flat(text: str) -> bool:
    """Whether a text has characters, and no bracket."""
    return bool(text) and ")" not in text


def _split_words(text: str) -> tuple[str, ...]:
    words = (word.strip(_AROUND) for word in text.split())
    return tuple(word for word in words if comparable(word) and comparable(word) not in STOP_WORDS)


def _quote(word: str) -> str:
    if _BARE.fullmatch(word) and word not in _OPERATORS:
        return word
    return f'"{word.translate(_ESCAPED)}"'
