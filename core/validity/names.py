"""Names by which statements mean documents: a key, an id or a title in a field, or the words of a sentence.

A sentence means a document if the title, or the file's name, has its words one after another, and:
- a day that it names is a day of the title, or the first day of the document, or has the only year of the title, or of
  the file's name if the title has none;
- without a day, its words have a number, or are the whole title.

"Version 2.0 of the Travel Policy" means a document whose whole name but for versions is "Travel Policy", with 2.0 in
its name, or else in a line of its text; "of 1 May 2023" behind it has to be its day, and is enough without a version.

A number alone ("version 2.0") means a version of the document that says so: a document with the same path or title but
for numbers, and with this number.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property

from core.text.titles import family_of, find_marks, stem_of
from core.validity.agreements import share_parties
from core.validity.statements import STATEMENTS, VALID_FROM, read_day, read_parties, read_statements, read_version
from core.validity.written_dates import find_dates

_WORD = re.compile(r"[^\W_]+(?:[./-][^\W_]+)*")
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")
_ARTICLES = frozenset(("the", "a", "an", "this", "der", "die", "das", "den", "dem", "des"))
_NO_MEANING = frozenset(("no", "nr", "number", "nummer"))
_BEFORE_DATE = frozenset(("of", "dated", "from", "vom", "as", "version", "fassung", "in", "on", "edition", "stand"))
_BETWEEN = frozenset(("of", "the", "for", "at", "in", "der", "die", "das", "des", "dem"))
_SERIES = frozenset(("version", "edition", "fassung", "ausgabe"))
_OF_NUMBERS = _SERIES | _BEFORE_DATE | {"release", "revision", "rev", "ver", "v", "issue", "auflage"}
_NUMBER = re.compile(r"v?\d.*")
_VERSION = re.compile(r"v?\d{1,3}(?:\.\d{1,3}){0,2}[a-z]?|rev-\w")
"""A mark of a version, unlike that of a year or a quarter."""
_LONGEST_NUMBER = 9
_LAST_NUMBER = re.compile(r"\A(.{0,99}?)0{0,8}([1-9]\d{0,8})\Z")
_VERSION_OF = re.compile(
    r"(?:the )?(?P<version>(?:version|edition|release|revision|issue|fassung|ausgabe) v?\d[\w.]{0,20}"
    r"|v?\d[\w.]{0,20} version) "
    r"(?:of|der|des|von) (?P<named>.{3,150})",
    re.IGNORECASE,
)


def _list_words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.casefold()) if word not in _NO_MEANING]


@dataclass(frozen=True, kw_only=True)
class DocumentName:
    """`is_exact`: it is a key, an id or a title, and no words of a sentence. `title` and `key` are of the document that
    says it: "the version of 1 March 2021" and "version 2.0" mean a version of that. `parties` are of an amendment: it
    means no agreement of other parties, and their agreement of a day whatever its title is.
    """

    text: str
    is_exact: bool
    title: str = ""
    key: str = ""
    parties: tuple[str, ...] = ()

    @cached_property
    def day(self) -> date | None:
        """The first day that the name has."""
        return next((found.day for found in find_dates(self.text)), None)

    @cached_property
    def words(self) -> list[str]:
        """The words, without articles and the day; of "Version 2.0 of the Travel Policy", only "travel policy"."""
        if self._version_of is not None:
            return self._version_of[0].split()
        found = next(find_dates(self.text), None)
        words = _list_words(self.text if found is None else self.text[: found.start])
        while words and words[0] in _ARTICLES:
            words = words[1:]
        if found is not None and words and all(word in _SERIES | _BEFORE_DATE for word in words):
            words = _without_dates(self.title)
        while found is not None and words and words[-1] in _BEFORE_DATE:
            words = words[:-1]
        return words

    @cached_property
    def _version_of(self) -> tuple[str, frozenset[str]] | None:
        """The name without its version, and the marks of the version, of "Version 2.0 of the Travel Policy"."""
        found = None if self.is_exact else _VERSION_OF.fullmatch(self.text)
        marks = find_marks(found["version"]) if found is not None else frozenset[str]()
        if found is None or not marks:
            return None
        day = next(find_dates(found["named"]), None)
        words = _list_words(found["named"] if day is None else found["named"][: day.start])
        while day is not None and words and words[-1] in _BEFORE_DATE:
            words = words[:-1]
        family = family_of("", " ".join(words[words[0] in _ARTICLES :]))[0] if words else ""
        return (family, marks) if family else None

    @cached_property
    def is_number(self) -> bool:
        """Whether no word tells of which document the number is: "version 2.0", unlike "Regulation 12/2019"."""
        return (
            not self.is_exact
            and any(map(_NUMBER.fullmatch, self.words))
            and all(word in _OF_NUMBERS or _NUMBER.fullmatch(word) for word in self.words)
        )

    @cached_property
    def glued(self) -> str:
        """The words and the number as file names write them: `rfc2616` for "RFC 2616"; '' for another name."""
        has_number = len(self.words) > 1 and self.words[-1].isdecimal() and not self.is_exact
        return "".join(self.words) if has_number and self.day is None and not self.is_number else ""

    @cached_property
    def sibling(self) -> str:
        """The file name of the document that says it with another last number, for a plain number such as `2616`: in
        `rfc7230.txt` it means `rfc2616`; '' for another name.
        """
        if not (self.is_number and self.text.isdecimal() and len(self.text) < _LONGEST_NUMBER):
            return ""
        found = _LAST_NUMBER.search(stem_of(self.key).casefold())
        return "" if found is None else f"{found[1]}{int(self.text)}"

    @property
    def families(self) -> set[str]:
        """The families of the document that says it, by its path and by its title."""
        return _list_families(self.key, self.title)

    @cached_property
    def _marks(self) -> frozenset[str]:
        """The marks of a version that the name has; none if it has another number, such as `6/2018`."""
        return frozenset() if "/" in self.text else find_marks(" ".join(self.words))

    def fits(self, row: Mapping[str, object]) -> bool:
        """Returns whether a document with these fields, as a filter sees them, is meant."""
        id, key, title = str(row["$id"]), str(row["$key"]), str(row["$title"])
        if self.is_number:
            return self._fits_version(key, title, row)
        parties = read_parties(row) if self.parties else ()
        if parties and not share_parties(self.parties, parties):
            return False
        if self.text in (key, id) or self.text.casefold() == title.casefold():
            return True
        if self.is_exact or not self.words:
            return False
        if parties and self.day is not None and self.day in _find_begun(row):
            return True
        return any(self._fits_name(name, row) for name in (title, stem_of(key)))

    def _fits_version(self, key: str, title: str, row: Mapping[str, object]) -> bool:
        if self.sibling and self.sibling == _plain_stem(key):
            return _list_folders(key) == _list_folders(self.key)
        if not _are_of_one_family(self.key, self.title, key, title):
            return False
        has_mark = bool(self._marks) and self._marks <= family_of(key, title)[1]
        names = title, stem_of(key)
        if not has_mark and not any(_has_run(_list_words(name), self.words) for name in names):
            return False
        return self.day is None or any(self._fits_day(name, row) for name in names)

    def _fits_name(self, name: str, row: Mapping[str, object]) -> bool:
        words = _list_words(name)
        if self._version_of is not None:
            return self._fits_version_of(*self._version_of, name, row)
        if self.glued and self.glued == name.casefold():
            return True
        if not _has_run(words, self.words):
            return False
        if self.day is not None:
            return self._fits_day(name, row)
        return any(any(letter.isdecimal() for letter in word) for word in self.words) or words == self.words

    def _fits_version_of(self, family: str, marks: frozenset[str], name: str, row: Mapping[str, object]) -> bool:
        """Returns whether the name but for versions is that of the document, and its version or its day are right: the
        version in one of its names, or else in its text. Neither may be another one.
        """
        if family_of("", name)[0] != family:
            return False
        in_names = find_marks(name), find_marks(f"{row['$title']} {stem_of(str(row['$key']))}")
        has_own = any(map(_VERSION.fullmatch, in_names[1]))
        own = in_names[0] if has_own else in_names[0] | find_marks(f"version {read_version(row)}")
        if any(map(_VERSION.fullmatch, own)) and not marks <= own:
            return False
        return marks <= own if self.day is None else self._fits_day(name, row)

    def _fits_day(self, name: str, row: Mapping[str, object]) -> bool:
        days = {found.day for found in find_dates(name)}
        if days:
            return self.day in days
        begun = _find_begun(row)
        if begun:
            return self.day in begun
        years = set(_YEAR.findall(name) or _YEAR.findall(stem_of(str(row["$key"]))))
        return self.day is not None and years == {str(self.day.year)}


def _find_begun(row: Mapping[str, object]) -> set[date | None]:
    return {read_day(statement.value) for statement in read_statements(row) if statement.states == VALID_FROM}


class NameIndex:
    """Names by what a document must have to be meant, so that thousands of names are compared with few documents."""

    def __init__(self, names: Iterable[DocumentName]) -> None:
        self._exact: dict[str, list[DocumentName]] = {}
        self._by_word: dict[str, list[DocumentName]] = {}
        self._by_family: dict[str, list[DocumentName]] = {}
        self._by_day: dict[date | None, list[DocumentName]] = {}
        for name in names:
            if name.parties and name.day is not None:
                self._by_day.setdefault(name.day, []).append(name)
            for text in {name.text, name.text.casefold(), name.glued} - {""}:
                self._exact.setdefault(text, []).append(name)
            if name.is_number:
                for family in name.families | ({name.sibling} - {""}):
                    self._by_family.setdefault(family, []).append(name)
            elif not name.is_exact and name.words:
                word = next((word for word in name.words if any(map(str.isdecimal, word))), name.words[0])
                self._by_word.setdefault(word, []).append(name)

    def find(self, row: Mapping[str, object]) -> set[DocumentName]:
        """Returns the names that mean a document with these fields."""
        id, key, title = str(row["$id"]), str(row["$key"]), str(row["$title"])
        wanted = {
            name for text in (id, key, title.casefold(), stem_of(key).casefold()) for name in self._exact.get(text, ())
        }
        if self._by_word:
            words = {*_list_words(title), *_list_words(stem_of(key))}
            wanted.update(name for word in words for name in self._by_word.get(word, ()))
        if self._by_day and STATEMENTS in row:
            wanted.update(name for day in _find_begun(row) for name in self._by_day.get(day, ()))
        if self._by_family:
            wanted.update(
                name
                for family in {*_list_families(key, title), stem_of(key).casefold()}
                for name in self._by_family.get(family, ())
            )
        return {name for name in wanted if name.fits(row)}


def _are_of_one_family(key: str, title: str, other_key: str, other_title: str) -> bool:
    """Returns whether two documents have the same path without marks of versions, or the same title without them in
    folders of which one is in the other: `hr/` and `it/` have handbooks of their own.
    """
    path, other_path = family_of(key, title)[0], family_of(other_key, other_title)[0]
    if path and path == other_path:
        return True
    name, other_name = family_of("", title)[0], family_of("", other_title)[0]
    folders, other_folders = _list_folders(key), _list_folders(other_key)
    depth = min(len(folders), len(other_folders))
    return bool(name) and name == other_name and folders[:depth] == other_folders[:depth]


def _list_families(key: str, title: str) -> set[str]:
    return {family_of(key, title)[0], family_of("", title)[0]} - {""}


def _plain_stem(key: str) -> str:
    """Returns the name of a file without the zeros before its last number: `pep-8` for `pep-0008.rst`."""
    stem = stem_of(key).casefold()
    found = _LAST_NUMBER.search(stem)
    return stem if found is None else f"{found[1]}{found[2]}"


def _list_folders(key: str) -> list[str]:
    return key.replace("\\", "/").casefold().split("/")[:-1]


def _without_dates(title: str) -> list[str]:
    for found in reversed(list(find_dates(title))):
        title = title[: found.start] + title[found.end :]
    return [word for word in _list_words(title) if not _YEAR.fullmatch(word) and word not in _BEFORE_DATE]


def _has_run(words: Sequence[str], run: Sequence[str]) -> bool:
    """Returns whether words have others one after another; `Lease Unit 7` has the words of "lease of Unit 7"."""
    words, run = ([word for word in listed if word not in _BETWEEN] for listed in (words, run))
    return bool(run) and any(list(words[at : at + len(run)]) == list(run) for at in range(len(words) - len(run) + 1))
