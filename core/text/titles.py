"""Titles of documents: derived from a key, cleaned, as names of entities, and the versions that they tell apart.

`10-Q 2023 Q3 AAPL` and `10-Q 2022 Q3 AAPL` are a family, as are `policy-4.6.1` and `policy-4.6.2`: what is left of
their names without years, quarters and versions, which are the marks of a version, is the same.
"""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath
from urllib.parse import unquote

from core.ids import entity_id
from core.text.names import normalise

__all__ = [
    "asks_for_newest",
    "bare_title",
    "family_of",
    "find_marks",
    "find_wanted_marks",
    "one_line",
    "order_of_marks",
    "stem_of",
    "title_names",
]

_OPENING, _CLOSING = "(（", ")）"
_MARK = re.compile(
    r"(?<![^\W_])(?:v|fy)?((?:19|20)\d\d|q[1-4]|\d{1,2}(?:\.\d{1,2}){1,2})(?![^\W_])(?!\.\d)", re.IGNORECASE
)
"""A year, a quarter or a version; `2401.18059` is none."""
_QUARTER = re.compile(r"\b(first|second|third|fourth)[ -]quarter\b", re.IGNORECASE)
_QUARTERS = {"first": "q1", "second": "q2", "third": "q3", "fourth": "q4"}
_BESIDE = re.compile(
    r"\b(?:since|after|before|until|seit|nach|vor|bis|depuis|après|avant)\s{1,3}(?:version |fy|v)?[\w.]{1,9}",
    re.IGNORECASE,
)
"""What begins or ends at a version stands in another one."""
_NEWEST = re.compile(
    r"\b(?:latest|newest|most recent|neueste[nrs]?|aktuellste[nrs]?|jüngste[nrs]?|plus récente?s?)\b", re.IGNORECASE
)
_WORD = re.compile(r"[^\W\d_]+")
_SUFFIX = re.compile(r"\.[A-Za-z]\w{0,4}")


def one_line(title: str) -> str:
    """Returns the title with white space collapsed."""
    return " ".join(title.split())


def stem_of(key: str) -> str:
    """`reports/2024 summary.md` → `2024 summary`, and `https://host/2024%20summary.md`, too."""
    stem = PurePosixPath(key.replace("\\", "/")).stem
    try:
        decoded = unquote(stem, errors="strict")
    except UnicodeDecodeError:  # a name with a sign of percent that is not of an address
        decoded = stem
    return one_line(decoded if decoded.isprintable() and decoded.strip() else stem)


def bare_title(title: str) -> str:
    """Returns the title without its final parenthesis: `Mercury (planet)` → `Mercury`. A title that is one stays."""
    title = title.strip()
    if not title.endswith(tuple(_CLOSING)):
        return title
    start = max(title.rfind(character) for character in _OPENING)
    if start < 0 or any(character in title[start:-1] for character in _CLOSING):
        return title
    return title[:start].rstrip() or title


def title_names(title: str, heading: Sequence[str]) -> tuple[str, ...]:
    """Returns the entity ids of the bare title and the bare last part of the heading path, each once."""
    names = [normalise(bare_title(part)) for part in (title, *heading[-1:])]
    return tuple(dict.fromkeys(entity_id(name) for name in names if name))


def find_marks(name: str) -> frozenset[str]:
    """Returns the years, quarters and versions of a name, such as `2023`, `q3` and `4.6.2`."""
    return frozenset(mark.lower() for mark in _MARK.findall(name))


def find_wanted_marks(question: str) -> frozenset[str]:
    """Returns the marks of the versions that a question is about: `in the third quarter of 2023`, not `since 2023`."""
    text = _BESIDE.sub(" ", question)
    return find_marks(text) | {_QUARTERS[word.lower()] for word in _QUARTER.findall(text)}


def asks_for_newest(question: str) -> bool:
    """Returns whether the question asks for the newest of several versions, in English, German or French."""
    return _NEWEST.search(question) is not None


def family_of(key: str, title: str) -> tuple[str, frozenset[str]]:
    """Returns the family of a document, '' if its name tells none, and the marks of the document in it.

    The key of a file, which has a suffix, tells the family, with its folders; else the title does.
    """
    path = PurePosixPath(key.replace("\\", "/"))
    is_file = _SUFFIX.fullmatch(path.suffix) is not None
    name = str(path.with_suffix("")) if is_file else title
    family = " ".join(_WORD.findall(_MARK.sub(" ", name.lower())))
    return family, find_marks(name) | find_marks(title)


def order_of_marks(marks: frozenset[str]) -> tuple[tuple[int, ...], ...]:
    """Returns a value that is greater for a newer version: years, then quarters, then versions by their numbers."""
    years = sorted((int(mark),) for mark in marks if mark.isdigit())
    quarters = sorted((int(mark[1:]),) for mark in marks if mark.startswith("q"))
    versions = sorted(tuple(map(int, mark.split("."))) for mark in marks if "." in mark)
    return (*years[-1:], *quarters[-1:], *versions[-1:])
