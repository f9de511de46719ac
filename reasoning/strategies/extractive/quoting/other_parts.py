"""Units of other parts of documents, or of other times, than a question names: series A instead of series D."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from core.passage_context.named_parts import Part, compare_parts, find_parts, has_number, list_parts, names_same
from core.passage_context.tables import split_cells
from core.text.titles import find_name_words
from core.text.value_kinds import find_stems
from core.validity.written_dates import MONTH, find_months, number_of_month
from reasoning.strategies.extractive.quoting.units import READ, Unit
from reasoning.strategies.extractive.quoting.wording import names_outlook, states_outlook
from reasoning.strategies.extractive.quoting.writing import read_cells

_ASKED_IN = 1000
"""Characters of a question that are read."""
_QUOTED = 3
"""Units that may be quoted."""
_ASKED = re.compile(
    r"\b(?:in|of|on|during|for|im|am|vom|von|des|en|de|du)\s(?:(?:the|year|early|late|fiscal|Jahr|Jahres|l['’]année)\s){0,2}"
    rf"(?:(?:\d{{1,2}}(?:st|nd|rd|th|\.)?\s)?(?P<month>{MONTH})\.?,?\s(?:\d{{1,2}},?\s)?)?(?P<year>(?:19|20)\d\d)(?![\w-])",
    re.IGNORECASE,
)
_BESIDE = re.compile(
    r"\b(?:since|after|before|until|till|by|from|between|to|than|seit|nach|vor|bis|ab|zwischen|depuis|après|avant|entre)\b"
    r"[^.?!]{0,30}\b(?:19|20)\d\d\b",
    re.IGNORECASE,
)
"""What was before or since a time may be told with other times."""
_POST = re.compile(r"\bchief\s{1,3}(executive\b|\w{1,20}(?=\s{1,3}officers?\b))|\b(?-i:C([A-Z])Os?)\b", re.IGNORECASE)
"""A post of a board: `chief financial officer`, `CFO`."""
_POST_IN_WORDS = re.compile(
    r"\bhead\s{1,3}of\s{1,3}(?:the\s{1,3})?(\w{1,20})|\b(\w{1,20})\s{1,3}(?:chief|director)\b", re.IGNORECASE
)
"""The same in other words: `head of finance`, `finance director`."""
_YEAR = re.compile(r"(?<![\w.,-])(?:19|20)\d\d(?![\w,]|\.\d)")
"""A year that a text surely tells: no number of a version, no amount and no part of a date."""
_TOLD = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)(?![.,]\d{3})")
"""What may be a year, however it is written: "In 2024,", `12.03.2018`, `FY2021`."""
_MONTH_NAME = re.compile(rf"(?<!\w)(?:{MONTH})(?!\w)", re.IGNORECASE)

_STEP = 900
"""Characters of a line that are read at once."""
_LONGEST_LABEL = 40
"""Characters of a cell that tells which part its row is of."""


@dataclass(frozen=True, kw_only=True)
class OtherParts:
    """Which units are of `other` parts, (units,); and the parts that the question names as it writes them, if there are
    such units, and nothing that was read is of these parts or mentions them (`missing`).
    """

    other: NDArray[np.bool_]
    missing: tuple[str, ...] = field(default=())


def find_other_parts(question: str, units: Sequence[Unit]) -> OtherParts:
    """Returns which units are of another part than the parts that the question names.

    A heading, the name of the document or a cell with the same word and another sign tells it, unless the unit itself
    mentions the named part.
    """
    parts = list_parts(question)
    if not parts or not units:
        return OtherParts(other=np.zeros(len(units), np.bool_))
    names = {unit.hit.document.id: find_name_words(unit.hit.document.key, unit.hit.document.title) for unit in units}
    known = find_stems("\n".join(names.values()))
    compared = {
        unit.hit.chunk.id: compare_parts(parts, unit.hit.chunk.heading, names[unit.hit.document.id], known)
        or compare_parts(parts, _write_name(names[unit.hit.document.id]), "")
        for unit in units
    }
    levels = np.array([_compare_unit(parts, unit, compared[unit.hit.chunk.id]) for unit in units])
    chunks = {unit.hit.chunk.id: unit.hit.chunk for unit in units}.values()
    is_read = (levels > 0).any() or any(_mentions(parts, chunk.text[:READ]) for chunk in chunks)
    is_read = is_read or any(_may_include(parts, f"{chunk.heading}\n{chunk.text[:READ]}") for chunk in chunks)
    is_missing = not is_read and bool((levels < 0).any())
    return OtherParts(
        other=levels < 0, missing=tuple(dict.fromkeys(part.written for part in parts)) if is_missing else ()
    )


def _write_name(name: str) -> str:
    """Returns the name of a document with white space for `_`, and once more with umlauts as stems have them."""
    name = name.replace("_", " ")
    return "\n".join((name, name.replace("ae", "a").replace("oe", "o").replace("ue", "u")))


def _compare_unit(parts: Sequence[Part], unit: Unit, by_heading: int) -> int:
    """Returns 1 for a unit of a named part, -1 for a unit of another part of the same kind, else 0.

    A heading or the short cells of a row tell another part. A sentence does not: it may well speak of several parts.
    """
    cells = read_cells(unit)[0] if unit.is_row else []
    by_cells = compare_parts(parts, "; ".join(f"{name}: {value}" for name, value in cells), "")
    labels = [f"{name}: {value}" for name, value in cells if len(value) <= _LONGEST_LABEL]
    if by_cells > 0 or (by_cells < 0 and compare_parts(parts, "; ".join(labels), "") < 0):
        return by_cells
    if _mentions(parts, unit.text):
        return max(by_heading, 0)
    first = split_cells(unit.text)[:1] if unit.is_row and not cells else []
    return by_heading or min(compare_parts(parts, "; ".join(first), ""), 0)


def _mentions(parts: Sequence[Part], text: str) -> bool:
    said = {(found.kind, found.sign) for found in _split(text)}
    return any(
        any(part.kind == kind and names_same(part.sign, sign) for kind, sign in said)
        or (part.is_release and has_number(part.sign, text))
        for part in parts
    )


def _may_include(parts: Sequence[Part], text: str) -> bool:
    """Returns whether a text names what may have a part: "year 5 and later" has year 7, and clause 5 has clause 5.1."""
    return any(
        part.kind == found.kind and (found.is_bound or names_same(found.sign, part.sign))
        for found in _split(text)
        for part in parts
    )


def _split(text: str) -> Iterator[Part]:
    """Yields the parts that a long text names."""
    for line in text.splitlines():
        for at in range(0, len(line), _STEP):
            yield from find_parts(line[at : at + _STEP + _LONGEST_LABEL])


def tells_other_time(question: str, units: Sequence[Unit]) -> bool:
    """Returns whether a question names one year, or month of a year, that no hit of the documents of the best units
    tells, while the best unit tells another: the deaths of 1985, where those of 2031 are asked for. The units are the
    best first.
    """
    question = question[:_ASKED_IN]
    asked = list(_ASKED.finditer(question))
    if len(asked) != 1 or not units or _BESIDE.search(question):
        return False
    year, month = asked[0]["year"], asked[0]["month"]
    own = f"{units[0].text}\n{units[0].columns}"
    if not month:
        told = {found for text in _list_texts(units) for found in _TOLD.findall(text)}
        return year not in told and _YEAR.search(own) is not None
    number = number_of_month(month)
    for text in _list_texts(units):
        named = {number_of_month(found[0]) for found in _MONTH_NAME.finditer(text)}
        if number in named or (int(year), number) in find_months(text):
            return False
    return bool(find_months(own))


def tells_other_post(question: str, units: Sequence[Unit]) -> bool:
    """Returns whether a question names a post that no hit of the documents of the best units tells, also in other words
    (`head of finance`), while these hits tell another: the salary of the chief executive officer, where that of the
    CFO is asked for.
    """
    asked = _find_posts(_POST, question[:_ASKED_IN])
    texts = list(_list_texts(units)) if asked else []
    told = {post for text in texts for post in _find_posts(_POST, text)}
    return bool(told) and asked.isdisjoint(told.union(*(_find_posts(_POST_IN_WORDS, text) for text in texts)))


def _find_posts(pattern: re.Pattern[str], text: str) -> frozenset[str]:
    """Returns the posts that a text names, by their letters: `f` for the chief financial officer."""
    return frozenset((found[1] or found[2])[0].casefold() for found in pattern.finditer(text))


def lacks_outlook(question: str, units: Sequence[Unit]) -> bool:
    """Returns whether a question asks for the outlook on a year, and no unit of a passage that tells this year says
    what is expected: what was in the years before is no outlook.
    """
    question = question[:_ASKED_IN]
    years = set(_YEAR.findall(question))
    if not years or not names_outlook(question):
        return False
    heads = {unit.hit.chunk.id: f"{unit.hit.document.title} {unit.hit.chunk.heading}" for unit in units}
    telling = (
        unit for unit in units if years & set(_TOLD.findall(f"{heads[unit.hit.chunk.id]} {unit.hit.chunk.text[:READ]}"))
    )
    return not any(states_outlook(f"{unit.hit.chunk.heading[-_LONGEST_LABEL:]} {unit.text}") for unit in telling)


def _list_texts(units: Sequence[Unit]) -> Iterator[str]:
    """Yields the text of each hit of the documents of the first units, with title, headings and name of file."""
    documents = {unit.hit.document.id for unit in units[:_QUOTED]}
    for hit in {unit.hit.chunk.id: unit.hit for unit in units if unit.hit.document.id in documents}.values():
        yield f"{hit.document.title}\n{hit.document.key}\n{hit.chunk.heading}\n{hit.chunk.text[:READ]}"
