"""Values that passages give under a name: cells of tables, lines such as `Supplier: Norwind`, dates, and amounts.

Everything is a span of a passage, so that whatever is grouped or added up has its citation.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from core.documents import Chunk, Span
from core.execution.limits import check_work
from core.passage_context import read_grids, split_heading
from core.passage_context.grids import GridRow, TextGrid, count_fields
from core.text.name_spans import find_names
from core.text.terms import split_words
from reasoning.strategies.survey.repeated_rows import RepeatedRows

_READ = 20_000
_LINE = re.compile(
    r"^[ \t]*(?:[-*•][ \t]*)?\**(?P<label>[^\W\d_][^:|\n*]{0,40}?)\**:\**[ \t]+(?P<value>[^|\n]{1,160}?)[ \t]*$",
    re.MULTILINE,
)
_DEFINED = re.compile(r"\((?:hereinafter |herein |each )?(?:the |an? )?[\"“'](?P<label>[^\"”'\n]{2,30})[\"”']\)")
_BEFORE = 100
"""Characters before `(the “Supplier”)` in which its name is looked for."""
_TOTAL = frozenset(
    word.stem
    for word in split_words(
        "total totals sum subtotal overall Summe Gesamt Gesamtbetrag Gesamtsumme Zwischensumme Übertrag Endsumme"
    )
)
_BESIDE_TOTAL = frozenset(
    word.stem
    for word in split_words("grand net gross carried forward balance amount all year netto brutto EUR USD GBP")
)
"""Stems of words that name the total of the rows above, and of words beside them."""
_AMOUNT = re.compile(
    r"(?P<open>\()?(?P<sign>[-−–])?[ ]?(?P<before>[$€£¥]|[A-Z]{3}\b)?[ ]?(?P<sign_too>[-−–])?"
    r"(?P<number>\d[\d.,'’]{0,24}\d|\d)[ ]?(?P<after>[$€£¥%]|[A-Z]{3}\b|[a-z]{1,12}\b)?\)?"
)
_BRACKETED = re.compile(
    r"(?P<before>[$€£¥]|[A-Z]{3})?[ ]?\([ ]?(?P<number>\d[\d.,'’]{0,26})[ ]?\)"
    r"[ ]?(?P<after>%|thousand|million|billion|mn?|bn|k)?"
)
"""A loss whose currency or unit stands outside of the brackets: `$ (347)`, `(3.1)%`."""
_GROUPED = re.compile(r"(?<![\d.,])[1-9]\d{0,2}(?:[ \u00a0\u202f]\d{3})+(?!\d)")
"""Digits in groups of three with spaces between them: `1 250,00`."""
_UNIT_OF_COLUMN = re.compile(
    r"[(\[]\s?(?:in )?(?P<unit>[$€£¥%]|[A-Z]{3}|[a-z]{2,12})\s?[)\]]"
    r"|\b(?P<code>(?:(?:Tsd|Mio|Mrd)\.? )?(?:EUR|USD|GBP|CHF)(?: (?:thousand|million|billion))?)\b"
)
_SIGNS = {"$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY"}
CURRENCIES = frozenset(
    (
        *_SIGNS.values(), "CHF", "SEK", "NOK", "DKK", "ISK", "PLN", "CZK", "HUF", "RON", "BGN", "TRY", "RUB", "UAH",
        "CNY", "HKD", "TWD", "SGD", "KRW", "INR", "IDR", "THB", "MYR", "PHP", "AUD", "NZD", "CAD", "MXN", "BRL", "ARS",
        "CLP", "ZAR", "EGP", "NGN", "ILS", "AED", "SAR",
    )
)  # fmt: skip
_SCALES = frozenset({"thousand", "million", "billion", "mio", "mrd", "tsd"})
_POINT = re.compile(r"\d\.(?:\d{1,2}|\d{4,12})(?![\d.,])")
"""A decimal behind a point, which is no number of thousands."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Labelled:
    """A value with its span in a passage. `row` and `column` name its cell, '' where it is none. `is_total`: its row is
    named as a total. `by_row`: the name that was looked for is the label of the row, or of the line, and not the name
    of the column.
    """

    chunk: Chunk
    span: Span
    row: str = ""
    column: str = ""
    is_total: bool = False
    by_row: bool = False

    @property
    def text(self) -> str:
        return self.chunk.text[self.span.start : self.span.end]


