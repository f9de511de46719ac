"""The time that a question names, if nothing that was read tells it, and the best unit tells another time."""

import re
from collections.abc import Iterator, Sequence

from core.validity.written_dates import MONTH, find_months, number_of_month
from reasoning.strategies.extractive.quoting.units import READ, Unit

__all__ = ["tells_other_time"]

_READ = 1000
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
_YEAR = re.compile(r"(?<![\w.,-])(?:19|20)\d\d(?![\w,]|\.\d)")
"""A year that a text surely tells: no number of a version, no amount and no part of a date."""
_TOLD = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)(?![.,]\d{3})")
"""What may be a year, however it is written: "In 2024,", `12.03.2018`, `FY2021`."""
_MONTH_NAME = re.compile(rf"(?<!\w)(?:{MONTH})(?!\w)", re.IGNORECASE)


def tells_other_time(question: str, units: Sequence[Unit]) -> bool:
    """Returns whether a question names one year, or month of a year, that no hit of the documents of the best units
    tells, while the best unit tells another: the deaths of 1985, where those of 2031 are asked for. The units are the
    best first.
    """
    question = question[:_READ]
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


def _list_texts(units: Sequence[Unit]) -> Iterator[str]:
    """Yields the text of each hit of the documents of the first units, with title, headings and name of file."""
    documents = {unit.hit.document.id for unit in units[:_QUOTED]}
    for hit in {unit.hit.chunk.id: unit.hit for unit in units if unit.hit.document.id in documents}.values():
        yield f"{hit.document.title}\n{hit.document.key}\n{hit.chunk.heading}\n{hit.chunk.text[:READ]}"
