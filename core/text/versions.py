"""Years, quarters and versions in names and questions, which tell documents of one family apart.

`10-Q 2023 Q3 AAPL` and `10-Q 2022 Q3 AAPL` are a family, as are `policy-4.6.1` and `policy-4.6.2`: what is left of
their names without years, quarters and versions is the same.
"""

import re
from pathlib import PurePosixPath

__all__ = ["asks_for_newest", "family_of", "find_marks", "find_wanted_marks", "order_of_marks"]

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