def list_labelled(chunk: Chunk, stems: frozenset[str], read_before: RepeatedRows | None = None) -> Iterator[Labelled]:
    """Yields the values of a passage whose label has all of these stems: cells of tables, then lines, then names in
    front of a definition such as `(the “Supplier”)`. Rows that were `read_before` are left out.
    """
    text = chunk.text[:_READ]
    ranges: list[tuple[int, int]] = []
    for grid, rows in _read_rows(chunk, read_before or RepeatedRows()):
        ranges.append((grid.start, grid.end))
        for row in rows:
            columns = row.names or grid.columns
            row_stems = stems_of(row.label)
            for at, place in enumerate(row.cells):
                column = columns[at] if at < len(columns) else ""
                by_column = stems <= stems_of(column)
                if place == row.named_by or not text[slice(*place)].strip() or not (by_column or stems <= row_stems):
                    continue
                yield Labelled(
                    chunk=chunk,
                    span=Span(start=place[0], end=place[1]),
                    row=row.label,
                    column=column,
                    is_total=is_total(row.label),
                    by_row=not by_column,
                )
    for line in _LINE.finditer(text):
        if stems <= stems_of(line["label"]) and not any(start <= line.start() < end for start, end in ranges):
            start, end = line.span("value")
            yield Labelled(chunk=chunk, span=Span(start=start, end=end), row=line["label"], by_row=True)
    for defined in _DEFINED.finditer(text):
        begin = max(0, defined.start() - _BEFORE)
        before = find_names(text[begin : defined.start()])
        if stems <= stems_of(defined["label"]) and before:
            last = before[-1]
            span = Span(start=begin + last.start, end=begin + last.end)
            yield Labelled(chunk=chunk, span=span, row=defined["label"], by_row=True)


def _read_rows(chunk: Chunk, read_before: RepeatedRows) -> list[tuple[TextGrid, list[GridRow]]]:
    grids = read_passage_grids(chunk)
    repeated = read_before.find(chunk, [row for grid in grids for row in grid.rows])
    return [(grid, [row for row in grid.rows if (row.start, row.end) not in repeated]) for grid in grids]


def is_total(label: str) -> bool:
    """Returns whether a row is the total of rows above it, by its label: `Total 2024`, unlike "Total Tower"."""
    stems = stems_of(label)
    return not stems.isdisjoint(_TOTAL) and all(stem in _TOTAL | _BESIDE_TOTAL or stem.isdecimal() for stem in stems)


def read_document_grids(chunks: Sequence[Chunk]) -> Iterator[list[TextGrid]]:
    """Yields the tables of each passage of a document. A cell whose column is empty in most rows has its name though
    the other rows of its passage do not have it.
    """
    fields: dict[str, Counter[str]] = defaultdict(Counter)
    headings = [split_heading(chunk.heading, chunk.text)[0] for chunk in chunks]
    for heading, chunk in zip(headings, chunks, strict=True):
        check_work()
        fields[heading].update(count_fields(chunk.text[:_READ]))
    names = {heading: {name for name, count in found.items() if count > 1} for heading, found in fields.items()}
    for heading, chunk in zip(headings, chunks, strict=True):
        yield read_passage_grids(chunk, names[heading])


def read_passage_grids(chunk: Chunk, fields: Collection[str] = ()) -> list[TextGrid]:
    """Returns the tables of a passage, which may begin within the first. `fields` are the names of cells that rows of
    other passages have.
    """
    text = chunk.text[:_READ]
    header = split_heading(chunk.heading, text)[1]
    names = [name.strip() for name in header.strip().strip("|").split("|")] if header else []
    return read_grids(text, is_cut=bool(header), names=names, fields=fields)


def choose_values(found: Sequence[Labelled]) -> tuple[Labelled, ...]:
    """Returns the values of a document that are added up: the last total of a column, else all values of the column.
    () if the document has several values under one label of a row, as reports have for several periods.

    The first column or line decides: the same table often stands in a document twice.
    """
    if not found:
        return ()
    first = found[0]
    if first.by_row:
        same = [value for value in found if value.by_row and value.row.casefold() == first.row.casefold()]
        amounts = {_comparable(value.text) for value in same}
        return (first,) if len(amounts) == 1 else ()
    same = [value for value in found if not value.by_row and value.column.casefold() == first.column.casefold()]
    totals = [value for value in same if value.is_total]
    return (totals[-1],) if totals else tuple(same)


def _comparable(text: str) -> object:
    amount = read_amount(text)
    return text.casefold().strip() if amount is None else (amount.value, amount.unit)


def stems_of(text: str) -> frozenset[str]:
    return frozenset(word.stem for word in split_words(text))


@dataclass(frozen=True, kw_only=True, slots=True)
class Amount:
    """A number as it is written, exactly, and its unit: a code of a currency, `%`, a word, or ''."""

    value: Decimal
    unit: str


def has_points(texts: Iterable[str]) -> bool:
    """Returns whether some cell of a column has decimals behind a point."""
    return any(_POINT.search(text) for text in texts)


