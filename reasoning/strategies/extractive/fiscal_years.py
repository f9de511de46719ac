"""Quarters of fiscal years: "the third quarter of fiscal 2023" of a company whose reports are called otherwise.

A fiscal year is called by the year in which it ends, and files often by the year in which the quarter ended: the report
`2022 Q3` tells "the third quarter of fiscal year 2023". What the reports say of themselves decides; where they are
called by fiscal years, or do not say it, the question stays as it is.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from core.events import SearchEvent
from core.ports.reasoning import Question
from core.ports.retrieval import Hit, Query
from core.text.titles import family_of
from core.trace import Trace
from reasoning.engine.reasoner import ReasoningBackends
from reasoning.strategies.extractive.over_periods.families import quarters_of

_READ = 12
"""Passages in which the reports' own words for their quarters are looked for."""
_PLACES = ("first", "second", "third", "fourth")
_PLACE = r"(?:(?P<place>first|second|third|fourth)[ -]quarter|Q(?P<number>[1-4]))"
_YEAR = r"(?P<year>(?:19|20)\d\d)(?![\d.,-]\d|\d)"
_ASKED = (
    re.compile(rf"\b{_PLACE},? (?:of |in )?(?:the |its |their )?(?:fiscal(?: year)?|FY) ?{_YEAR}", re.IGNORECASE),
    re.compile(rf"\bfiscal {_PLACE},? (?:of |in )?{_YEAR}", re.IGNORECASE),
    re.compile(rf"\b(?:fiscal(?: year)?|FY) ?{_YEAR},?['’]?s? {_PLACE}(?!\w)", re.IGNORECASE),
)
_TOLD = re.compile(
    r"\b(first|second|third|fourth)\s+quarter\b[^.;]{0,40}?\bof\s+(?:the\s+)?fiscal\s+(?:year\s+)?((?:19|20)\d\d)\b",
    re.IGNORECASE,
)


async def call_fiscal_quarter(backends: ReasoningBackends, question: Question, trace: Trace) -> tuple[Question, str]:
    """Returns the question with its quarters of fiscal years as the reports are called, and a note that says so; the
    question itself and '' if it names none, or if the reports are not known to be called otherwise.
    """
    if not any(pattern.search(question.text) for pattern in _ASKED):
        return question, ""
    query = Query(
        corpus=question.corpus,
        text=question.text,
        k=_READ,
        documents=question.documents,
        parts=question.parts,
        masked=question.masked,
        private=False,
    )
    result = await backends.searcher.search(query, trace)
    trace.emit(SearchEvent(query=query.text, searcher=backends.searcher_name, hits=result.hits, step="1"))
    later = find_difference(result.hits)
    if not later:
        return question, ""
    said = dict[str, str]()

    def call(asked: re.Match[str]) -> str:
        number = asked["number"] or 1 + _PLACES.index(asked["place"].lower())
        return said.setdefault(asked[0], f"Q{number} {int(asked['year']) - later}")

    text = question.text
    for pattern in _ASKED:
        text = pattern.sub(call, text)
    read = ", ".join(f"“{words}” is read as {called}" for words, called in said.items())
    return replace(question, text=text), f"{read}, as the reports are called."


def find_difference(hits: Sequence[Hit]) -> int:
    """Returns by how many years the fiscal years are later than the years that the reports of the first report's family
    are called by; 0 if they do not say so, or differ.
    """
    reports = [hit for hit in hits if quarters_of(hit.document)]
    family = family_of(reports[0].document.key, reports[0].document.title)[0] if reports else ""
    told = dict[tuple[int, int], int]()
    for hit in reports:
        if family_of(hit.document.key, hit.document.title)[0] != family:
            continue
        [(year, number)] = quarters_of(hit.document)
        for place, fiscal in _TOLD.findall(hit.chunk.text):
            if _PLACES.index(place.lower()) + 1 == number:  # the years before are told beside the report's own
                told[year, number] = max(told.get((year, number), 0), int(fiscal))
    differences = {fiscal - year for (year, _), fiscal in told.items()}
    return differences.pop() if len(differences) == 1 else 0
