"""Names by which statements mean documents: a key, an id or a title in a field, or the words of a sentence.

A sentence means a document if the title, or the file's name, has its words one after another, and:
- a day that it names is a day of the title, or the first day of the document, or has the only year of the title;
- without a day, its words have a number, or are the whole title.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property

from core.text.titles import stem_of
from core.validity.statements import VALID_FROM, read_day, read_statements
from core.validity.written_dates import find_dates

__all__ = ["DocumentName", "NameIndex"]

_WORD = re.compile(r"[^\W_]+(?:[./-][^\W_]+)*")
_YEAR = re.compile(r"(?:19|20)\d\d")
_ARTICLES = frozenset(("the", "this", "der", "die", "das", "den", "dem", "des"))
_NO_MEANING = frozenset(("no", "nr", "number", "nummer"))
_BEFORE_DATE = frozenset(("of", "dated", "from", "vom", "as", "version", "fassung", "in", "on", "edition", "stand"))
_SERIES = frozenset(("version", "edition", "fassung", "ausgabe"))


def _list_words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.casefold()) if word not in _NO_MEANING]


@dataclass(frozen=True, kw_only=True)
class DocumentName:
    """`is_exact`: it is a key, an id or a title, and no words of a sentence. `title` is of the document that says it:
    "the version of 1 March 2021" means a version of that.
    """

    text: str
    is_exact: bool
    title: str = ""

    @cached_property
    def _day(self) -> date | None:
        return next((found.day for found in find_dates(self.text)), None)

    @cached_property
    def words(self) -> list[str]:
        """The words, without articles and the day."""
        found = next(find_dates(self.text), None)
        words = _list_words(self.text if found is None else self.text[: found.start])
        while words and words[0] in _ARTICLES:
            words = words[1:]
        if found is not None and words and all(word in _SERIES | _BEFORE_DATE for word in words):
            words = _without_dates(self.title)
        while found is not None and words and words[-1] in _BEFORE_DATE:
            words = words[:-1]
        return words

    def fits(self, row: Mapping[str, object]) -> bool:
        """Returns whether a document with these fields, as a filter sees them, is meant."""
        id, key, title = str(row["$id"]), str(row["$key"]), str(row["$title"])
        if self.text in (key, id) or self.text.casefold() == title.casefold():
            return True
        if self.is_exact or not self.words:
            return False
        return any(self._fits_name(name, row) for name in (title, stem_of(key)))

    def _fits_name(self, name: str, row: Mapping[str, object]) -> bool:
        words = _list_words(name)
        if not _has_run(words, self.words):
            return False
        if self._day is not None:
            return self._fits_day(name, row)
        return any(any(letter.isdecimal() for letter in word) for word in self.words) or words == self.words

    def _fits_day(self, name: str, row: Mapping[str, object]) -> bool:
        days = {found.day for found in find_dates(name)}
        if days:
            return self._day in days
        begun = {read_day(statement.value) for statement in read_statements(row) if statement.states == VALID_FROM}
        if begun:
            return self._day in begun
        years = set(_YEAR.findall(name))
        return self._day is not None and years == {str(self._day.year)}


class NameIndex:
    """Names by what a document must have to be meant, so that thousands of names are compared with few documents."""

    def __init__(self, names: Iterable[DocumentName]) -> None:
        self._exact: dict[str, list[DocumentName]] = {}
        self._by_word: dict[str, list[DocumentName]] = {}
        for name in names:
            for text in {name.text, name.text.casefold()}:
                self._exact.setdefault(text, []).append(name)
            if not name.is_exact and name.words:
                word = next((word for word in name.words if any(map(str.isdecimal, word))), name.words[0])
                self._by_word.setdefault(word, []).append(name)

    def find(self, row: Mapping[str, object]) -> set[DocumentName]:
        """Returns the names that mean a document with these fields."""
        id, key, title = str(row["$id"]), str(row["$key"]), str(row["$title"])
        wanted = {name for text in (id, key, title.casefold()) for name in self._exact.get(text, ())}
        if self._by_word:
            words = {*_list_words(title), *_list_words(stem_of(key))}
            wanted.update(name for word in words for name in self._by_word.get(word, ()))
        return {name for name in wanted if name.fits(row)}


def _without_dates(title: str) -> list[str]:
    for found in reversed(list(find_dates(title))):
        title = title[: found.start] + title[found.end :]
    return [word for word in _list_words(title) if not _YEAR.fullmatch(word) and word not in _BEFORE_DATE]


def _has_run(words: Sequence[str], run: Sequence[str]) -> bool:
    return any(list(words[at : at + len(run)]) == list(run) for at in range(len(words) - len(run) + 1))
