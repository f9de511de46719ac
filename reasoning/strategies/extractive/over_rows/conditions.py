"""The conditions of a question: which cells its words name, what it leaves out, its time, and its comparison."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from reasoning.strategies.extractive.over_rows.question.asked import RowsAsked, Said, are_same
from reasoning.strategies.extractive.over_rows.question.column_words import Beside
from reasoning.strategies.extractive.over_rows.question.operators import Wanted
from reasoning.strategies.extractive.over_rows.question.relations import is_assigned
from reasoning.strategies.extractive.over_rows.question.times import Time, read_year
from reasoning.strategies.extractive.over_rows.tables import Table, TableRow
from reasoning.strategies.survey.judging import is_within
from reasoning.strategies.survey.plan import NEGATION, Comparison
from reasoning.strategies.survey.row_judging import read_flag
from reasoning.strategies.survey.values import stems_of

_MOST_VALUES = 5
"""Values of one column that a question names at most; of more, a word is no condition."""
_STATE = re.compile(r"(?:on|in|at|under|off|out of)[ -]", re.IGNORECASE)
_CODE = re.compile(r"(?<![\w-])[^\W\d_]{1,6}-?\d[\w-]{0,12}")
"""A sign of a thing, such as `p-300b`, in a question in small letters."""
_LONGEST_NAME = 40
_MOST_UNDATED = 0.25
"""The greatest share of rows whose date was not read, if the rows of a time are computed."""

Values = dict[str, tuple[frozenset[str], frozenset[Said]]]
"""The cells that a question names, by column, with the words that name them."""


@dataclass(frozen=True, kw_only=True)
class Kept:
    """The rows that meet conditions, and these as they are written for a reader. `columns` are those of the
    conditions, `named` the rows whose difference is wanted, `is_one` tells that the question names one row, `words`
    are what it named these by, and `unread` are words for conditions that could not be decided.
    """

    rows: list[TableRow]
    conditions: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    named: tuple[TableRow, ...] = ()
    is_one: bool = False
    words: frozenset[Said] = frozenset()
    unread: tuple[str, ...] = ()


def has_stem(stem: str, stems: Collection[str]) -> bool:
    return any(are_same(stem, own) for own in stems)


def keep_values(asked: RowsAsked, table: Table, values: Values, naming: str, *, is_difference: bool) -> Kept:
    """Returns the rows with the cells that a question names. Cells that are named behind "not" or "except" are left
    out; if none is, or a cell denies something itself, it is not sure what is.
    """
    kept = Kept(rows=table.body)
    is_excluded = False
    for column, (texts, said) in values.items():
        words = kept.words | said
        if is_difference and column in (table.label, naming):
            named = tuple(row for row in kept.rows if row.cells.get(column) in texts)
            kept = replace(kept, named=named, words=words)
            continue
        is_behind = 0 <= asked.excluded < min((word.start for word in said), default=-1)
        if is_behind and not is_excluded:
            is_excluded = True
            kept = replace(_leave_out(kept, column, texts), words=words)
            continue
        rows = [row for row in kept.rows if row.cells.get(column) in texts]
        if table.called == "column" and len(rows) == len(kept.rows) > 1:
            kept = replace(kept, words=words)  # all models are of the series that the question names
            continue
        head = f"{column}: " if table.is_labelled or column != table.label else ""
        kept = replace(
            kept,
            rows=rows,
            words=words,
            conditions=(*kept.conditions, f"{head}{' or '.join(sorted(texts))}"),
            columns=(*kept.columns, column),
            is_one=kept.is_one or (column in (table.label, naming) and len(rows) == 1),
        )
    if asked.excluded >= 0 and not is_excluded:
        return replace(kept, unread=("not",))
    return kept


def _leave_out(kept: Kept, column: str, texts: frozenset[str]) -> Kept:
    """Returns the rows without these cells; rows with an empty cell are neither, and counted."""
    rows = [row for row in kept.rows if (text := row.cells.get(column)) and text not in texts]
    empty = sum(not row.cells.get(column) for row in kept.rows)
    denied = any(NEGATION.search(row.cells.get(column, "")) for row in kept.rows)
    left = f" (left out, because the cell is empty: {empty:,})" if empty else ""
    return replace(
        kept,
        rows=rows,
        conditions=(*kept.conditions, f"{column}: not {' or '.join(sorted(texts))}{left}"),
        columns=(*kept.columns, column),
        unread=("not",) if denied else kept.unread,
    )


def keep_flags(table: Table, kept: Kept, flags: Collection[str]) -> Kept:
    """Returns the rows that say yes in columns of yes and no."""
    for column in flags:
        kept = replace(
            kept,
            rows=[row for row in kept.rows if read_flag(row.cells.get(column, ""))],
            conditions=(*kept.conditions, f"{column}: yes"),
            columns=(*kept.columns, column),
            unread=kept.unread if table.flags[column] else (*kept.unread, column),
        )
    return kept


def keep_signs(asked: RowsAsked, table: Table, kept: Kept) -> Kept:
    """Returns the rows of the parts that a question names by letters: of "series C", rows with `C` in a column
    `Series`. A letter that stands in no such column could not be decided.
    """
    wanted: dict[str, frozenset[str]] = {}
    for part in asked.signs:
        column = next((name for name in table.columns if has_stem(part.kind, stems_of(name))), "")
        texts = {row.cells.get(column, "") for row in kept.rows}
        named = {text for text in texts if text.casefold() == part.sign}
        if not named or asked.excluded >= 0:
            return replace(kept, unread=(*kept.unread, part.written))
        wanted[column] = wanted.get(column, frozenset()) | named
    for column, own in wanted.items():
        kept = replace(
            kept,
            rows=[row for row in kept.rows if row.cells.get(column) in own],
            conditions=(*kept.conditions, f"{column}: {' or '.join(sorted(own))}"),
            columns=(*kept.columns, column),
        )
    return kept


def keep_times(
    asked: RowsAsked,
    table: Table,
    kept: Kept,
    rest: Sequence[Said],
    named: Mapping[str, Collection[Said]],
    heads: Collection[str],
) -> Kept:
    """Returns the rows of the time that the question names: by the column of dates that it names (`named`), of several
    the one that is named last before the time, or by the only one. Rows without such a date are left out and
    counted; if they are many, and not empty in a column that is named, the time is not read. Months without a year are
    of the year that stands above the table.
    """
    years = [said for said in rest if said not in kept.words and read_year(said.written)]
    time = asked.time or (read_year(years[0].written) if len(years) == 1 else None)
    if time is None or (asked.time is None and str(time.year) in heads and not _has_year(table)):
        return kept
    if time.year and str(time.year) in heads and not _has_year(table):
        time = replace(time, year=0)
    start = asked.text.find(time.written.casefold()) if asked.time else years[0].start
    column = _choose_dates(table, named, start)
    if not column:
        return kept if asked.time is None else replace(kept, unread=(*kept.unread, time.written))
    filled = [row for row in kept.rows if row.cells.get(column)] if column in named else kept.rows
    rows = _find_dated(time, table, column, filled)
    if rows is None:
        return replace(kept, unread=(*kept.unread, time.written))
    undated = sum(table.day(row, column) is None for row in kept.rows)
    year = f" {time.year}" if time.year and str(time.year) not in time.written else ""
    left = f" (left out, because the date is missing or was not understood: {undated:,})" if undated else ""
    return replace(
        kept,
        rows=rows,
        conditions=(*kept.conditions, f"{column}: {time.written}{year}{left}"),
        columns=(*kept.columns, column),
        words=kept.words | frozenset(years),
    )


def _choose_dates(table: Table, named: Mapping[str, Collection[Said]], start: int) -> str:
    """Returns the column of dates that a question names before its time, which begins at `start`; '' if it is not
    sure. "Paid in May" is of `Paid On`, "an invoice date in May" of `Invoice Date` and not of `Due Date`.
    """
    if not named:
        return next(iter(table.dates)) if len(table.dates) == 1 else ""
    places = {
        column: sorted((said.start for said in words if said.start < start), reverse=True)
        for column, words in named.items()
    }
    best = max(places.values())
    chosen = [column for column, found in places.items() if found == best]
    return chosen[0] if len(chosen) == 1 else ""


def _has_year(table: Table) -> bool:
    return any(day is not None and day.year for days in table.dates.values() for day in days)


def _find_dated(time: Time, table: Table, column: str, rows: list[TableRow]) -> list[TableRow] | None:
    """Returns the rows of a time; None if the dates do not tell."""
    days = [(row, table.day(row, column)) for row in rows]
    read = [day for _, day in days if day is not None]
    if len(rows) - len(read) > _MOST_UNDATED * len(rows):
        return None
    if any((time.needs_month and not day.month) or (time.day and not day.day) for day in read):
        return None
    has_years = all(day.year for day in read)
    if not has_years and not time.has_any_year:  # months without a year are of the year that the title has
        return None
    is_bound = time.first is not None or time.last is not None
    if is_bound and time.has_any_year and len({day.year for day in read}) > 1:
        return None
    return [row for row, day in days if day is not None and time.has(day)]


def keep_compared(table: Table, kept: Kept, comparison: Comparison, column: str) -> Kept:
    """Returns the rows whose amount is within a comparison, and how many cells are no numbers."""
    read = [(row, table.amount(row, column)) for row in kept.rows]
    missing = sum(amount is None for _, amount in read)
    left_out = f" (left out, because it is no number: {missing:,})" if missing else ""
    return replace(
        kept,
        rows=[row for row, amount in read if amount and is_within(comparison, float(amount.value))],
        conditions=(*kept.conditions, f"{column}: {comparison.words} {comparison.number}{left_out}"),
        columns=(*kept.columns, column),
    )


def keep_beside(table: Table, kept: Kept, beside: Beside, columns: tuple[str, str]) -> Kept:
    """Returns the rows whose amount in the first column is above or below their amount in the second."""
    first, second = columns
    read = [(row, table.amount(row, first), table.amount(row, second)) for row in kept.rows]
    missing = sum(own is None or other is None for _, own, other in read)
    left_out = f" (left out, because one of them is no number: {missing:,})" if missing else ""
    return replace(
        kept,
        rows=[
            row
            for row, own, other in read
            if own and other and (own.value > other.value if beside.is_more else own.value < other.value)
        ],
        conditions=(*kept.conditions, f"{first}: {beside.words} “{second}”{left_out}"),
        columns=(*kept.columns, first, second),
    )


def find_assigned(asked: RowsAsked, columns: Mapping[str, Collection[Said]]) -> str:
    """Returns the column that says what somebody is to the rows, "have Bo as manager"; '' if none is named so."""
    named = (column for column, found in columns.items() if any(is_assigned(asked.text, said.start) for said in found))
    return next(named, "")


def find_values(
    asked: RowsAsked, words: Sequence[Said], table: Table, columns: Mapping[str, Collection[Said]]
) -> Values:
    """Returns the cells that words of the question name, by column, with these words: `Status: open`.

    A cell that denies something is none of them. The column that the question assigns a cell to ("as manager") goes
    first, then a column whose cells the question has whole, then the column with most words; a word counts once. A
    sign such as `P-3`, whose parts are no words, is found as it is written. A year alone is a time if the table has
    dates, and names no cell.
    """
    assigned = find_assigned(asked, columns)
    years = frozenset(said for said in words if table.dates and read_year(said.written))
    codes = _CODE.findall(asked.text) if asked.is_told else []
    found: list[tuple[bool, int, int, str, frozenset[str], frozenset[Said]]] = []
    for number, column in enumerate(table.columns):
        if column in table.amounts or column in table.dates:
            continue
        texts = {text for row in table.body if (text := row.cells.get(column, ""))}
        denies = NEGATION.match if column == table.label else NEGATION.search  # a name may be "Lamp without shade"
        texts = {text for text in texts if not denies(text)}
        by_text = {text: stems_of(text) for text in texts}
        having = {
            text: frozenset(said for said in words if has_stem(said.stem, own) and not _is_counted(asked, said, text))
            for text, own in by_text.items()
        }
        having = {text: _leave_out_years(asked, words, years, text, said) for text, said in having.items()}
        having = {text: said for text, said in having.items() if said}
        whole = {text: said for text, said in having.items() if _is_whole(asked, table, column, text)}
        signs = {text: having.get(text, frozenset()) for text in texts if _is_written(text.casefold(), asked.text)}
        equal = {text: said for text, said in whole.items() if is_said(text.casefold(), asked.text)}
        coded = {text: said for text, said in having.items() if any(is_said(code, text.casefold()) for code in codes)}
        chosen = signs or equal or whole or (coded if len(coded) == 1 else having)
        if chosen and len(chosen) <= _MOST_VALUES:
            said = frozenset(word for own in chosen.values() for word in own)
            is_first = column == assigned or bool(signs or whole)
            place = -1 if column == assigned else number
            found.append((not is_first, -len(said), place, column, frozenset(chosen), said))
    values: Values = {}
    taken: set[Said] = set()
    for *_, column, named, said in sorted(found, key=lambda item: item[:3]):
        if not said or not said <= taken:
            values[column] = (named, said)
            taken |= said
    return values


def _is_counted(asked: RowsAsked, said: Said, text: str) -> bool:
    """Returns whether a word says what is counted or added up, and a cell has another form of it: "how many orders" and
    "the total of all orders" do not mean the rows with `Status: ordered`.
    """
    before = [word for word in asked.words if asked.after <= word.start < said.start and not word.is_light]
    is_next = asked.wanted is Wanted.COUNT and not before
    if not is_next and not (asked.wanted is Wanted.SUM and said.written.casefold().endswith("s")):
        return False
    written = said.written.casefold().removesuffix("s")
    return all(word.casefold().removesuffix("s") != written for word in text.split())


def _leave_out_years(
    asked: RowsAsked, words: Sequence[Said], years: Collection[Said], text: str, said: frozenset[Said]
) -> frozenset[Said]:
    """Returns the words that name a cell, without years, unless the question has the cell as it is written, or a year
    with the word before it: "Audit 2024" of `Audit 2024, second part`.
    """
    folded = text.casefold()
    if said.isdisjoint(years) or is_said(folded, asked.text):
        return said
    ends = {word.start + len(word.written) + 1: word.written for word in words}
    return frozenset(
        word
        for word in said
        if word not in years
        or (word.start in ends and is_said(f"{ends[word.start]} {word.written}".casefold(), folded))
    )


def weigh_words(asked: RowsAsked, table: Table) -> RowsAsked:
    """Returns the question with words such as "list" and "done" as other words, if they stand in the name of a column
    or in a cell that the question has as it is written: "list price", `Status: done`.
    """
    if not any(said.is_light for said in asked.words):
        return asked
    texts = [column for column in table.columns if column not in table.amounts and column not in table.dates]
    written = {" ".join(column.partition("(")[0].split()) for column in table.columns}
    written |= {row.cells.get(column, "") for column in texts for row in table.body}
    named = {text.casefold() for text in written if len(text) <= _LONGEST_NAME}
    places = [(at, at + len(text)) for text in named if is_said(text, asked.text) for at in [asked.text.find(text)]]
    is_in = {said for said in asked.words if any(start <= said.start < end for start, end in places)}
    return replace(
        asked, words=tuple(replace(said, is_light=said.is_light and said not in is_in) for said in asked.words)
    )


def find_value_words(asked: RowsAsked, words: Sequence[Said], table: Table) -> dict[Said, int]:
    """Returns the words that are a whole cell of a column of texts, "paid" of `Status: Paid`, with the most words of
    such a cell. The name of a row is none, nor is a note that repeats a cell of another column.
    """
    found: dict[Said, int] = {}
    names = {name.casefold() for column in table.columns for name in column.split()}
    for column in table.columns:
        if column in table.amounts or column in table.dates or column in table.flags or column == table.label:
            continue
        texts = {text for row in table.body if (text := row.cells.get(column, ""))}
        for text in texts:
            own = stems_of(text)
            if own and not NEGATION.search(text) and _is_whole(asked, table, column, text):
                meant = [
                    said
                    for said in words
                    if has_stem(said.stem, own)
                    and _may_be_cell(said, text, names)
                    and not _is_counted(asked, said, text)
                ]
                found |= {said: max(len(own), found.get(said, 0)) for said in meant}
    return found


def _may_be_cell(said: Said, text: str, names: Collection[str]) -> bool:
    """Returns whether a word may be a cell: not if a column has it in its name, and the cell another form of it, as of
    "delivery date" beside `Status: delivered`.
    """
    written = said.written.casefold()
    return written not in names or is_said(written, text.casefold())


def _is_whole(asked: RowsAsked, table: Table, column: str, text: str) -> bool:
    """Returns whether the question has all words of a cell that does not only repeat a cell of another column; of a
    state such as "on loan" as it is written.
    """
    if _STATE.match(text) and not is_said(text.casefold().replace("-", " "), asked.text.replace("-", " ")):
        return False
    stems = stems_of(text)
    return all(has_stem(stem, asked.stems) for stem in stems) and not _repeats_cell(table, column, stems)


def _repeats_cell(table: Table, column: str, stems: frozenset[str]) -> bool:
    """Returns whether the words of a cell are the name of another column and a cell of it: `Crew: North` in a note."""
    named = ((other, name) for other in table.columns if (name := stems_of(other)) and other != column)
    return any(
        stems_of(row.cells.get(other, "")) == stems - name
        for other, name in named
        if name < stems
        for row in table.body
    )


def _is_written(sign: str, question: str) -> bool:
    """Returns whether the question has a sign with a digit as a whole."""
    return any(map(str.isdecimal, sign)) and is_said(sign, question)


def is_said(text: str, question: str) -> bool:
    """Returns whether the question has a text as whole words."""
    at = question.find(text)
    if at < 0:
        return False
    return not question[at - 1 : at].isalnum() and not question[at + len(text) : at + len(text) + 1].isalnum()
