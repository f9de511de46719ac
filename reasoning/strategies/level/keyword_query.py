"""A query as keywords with weights and exclusions, as BM25 wants to be asked; the text that it renders to is Lucene's.

Every operation gives another query, or the same one where it has nothing to do.
"""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Self

__all__ = ["Keyword", "KeywordQuery", "comparable"]

_BARE = re.compile(r"[A-Za-z0-9_]+")
_OPERATORS = frozenset({"AND", "OR", "NOT", "TO", "IN"})
_WEIGHT = re.compile(r"(?<=\S)\^\d+(?:\.\d+)?$")
_CHARACTER = re.compile("[\u2e80-\u312f\u31a0-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_ESCAPED = str.maketrans({'"': '\\"', "\\": "\\\\"})


def comparable(text: str) -> str:
    """The tokens that an index makes of a keyword, which knows neither case nor punctuation; '' where it has no word.

    Scripts without spaces are indexed by character.
    """
    kept = (c if c == "_" or unicodedata.category(c)[0] in "LMN" else " " for c in _trimmed(text).casefold())
    return " ".join(_CHARACTER.sub(r" \g<0> ", "".join(kept)).split())


@dataclass(frozen=True, kw_only=True)
class Keyword:
    """A word, or several that stand together; `weight` multiplies what a match is worth."""

    text: str
    weight: int = 1


@dataclass(frozen=True, kw_only=True)
class KeywordQuery:
    """Any of `keywords` and none of `excluded`, each once; no keyword is excluded as well."""

    keywords: tuple[Keyword, ...]
    excluded: tuple[str, ...] = ()

    @classmethod
    def of(cls, words: Iterable[str]) -> Self:
        """Each word once, weighing 1; raises `ValueError` where none of them holds a letter or a digit."""
        distinct: dict[str, Keyword] = {}
        for word in words:
            if comparable(word):
                distinct.setdefault(comparable(word), Keyword(text=_trimmed(word)))
        if not distinct:
            raise ValueError("there is no keyword with a letter or a digit")
        return cls(keywords=tuple(distinct.values()))

    @property
    def key(self) -> tuple[frozenset[tuple[str, int]], frozenset[str]]:
        """Equal for queries that find the same: order, case and punctuation make no difference."""
        keywords = frozenset((comparable(one.text), one.weight) for one in self.keywords)
        return keywords, frozenset(map(comparable, self.excluded))

    def extend(self, word: str) -> Self:
        """With one keyword more, at the end."""
        if not comparable(word) or self._has(word):
            return self
        return replace(self, keywords=(*self.keywords, Keyword(text=_trimmed(word))), excluded=self._excluded_but(word))

    def emphasize(self, word: str) -> Self:
        """With the keyword weighing one more; one that is missing is put before the others."""
        if not comparable(word):
            return self
        if not self._has(word):
            first = Keyword(text=_trimmed(word))
            return replace(self, keywords=(first, *self.keywords), excluded=self._excluded_but(word))
        wanted = comparable(word)
        raised = (
            replace(one, weight=one.weight + 1) if comparable(one.text) == wanted else one for one in self.keywords
        )
        return replace(self, keywords=tuple(raised))

    def filter(self, word: str) -> Self:
        """Without the word where it is a keyword, unless it is the only one; else with the word excluded.

        A word that is only a part of a keyword can be neither: to exclude it would exclude all that the keyword finds.
        """
        noise = comparable(word)
        if self._has(word):
            kept = tuple(one for one in self.keywords if comparable(one.text) != noise)
            return replace(self, keywords=kept) if kept else self
        part_of_keyword = any(f" {noise} " in f" {comparable(one.text)} " for one in self.keywords)
        if not noise or part_of_keyword or noise in map(comparable, self.excluded):
            return self
        return replace(self, excluded=(*self.excluded, _trimmed(word)))

    def __str__(self) -> str:
        keywords = (_quoted(one.text) + (f"^{one.weight}" if one.weight > 1 else "") for one in self.keywords)
        return " ".join([*keywords, *(f"-{_quoted(word)}" for word in self.excluded)])

    def _has(self, word: str) -> bool:
        return comparable(word) in {comparable(one.text) for one in self.keywords}

    def _excluded_but(self, word: str) -> tuple[str, ...]:
        """Without those that would take away what the word finds."""
        wanted = f" {comparable(word)} "
        return tuple(one for one in self.excluded if f" {comparable(one)} " not in wanted)


def _trimmed(word: str) -> str:
    """Without the quotes, the sign and the weight that a model may have put around it."""
    return _WEIGHT.sub("", " ".join(word.split())).lstrip("-+ ").strip('"“”„»« ')


def _quoted(word: str) -> str:
    if _BARE.fullmatch(word) and word not in _OPERATORS:
        return word
    return f'"{word.translate(_ESCAPED)}"'
