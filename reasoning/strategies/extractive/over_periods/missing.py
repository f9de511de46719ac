"""What a question on reports names and no document tells: `Q4 2025`, if the newest report is of Q3 2025, or a company.

The passages that are found then tell the same of other periods, or of other companies, which is no answer.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from core.documents import HEADING_SEPARATOR, DocumentRef
from core.passage_context.other_words import find_said_labels
from core.ports.reasoning import Citation
from core.ports.retrieval import Hit
from core.text.name_spans import find_names
from core.text.periods import find_quarters, read_period
from core.text.titles import stem_of
from core.text.value_kinds import find_stems
from reasoning.strategies.extractive.over_periods.families import find_told_quarter, quarters_of
from reasoning.strategies.extractive.quoting.units import READ, Unit
from reasoning.strategies.extractive.quoting.wording import speaks_of_outlook
from reasoning.strategies.extractive.quoting.writing import choose, cite, write
from reasoning.strategies.survey.values import read_passage_grids

MissingPeriod = tuple[tuple[int, int], tuple[tuple[int, int], ...]]
"""The quarter that is asked for, `(2025, 4)`, and the quarters of the reports, in the order of time."""
_MOST_NAMED = 8
"""Quarters that are told, the newest."""
_MONTHS_OF_QUARTER, _YEAR_OF_MONTHS = 3, 12
_NEAREST = 3
"""Units that are shown of other periods than the one that is asked for."""
_PLACES = (
    ("first", "erste", "premier"),
    ("second", "zweite", "deuxième"),
    ("third", "dritte", "troisième"),
    ("fourth", "vierte", "quatrième"),
)
_YEAR_WRITTEN = r"(?:(?:FY ?)?(?:19|20)(?P<long>\d\d)|(?:FY ?|['’])(?P<short>\d\d))(?!\d|[.,]\d)"
_YEAR = re.compile(rf"(?<![\d.,]){_YEAR_WRITTEN}", re.IGNORECASE)
_BEHIND = re.compile(
    rf"(?:er|ers|als?|e|s)?\W{{0,3}}(?:(?:of|in|the|fiscal|financial|year|des|jahres|de|l['’]exercice)\s){{0,3}}"
    rf"{_YEAR_WRITTEN}|[ /-]?(?P<bare>\d\d)(?![\d.,%])",
    re.IGNORECASE,
)
_BEFORE = re.compile(rf"(?<![\d.,]){_YEAR_WRITTEN}[ /_-]{{0,2}}\Z", re.IGNORECASE)
_QUARTER = re.compile(
    r"\bQ ?(?P<number>[1-4])(?!\d)"
    r"|(?<![\d.,])(?P<digit>[1-4])(?:Q(?![^\W\d])|(?:st|nd|rd|th|\.|er|e|ème)[ -](?:quart|trimestre))"
    r"|\b(?P<word>first|second|third|fourth|final|last|erste|zweite|dritte|vierte|letzte|premier|deuxième|troisième"
    r"|quatrième|dernier)[nsmr]?[ -](?:(?:fiscal|three) )?(?:quart|months|trimestre)",
    re.IGNORECASE,
)
_DATE = re.compile(
    r"\b[^\W\d_]{3,9}\.?,? (?:\d{1,2},? )?(?:19|20)\d\d(?!\d)|(?<!\d)(?:19|20)\d\d-\d\d(?:-\d\d)?(?!\d)"
    r"|(?<!\d)\d{1,2}\.\d{1,2}\.(?:19|20)\d\d(?!\d)"
    r"|(?<![\d/])(?:\d{1,2}/\d{1,2}/(?:19|20)\d\d|(?:19|20)\d\d/\d\d/\d\d)(?![\d/])"
)
_REPORT = re.compile(
    r"\b(?:10-?[KQ]|20-?F|6-?K|(?:annual|quarterly|interim|half[ -]year(?:ly)?)[ -]reports?|earnings"
    r"|(?:quarter|year|months|weeks)[ -]ended|(?:geschäfts|quartals|zwischen|halbjahres|jahres)bericht"
    r"|rapport (?:annuel|semestriel|trimestriel))\b",
    re.IGNORECASE,
)
_OWNS = re.compile(r"['’]s?\s")
_DOES = re.compile(r"\b(?:did|does|do|has|have|had|will)\s(?:the )?\Z", re.IGNORECASE)
_SIGN = re.compile(r"[\W_]+")
_OF_ALL = find_stems("company group corporation firm registrant board management Konzern Gesellschaft groupe société")
_NEAR = 40
"""Characters between a quarter and its year, at most."""


def find_missing_period(question: str, hits: Sequence[Hit], units: Sequence[Unit]) -> MissingPeriod | None:
    """Returns the quarter that a question names and none of the hits tells, with the quarters of the reports among
    their documents and the other versions of these; None if the question names none, or several, or asks what lies
    ahead, or if the document of the best unit, the first, is no report: a contract may answer, too.

    A column or a sentence of another document may tell the quarter: then it is not missing. Nor is it if the document
    is not called by a quarter and has values that may be of it: the fiscal year may be another than that of calendars.
    """
    if not units or not is_report(units[0].hit.document):
        return None
    quarters = find_quarters(question)
    if quarters is None or quarters.are_named or quarters.is_range or speaks_of_outlook(question):
        return None
    wanted = quarters.wanted[-1]
    refs = {ref.id: ref for hit in hits if hit.url is None for ref in (hit.document, *hit.versions)}
    there = {quarter for ref in refs.values() for quarter in quarters_of(ref)}
    if wanted in there or any(_tells(hit, wanted) for hit in hits):
        return None
    if not quarters_of(best := units[0].hit.document):
        own = [hit for hit in hits if hit.document.id == best.id]
        if _may_tell(own, wanted):
            return None
        there |= {told for told in (find_told_quarter(own),) if told}
    return wanted, tuple(sorted(there)[-_MOST_NAMED:])


def quote_other_periods(
    missing: MissingPeriod, question: str, units: Sequence[Unit]
) -> tuple[str, tuple[Citation, ...]]:
    """Returns the text and the citations of an answer without a value of the quarter: the best units tell others."""
    return cite(write(question, choose(units, _NEAREST)), write_missing_period(missing))


def write_missing_period(missing: MissingPeriod) -> str:
    """Returns the sentence that an answer begins with which has no value of the quarter."""
    wanted, there = missing
    of_reports = f"; the reports are of {_join(map(_write, there))}" if there else ""
    return f"No document that was found tells {_write(wanted)}{of_reports}. Nearest:"


def _write(quarter: tuple[int, int]) -> str:
    return f"Q{quarter[1]} {quarter[0]}"


def _join(names: Iterable[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def is_report(ref: DocumentRef) -> bool:
    """Returns whether a document is called by a quarter, or a report of a period."""
    return bool(quarters_of(ref)) or _REPORT.search(f"{ref.title} {stem_of(ref.key)}".replace("_", " ")) is not None


def find_owner(question: str) -> str:
    """Returns the name of the company whose figures a question asks for, "Acme's sales" or "did Acme earn"; '' if it
    names none, or by letters, which stand for words.
    """
    for name in find_names(question):
        form, *owned = _OWNS.split(name.form, maxsplit=1)  # "Acme's Licensing" is taken for one name
        is_owner = owned or _OWNS.match(question, name.end) or _DOES.search(question[: name.start])
        if is_owner and not form.isupper() and not any(map(str.isdigit, form)):
            return "" if find_stems(form) <= _OF_ALL or find_said_labels(form) else form
    return ""


def names_owner(owner: str, hits: Iterable[Hit]) -> bool:
    """Returns whether a hit has a name, in its text as a name is written: `TARGET CORP.` or `Target`, and no target."""
    squeezed = _SIGN.sub("", owner)
    for hit in hits:
        heads = _SIGN.sub("", f"{hit.document.title}{hit.document.key}{hit.chunk.heading}").casefold()
        text = _SIGN.sub("", hit.chunk.text[:READ])
        if squeezed.casefold() in heads or squeezed in text or squeezed.upper() in text:
            return True
    return False


def _may_tell(hits: Sequence[Hit], wanted: tuple[int, int]) -> bool:
    """Returns whether a document may have values of a fiscal quarter: one of its columns ends when this quarter may
    end, and it names the quarter, or none. A fiscal year ends within that year, or in the first quarter of the next.
    """
    year, number = wanted
    last = _YEAR_OF_MONTHS * year + 1 - _MONTHS_OF_QUARTER * (4 - number)
    ends = range(last, last + _YEAR_OF_MONTHS + _MONTHS_OF_QUARTER)
    named = {_number_of(found) for hit in hits for found in _QUARTER.finditer(hit.chunk.text)} - {0}
    periods = [read_period(column) for hit in hits for column in _list_columns(hit)]
    dated = [period for period in periods if period and period.month and period.months < _YEAR_OF_MONTHS]
    is_near = not dated or any(_YEAR_OF_MONTHS * period.year + period.month in ends for period in dated)
    return is_near and (not named or number in named)


def _list_columns(hit: Hit) -> list[str]:
    """Returns the names of the columns of a passage's tables."""
    return [
        column.replace(HEADING_SEPARATOR, " ")
        for grid in read_passage_grids(hit.chunk)
        for column in (*grid.columns, *(name for row in grid.rows[:1] for name in row.names))
    ]