def read_amount(text: str, column: str = "", *, has_points: bool = False) -> Amount | None:
    """Returns the amount that a cell consists of; None if it has other words, or several numbers.

    The name of the column tells the unit if the cell does not, or tells less of it: `Revenue (EUR million)`. Negative
    are amounts with a sign or in brackets. With `has_points`, a point is before decimals.
    """
    text = " ".join(_GROUPED.sub(lambda digits: "".join(digits.group().split()), text).split())
    text = _move_into_brackets(text)
    found = _AMOUNT.fullmatch(text)
    if found is None or (found["open"] is not None) != text.endswith(")"):
        return None
    value = read_decimal(found["number"], has_points=has_points)
    if value is None or _is_code(found):
        return None
    unit = found["before"] or found["after"] or ""
    unit = _SIGNS.get(unit, unit)
    if found["before"] and (found["after"] or "").casefold() in _SCALES:
        unit += f" {found['after']}"
    named = _UNIT_OF_COLUMN.search(column)
    of_column = (named["unit"] or named["code"]) if named else ""
    if not unit or unit in of_column.split():
        unit = of_column
    is_negative = bool(found["open"] or found["sign"] or found["sign_too"])
    return Amount(value=-value if is_negative else value, unit=_SIGNS.get(unit, unit))


def _move_into_brackets(text: str) -> str:
    """Returns a loss with its currency and its unit within the brackets, `($ 347)`; another text as it is."""
    found = _BRACKETED.fullmatch(text)
    before = (found["before"] or "") if found else ""
    if found is None or (len(before) > 1 and before not in CURRENCIES):
        return text
    return f"({before}{' ' if before else ''}{found['number']}{found['after'] or ''})"


def _is_code(found: re.Match[str]) -> bool:
    """Returns whether letters with a hyphen before digits are a number of a thing: `INV-5003`, unlike `EUR -50`."""
    before, sign = found["before"], found["sign_too"]
    return bool(before and sign) and before not in CURRENCIES and f"{before}{sign}" in found[0]


def read_decimal(written: str, *, has_points: bool = False) -> Decimal | None:
    """Returns the value of digits as they are written: `10,000`, `2.5` or `1.234,50`; None if they are no number."""
    digits = written.replace("'", "").replace("’", "")
    if has_points:
        digits = digits.replace(",", "")
    elif "," in digits and "." in digits:
        decimal = max(digits.rfind(","), digits.rfind("."))
        digits = digits[:decimal].replace(",", "").replace(".", "") + "." + digits[decimal + 1 :]
    elif re.fullmatch(r"[1-9]\d{0,2}(?:[.,]\d{3})+", digits):
        digits = digits.replace(",", "").replace(".", "")
    try:
        return Decimal(digits.replace(",", "."))
    except InvalidOperation:  # 12.3.2026
        return None


_MONTH_NAMES = """
january januar jan
february februar feb
march märz mar
april apr
may mai
june juni jun
july juli jul
august aug
september sept sep
october oktober oct okt
november nov
december dezember dec dez
"""
_MONTHS = {
    name: number for number, names in enumerate(_MONTH_NAMES.strip().splitlines(), start=1) for name in names.split()
}
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DATE = re.compile(
    r"\b(?P<iso>(?:19|20)\d\d)-(?P<iso_month>0[1-9]|1[0-2])(?:-\d\d)?\b"
    rf"|\b(?:\d{{1,2}}(?:st|nd|rd|th|\.)? )?(?P<month>{_MONTH})\.?(?: \d{{1,2}}(?:st|nd|rd|th)?,?)?"
    r" (?P<year>(?:19|20)\d\d)\b"
    r"|\b\d{1,2}\.(?P<dotted>0?[1-9]|1[0-2])\.(?P<dotted_year>(?:19|20)\d\d)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Period:
    """The year and month of a date, and where it stands in its text."""

    year: int
    month: int
    span: Span

    def name(self, period: str) -> str:
        """Returns the name of the `year`, `quarter` or `month`."""
        if period == "quarter":
            return f"{self.year} Q{(self.month + 2) // 3}"
        return f"{self.year}-{self.month:02}" if period == "month" else str(self.year)


def find_period(text: str) -> Period | None:
    """Returns the first date of a text that names a month and a year."""
    found = _DATE.search(text, 0, _READ)
    if found is None:
        return None
    month = found["iso_month"] or found["dotted"]
    return Period(
        year=int(found["iso"] or found["year"] or found["dotted_year"]),
        month=int(month) if month else _MONTHS[found["month"].casefold()],
        span=Span(start=found.start(), end=found.end()),
    )
