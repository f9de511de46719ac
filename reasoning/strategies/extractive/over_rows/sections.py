"""What is read as the rows of a table and is none: columns of models, and sections that are alike, such as incidents.

A table has its things side by side, `Mass (kg) | 145 | 385` below `Specification | BM-320 | BM-450`: each column is a
row then, and the labels name its cells.

The heading of each begins with a sign of one kind, `INC-0412 – 2025-01-14 – Printers offline (S2)`. The sign, the date,
the text in brackets and short fields of the section (`Owner: Ada Moe`) are cells.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from core.documents import HEADING_SEPARATOR, Chunk, Span
from core.passage_context.tables import is_date
from core.ports.retrieval import Hit
from reasoning.strategies.extractive.over_rows.conditions import has_stem
from reasoning.strategies.extractive.over_rows.question.times import read_days
from reasoning.strategies.extractive.over_rows.tables import Table, TableRow
from reasoning.strategies.extractive.over_rows.total_rows import is_named_total
from reasoning.strategies.survey.values import stems_of

_FEWEST = 4
"""Sections with signs of one kind, at least."""
_LONGEST_CELL = 40
_FEWEST_THINGS = 2
_OF_THINGS = "column 1"
"""The column of the names of such things, which says nothing of them."""
_SIGN = re.compile(r"#{0,6}\s{0,2}(?P<kind>[A-Z]{2,10}[-–_/]?)(?:(?:19|20)\d\d[-/])?\d{1,6}(?![\w.])")
_BREAK = re.compile(r"\s[–—|-]\s|:\s")
_BRACKETS = re.compile(r"[(\[](?P<text>[^()\[\]]{1,40})[)\]]\s{0,3}\Z")
_FIELD = re.compile(
    r"^(?:[-*•]\s)?(?P<name>[A-Z][^\W\d]{1,20}(?: [^\W\d]{1,20})?):\s(?P<text>[^\n]{1,200})$", re.MULTILINE
)
_DATE_LIKE = re.compile(r"\s?(?:\d{4}[-./]\d{1,2}[-./]\d{1,2}|\d{1,2}[-./]\d{1,2}[-./]\d{4})\s?")
_NUMBER, _DATE, _TITLE, _BRACKETED = "Number", "Date", "Title", "In brackets"


def turn_table(table: Table, said: Collection[str], *, is_told: bool) -> Table | None:
    """Returns a table whose columns are things with their labels as columns, and each thing as a row; None if labels
    are missing or repeated, or the columns are times or measures. The question names a measure, and a thing only if
    cells of it are wanted (`is_told`). `said` are stems of the question: what stands above the labels
    names the things if the question has it, as `Model` does.
    """
    first, *names = table.columns
    labels = [row.cells.get(first, "") for row in table.rows]
    is_named = all(labels) and len(set(labels)) == len(labels) and first not in labels
    if len(names) < _FEWEST_THINGS or len(labels) < _FEWEST_THINGS or not is_named or any(map(is_date, names)):
        return None
    if not _are_things(table, names, labels) or (not is_told and _names_any(names, said)):
        return None
    is_said = not stems_of(first).isdisjoint(said)
    own = first if is_said else _OF_THINGS
    turned = Table(hit=table.hit, heading=table.heading, columns=[own, *labels], lead=table.lead, called="column")
    parts = dict(zip(labels, table.rows, strict=True))
    for name in names:
        cells = {own: name, **{label: row.cells.get(name, "") for label, row in parts.items()}}
        turned.rows.append(replace(table.rows[0], cells=cells, is_total=is_named_total(name), parts=parts))
    turned.finish()
    return turned


def _are_things(table: Table, names: Sequence[str], labels: Sequence[str]) -> bool:
    """Returns whether columns may be things: labels have something such as a unit in brackets; or no name of a column
    has, and the names are signs such as `CX-10`, or no column has amounts alone.
    """
    if any(_BRACKETS.search(label) for label in labels):
        return True
    if any(_BRACKETS.search(name) for name in names):
        return False
    return all(any(map(str.isdecimal, name)) for name in names) or table.amounts.keys().isdisjoint(names)


def _names_any(names: Sequence[str], said: Collection[str]) -> bool:
    """Returns whether a word of the question names one of the columns. A word of all models, `BM-320` and `BM-450`,
    names none.
    """
    stems = [stems_of(name) for name in names]
    is_series = all(any(map(str.isdecimal, name)) for name in names)
    series = frozenset.intersection(*stems) if is_series else frozenset()
    return any(has_stem(stem, own - series) for own in stems for stem in said)


def is_section(chunk: Chunk) -> bool:
    """Returns whether a passage stands below a heading that begins with such a sign."""
    return _SIGN.match(_own_heading(chunk)) is not None


def read_sections(hit: Hit, chunks: Sequence[Chunk]) -> list[Table]:
    """Returns a table of the sections of each kind of which a document has some; its rows are the sections' first
    passages.
    """
    by_kind = defaultdict[str, dict[str, list[Chunk]]](dict)
    for chunk in chunks:
        if found := _SIGN.match(heading := _own_heading(chunk)):
            by_kind[found["kind"]].setdefault(heading, []).append(chunk)
    return [_make_table(hit, sections) for sections in by_kind.values() if len(sections) >= _FEWEST]


def _own_heading(chunk: Chunk) -> str:
    return chunk.heading.rpartition(HEADING_SEPARATOR)[2].strip()


def _make_table(hit: Hit, sections: dict[str, list[Chunk]]) -> Table:
    table = Table(hit=hit, heading="", columns=[], called="section")
    for heading, chunks in sections.items():
        cells = dict(_read_cells(heading, chunks))
        table.columns += [name for name in cells if name not in table.columns]
        text = chunks[0].text
        start = len(text) - len(text.lstrip())
        line = text[start:].partition("\n")[0].rstrip()
        table.rows.append(
            TableRow(chunk=chunks[0], span=Span(start=start, end=start + len(line)), cells=cells, is_total=False)
        )
    table.finish()
    return table


def _read_cells(heading: str, chunks: Sequence[Chunk]) -> Iterator[tuple[str, str]]:
    bracketed = _BRACKETS.search(heading)
    number, *others = _BREAK.split(heading[: bracketed.start()] if bracketed else heading)
    yield _NUMBER, number.strip(" #")
    dates = [part for part, day in zip(others, read_days(others), strict=True) if day is not None and day.month]
    dates += [part for part in others if part not in dates and _DATE_LIKE.fullmatch(part)]
    yield from ((_DATE, date.strip()) for date in dates[:1])  # also a date that is not read, which is then told
    yield _TITLE, " – ".join(part.strip() for part in others if part not in dates)
    if bracketed:
        yield _BRACKETED, bracketed["text"]
    named: set[str] = set()
    for chunk in chunks:
        for field in _FIELD.finditer(chunk.text):
            if field["name"] not in named and len(field["text"]) <= _LONGEST_CELL:
                named.add(field["name"])
                yield field["name"], field["text"].strip()