def _tells(hit: Hit, wanted: tuple[int, int]) -> bool:
    """Returns whether a passage, its headings or its table's columns name a quarter, or a day of it if the document is
    no report of another quarter: minutes of August 2025 are of Q3 2025.
    """
    document, chunk = hit.document, hit.chunk
    if any(_is_of(column, wanted) for column in _list_columns(hit)):
        return True
    own = {year for year, _ in quarters_of(document)}
    texts = (document.title, document.key, chunk.heading, chunk.text)
    dates = (found[0] for text in texts for found in _DATE.finditer(text))
    is_dated = not own and any(_is_of(written, wanted) for date in dates for written in _read_slashes(date))
    return is_dated or any(_names(text, wanted, own) for text in texts)


def _read_slashes(date: str) -> Iterator[str]:
    """Yields a date as `read_period` reads it; one with slashes in both orders of the day and the month."""
    first, *others = date.split("/")
    if len(others) != 2:
        yield date
    elif len(first) > 2:
        yield "-".join((first, *others))
    else:
        yield date
        yield "/".join((others[0], first, others[1]))


def _is_of(column: str, wanted: tuple[int, int]) -> bool:
    """Returns whether a column is of a period that ends within the quarter: `Three Months Ended December 31, 2025`."""
    period = read_period(column)
    if period is None or not period.month:
        return False
    return (period.year, (period.month + _MONTHS_OF_QUARTER - 1) // _MONTHS_OF_QUARTER) == wanted


def _names(text: str, wanted: tuple[int, int], own: set[int]) -> bool:
    """Returns whether a text names a quarter with the year beside it, or alone in a report of that year (`own`)."""
    year, number = wanted
    for found in _QUARTER.finditer(text):
        if _number_of(found) not in (number, 0):
            continue
        before, behind = text[max(0, found.start() - _NEAR) : found.start()], text[found.end() : found.end() + _NEAR]
        beside = _BEHIND.match(behind) or _BEFORE.search(before)
        years = [beside] if beside else [*_YEAR.finditer(before), *_YEAR.finditer(behind)]
        named = {int(next(digits for digits in said.groups() if digits)) for said in years}
        if year % 100 in named or (not beside and year in own):
            return True
    return False


def _number_of(found: re.Match[str]) -> int:
    """Returns the number of a quarter, 0 for the last one."""
    if digit := found["number"] or found["digit"]:
        return int(digit)
    word = found["word"].lower()
    return next((at for at, words in enumerate(_PLACES, start=1) if word in words), 0)
