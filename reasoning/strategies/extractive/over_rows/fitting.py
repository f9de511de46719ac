"""Whether a question is about a table: which column it measures, which rows it means, and which words are left.

A table is only read for an answer if it has all words of the question, in the names of its columns, in cells, or in
what stands above it. Otherwise the question may be about something else in the same document.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from urllib.parse import unquote

from core.text.value_kinds import find_stems
from reasoning.strategies.extractive.over_rows.asked import RowsAsked, Said, are_same
from reasoning.strategies.extractive.over_rows.column_words import is_person
from reasoning.strategies.extractive.over_rows.conditions import (
    Kept,
    Values,
    find_values,
    has_stem,
    keep_compared,
    keep_flags,
    keep_times,
    keep_values,
)
from reasoning.strategies.extractive.over_rows.measures import (
    Columns,
    choose_group,
    choose_measure,
    find_compared,
    find_person,
    find_unit,
    find_unit_of,
    has_scale,
    match_columns,
    name_of,
    names_text,
    stem_of,
)
from reasoning.strategies.extractive.over_rows.operators import ORDERED, Wanted
from reasoning.strategies.extractive.over_rows.tables import Table, TableRow
from reasoning.strategies.extractive.over_rows.times import is_word_of_time
from reasoning.strategies.survey.values import CURRENCIES, stems_of

__all__ = ["Fit", "fit"]

_VALUE = re.compile(r"\b(?:value|worth|wert|warenwert|lagerwert|valeur)\b")
_DATES = stems_of("date day Datum Tag jour")
_OF_TITLE = re.compile(
    r"\b(?:in|of|at|for|from|on|im|aus|auf|der|des|von|vom|bei|de|du|dans|sur|à|au)\s"
    r"(?:the |our |der |dem |den |die |le |la |les |l['’])?(?:[^\W\d_]{2,30} )?\Z"
)


@dataclass(frozen=True, kw_only=True)
class Fit:
    """What a question means in a table. `asked` is the question as the table makes it understood: whether dates are
    ordered, and whether the most of something is a row, a total or a count.

    `measure` is the column of amounts, '' if none is named, `compared` the column that is compared with a number,
    `group` the column of groups, '' without any (`period`: dates are put together by it), and `naming` the column that
    names the rows. `rows` meet the `conditions`, which are written for a reader, and are of the columns `limited`.
    `is_one`: the question names one row. `left` are the words that the table does not have, and `known` counts the
    others. The first word that names a column names the rows (`is_noun_known`), of which several may have one name
    (`is_distinct`), or the measure (`is_noun_measured`). `is_measured`: a word of the question names the measure.
    `is_titled`: the rows are counted, and their name stands above the table.
    """

    asked: RowsAsked
    table: Table
    measure: str
    compared: str
    group: str
    period: str
    naming: str
    rows: list[TableRow]
    conditions: tuple[str, ...]
    limited: tuple[str, ...]
    named: tuple[TableRow, ...]
    is_one: bool
    left: tuple[Said, ...]
    known: int
    is_distinct: bool
    is_noun_known: bool
    is_noun_measured: bool
    is_measured: bool
    is_titled: bool


@dataclass(frozen=True, kw_only=True)
class _Roles:
    """The columns by what they are in the question: `noun` is the word that names the rows, in the column `naming`."""

    columns: Columns
    values: Values
    flags: list[str]
    group: str
    period: str
    noun: Said | None
    naming: str
    compared: str
    measure: str


def fit(asked: RowsAsked, table: Table) -> Fit:
    """Returns what a question means in a table."""
    words = [said for said in asked.words if not said.is_light]
    document = table.hit.document
    lead = table.lead if table.has_twin else ""
    heads = find_stems(f"{document.title}\n{_spaced(document.key)}\n{table.heading}\n{lead}")
    columns = match_columns(words, table, heads)
    by_column = frozenset(said for found in columns.values() for said in found)
    rest = [said for said in words if said not in by_column]
    roles = _find_roles(asked, table, columns, rest)
    asked = _turn(asked, table, roles, heads)
    kept = _keep(asked, table, roles, rest, heads)
    known = kept.words | (columns[roles.measure] if roles.measure else frozenset())
    known |= find_unit(asked, table, roles.compared) | find_unit_of(rest, table, roles.measure)
    left = [
        said
        for said in rest
        if said not in known
        and not said.is_generic
        and not has_stem(said.stem, heads)
        and not _names_rows(asked, table, said)
        and not (said.stem in _DATES and roles.measure in table.dates)
    ]
    unread = [*kept.unread, *_find_unread(asked, table, roles, heads), *_find_unplaced(asked, roles, kept, left)]
    is_noun_known = roles.noun is not None and roles.noun in columns[roles.naming]
    is_noun_known = is_noun_known or _is_named_by_time(asked, roles) or _is_who(asked, table, roles)
    group = roles.group
    is_named = (
        not roles.period
        or has_stem(stem_of(roles.period), name_of(group))
        or has_stem(asked.each[0].casefold(), name_of(group))
    )
    if asked.wanted in {Wanted.MEAN, Wanted.MEDIAN} and is_named and not _repeats(kept.rows, group):
        group = ""  # the average per month of a table of months is the average of all rows
    return Fit(
        asked=asked,
        table=table,
        measure=roles.measure,
        compared=roles.compared,
        group=group,
        period=roles.period if group else "",
        naming=roles.naming,
        rows=kept.rows,
        conditions=kept.conditions,
        limited=kept.columns,
        named=kept.named,
        is_one=kept.is_one,
        left=(*left, *(Said(stem="", written=written, start=0) for written in unread)),
        known=len(by_column) + len(kept.words),
        is_distinct=_repeats(table.body, roles.naming)
        and is_noun_known
        and roles.naming not in table.places
        and not _counts_rows(asked),
        is_noun_known=is_noun_known,
        is_measured=bool(roles.measure) and bool(columns[roles.measure]),
        is_titled=_is_titled(asked, roles, kept, heads),
        is_noun_measured=roles.noun is not None and bool(roles.measure) and roles.noun in columns[roles.measure],
    )


def _find_roles(asked: RowsAsked, table: Table, columns: Columns, rest: Sequence[Said]) -> _Roles:
    group = next(
        (column for column in table.columns if any(has_stem(stem, name_of(column)) for stem in asked.group)), ""
    )
    if not group and asked.period and len(table.dates) == 1:
        group = next(iter(table.dates))
    by_measure, group = choose_group(asked, table, columns, group)
    values = find_values(asked, rest, table)
    flags = _find_flags(asked, table, columns, {group, *values})
    of_others = {said for column in flags for said in columns[column]}
    of_others |= {said for said in columns.get(group, ()) if said.stem in asked.group}
    noun = next(
        (said for said in asked.words if any(said in columns[c] for c in columns) and said not in of_others), None
    )
    naming = _find_naming(asked, table, columns, noun)
    compared = find_compared(asked, table, columns)
    measure = by_measure or choose_measure(asked, table, columns, {group, compared} - {""})
    if not columns.get(measure) and names_text(asked, table, columns, {group, *values, *flags}):
        measure = "" if asked.superlative is None else measure
    if not measure and compared and asked.wanted is not Wanted.COUNT:
        measure = compared if _is_behind_operator(asked, columns[compared]) else ""
    return _Roles(
        columns=columns,
        values=values,
        flags=flags,
        group=group,
        period=asked.period if group in table.dates else "",
        noun=noun,
        naming=naming,
        compared=compared,
        measure=measure,
    )


def _find_noun(asked: RowsAsked, columns: Columns, of_others: Collection[Said], values: Values) -> Said | None:
    """Returns the word that names the rows: the first one that names a column. What is counted stands first; if it
    names no column, none does.
    """
    of_values = {said for _, words in values.values() for said in words}
    by_column = [said for said in asked.words if any(said in found for found in columns.values())]
    if asked.wanted is Wanted.COUNT and not asked.is_listed:
        counted = next(
            (said for said in asked.words if said not in of_values and not said.is_light and not said.is_generic), None
        )
        return counted if counted in by_column and counted not in of_others else None
    return next((said for said in by_column if said not in of_others), None)


def _find_naming(asked: RowsAsked, table: Table, columns: Columns, noun: Said | None) -> str:
    """Returns the column that names the rows: the one that the first word names, a column of dates ("in which year"), a
    column of persons ("who"), or else the column of labels.
    """
    if asked.noun and is_word_of_time(asked.noun):
        return next((column for column in table.dates if has_stem(asked.noun, name_of(column))), table.label)
    if asked.is_who and (person := find_person(table)):
        return person
    return next(
        (column for column in table.columns if noun in columns[column] and column not in table.amounts), ""
    ) or (table.label)


def _is_named_by_time(asked: RowsAsked, roles: _Roles) -> bool:
    return bool(asked.noun) and is_word_of_time(asked.noun) and has_stem(asked.noun, name_of(roles.naming))


def _is_who(asked: RowsAsked, table: Table, roles: _Roles) -> bool:
    return asked.is_who and roles.naming == find_person(table)


def _names_rows(asked: RowsAsked, table: Table, said: Said) -> bool:
    """Returns whether a word that the table lacks says what its rows are: what a column without a name would be called,
    or a word for persons, of which the table has a column.
    """
    is_open = not table.is_labelled or table.label in table.amounts
    if is_open and asked.noun and are_same(said.stem, asked.noun):
        return True
    return is_person(frozenset([said.stem])) and bool(find_person(table))


def _keep(asked: RowsAsked, table: Table, roles: _Roles, rest: Sequence[Said], heads: frozenset[str]) -> Kept:
    """Returns the rows that meet all conditions of the question."""
    is_difference = asked.wanted is Wanted.DIFFERENCE
    kept = keep_values(asked, table, roles.values, roles.naming, is_difference=is_difference)
    kept = keep_flags(table, kept, roles.flags)
    named = [column for column in table.dates if roles.columns[column] and column != roles.measure]
    kept = keep_times(asked, table, kept, rest, named, heads)
    if asked.comparison is None:
        return kept
    if not roles.compared:
        return replace(kept, unread=(*kept.unread, asked.comparison.words))
    is_scaled = asked.factor > 1 and has_scale(table, roles.compared)
    if is_scaled or not _has_one_unit(table, roles.compared):
        kept = replace(kept, unread=(*kept.unread, asked.comparison.words))
    return keep_compared(table, kept, asked.comparison, roles.compared)


def _turn(asked: RowsAsked, table: Table, roles: _Roles, heads: frozenset[str]) -> RowsAsked:
    """Returns the question as the columns make it understood."""
    superlative = asked.superlative
    if superlative is not None and superlative.is_turned and roles.measure in table.amounts:
        return replace(asked, wanted=Wanted.LEAST if superlative.is_most else Wanted.MOST)
    if asked.wanted is Wanted.COUNT and asked.is_together and roles.measure and roles.columns[roles.measure]:
        return replace(asked, wanted=Wanted.SUM)  # "how many parts are in stock altogether"
    if asked.wanted not in ORDERED or asked.inner is not None or not asked.is_counted:
        return asked
    if not _repeats(table.body, roles.naming) or (roles.noun is None and not asked.is_who):
        return asked
    behind = next((said for said in asked.words if said.start >= asked.after and not said.is_light), None)
    if asked.is_often or (behind is not None and _is_counted_by_rows(table, roles, behind, heads)):
        return replace(asked, inner=Wanted.COUNT)
    is_amount = roles.measure in table.amounts and (behind is None or behind in roles.columns[roles.measure])
    return replace(asked, inner=Wanted.SUM) if is_amount else asked


def _is_counted_by_rows(table: Table, roles: _Roles, said: Said, heads: frozenset[str]) -> bool:
    """Returns whether each row is one of what the word names: it names the table, or a column of which each row has its
    own text, and no amounts.
    """
    if said.is_row:
        return True
    having = [column for column in table.columns if said in roles.columns[column]]
    if any(column in table.amounts for column in having):
        return False
    if having:
        return having[0] in table.places or not _repeats(table.body, having[0])
    return has_stem(said.stem, heads) or (is_person(frozenset([said.stem])) and bool(find_person(table)))


def _is_titled(asked: RowsAsked, roles: _Roles, kept: Kept, heads: frozenset[str]) -> bool:
    counted = next(
        (said for said in asked.words if said not in kept.words and not said.is_light and not said.is_generic), None
    )
    return roles.noun is None and counted is not None and has_stem(counted.stem, heads)


def _find_unplaced(asked: RowsAsked, roles: _Roles, kept: Kept, left: Sequence[Said]) -> list[str]:
    """Returns words of the title that may be a condition: "in how many months did the cafe make a loss". A count
    without conditions has them only as what is counted, or behind a preposition.
    """
    if asked.wanted is not Wanted.COUNT or kept.conditions:
        return []
    words = [said for said in asked.words if not said.is_light and not said.is_generic]
    by_column = {said for found in roles.columns.values() for said in found}
    return [
        said.written
        for before, said in pairwise(words)
        if said not in by_column
        and said not in left
        and asked.text[before.start + len(before.written) : said.start].strip()
        and _OF_TITLE.search(asked.text[: said.start]) is None
    ]


def _find_flags(asked: RowsAsked, table: Table, columns: Columns, others: Collection[str]) -> list[str]:
    """Returns the columns of yes and no that words of the question name: "how many tasks are paid"."""
    named = [column for column in table.flags if columns[column] and column not in others]
    return [column for column in named if column not in table.amounts or _is_number_counted(asked)]


def _is_number_counted(asked: RowsAsked) -> bool:
    return asked.wanted is Wanted.COUNT and not asked.is_together


def _counts_rows(asked: RowsAsked) -> bool:
    """Returns whether rows are counted by such a word: "how many rows have the supplier Kolb"."""
    return asked.wanted is Wanted.COUNT and bool(asked.words) and asked.words[0].is_generic


def _is_behind_operator(asked: RowsAsked, said: Collection[Said]) -> bool:
    """Returns whether the first word behind the word for what is wanted is one of these."""
    return next((word for word in asked.words if word.start >= asked.after), None) in said


def _find_unread(asked: RowsAsked, table: Table, roles: _Roles, heads: frozenset[str]) -> list[str]:
    """Returns words that name what is not computed: what is counted per row ("most orders"), groups that no column has
    ("per month"), and a second column of amounts.
    """
    columns = roles.columns
    read = {roles.measure, roles.compared, roles.group, roles.naming}
    names = [name_of(column) for column in table.columns]
    unread = [word for word in asked.each if not any(has_stem(stem_of(word), name) for name in names)]
    unread = [word for word in unread if not roles.period]
    numbers = [
        column for column in table.amounts if any(has_stem(stem_of(word), name_of(column)) for word in asked.each)
    ]
    unread += [column for column in numbers if column not in read]
    if asked.noun and is_word_of_time(asked.noun) and not any(has_stem(asked.noun, name) for name in names):
        unread.append(asked.noun)
    if asked.wanted in {Wanted.CELL, Wanted.DIFFERENCE}:
        return unread
    if asked.wanted is Wanted.COUNT or asked.inner is Wanted.COUNT:
        return unread if asked.is_listed else unread + _find_uncompared(asked, table, roles)
    if (
        _VALUE.search(asked.text)
        and not _has_currency(table, roles.measure)
        and any(_has_currency(table, column) for column in table.amounts)
    ):
        unread.append("value")  # "the total value of the stock" is not in a column
    of_read = {said for column in read if column for said in columns[column]}
    others = [column for column in table.amounts if column not in read]
    unread += [column for column in others if any(not has_stem(said.stem, heads) for said in columns[column] - of_read)]
    if asked.inner is None and (word := _find_uncounted(asked, table, roles)):
        unread.append(word)
    return unread


def _find_uncompared(asked: RowsAsked, table: Table, roles: _Roles) -> list[str]:
    """Returns the columns of amounts that a count names and does not compare: "how many motors are in stock"."""
    of_read = {said for column in (roles.compared, roles.group, roles.naming) for said in roles.columns.get(column, ())}
    if roles.noun is not None:
        of_read.add(roles.noun)
    return [column for column in table.amounts if roles.columns[column] - of_read and column not in roles.flags]


def _has_currency(table: Table, column: str) -> bool:
    amounts = table.amounts.get(column, ())
    return any(amount is not None and not CURRENCIES.isdisjoint(amount.unit.split()) for amount in amounts)


def _find_uncounted(asked: RowsAsked, table: Table, roles: _Roles) -> str:
    """Returns the word directly behind the word for what is wanted, if it names a column of texts, of which no number
    is known: "the most orders", "the average number of orders".
    """
    columns = roles.columns
    word = next((word for word in asked.words if word.start >= asked.after), None)
    if word is None or asked.superlative is not None or asked.wanted in {Wanted.SUM, Wanted.SHARE}:
        return ""
    if (
        word is roles.noun
        and not asked.is_counted
        and asked.wanted in ORDERED
        and not _repeats(table.body, roles.naming)
    ):
        return ""  # "the highest invoice" is the one with the highest amount
    measured = {
        said for column in table.amounts if column in {roles.measure, roles.compared} for said in columns[column]
    }
    is_next = not asked.text[asked.after : word.start].strip()
    if not is_next or word in measured or (measured and not asked.is_counted):
        return ""
    is_named = any(word in columns[column] for column in table.columns if column not in table.amounts)
    return word.written if is_named else ""


def _spaced(key: str) -> str:
    return unquote(key).replace("_", " ").replace("-", " ").replace(".", " ")


def _repeats(rows: Sequence[TableRow], column: str) -> bool:
    texts = [text.casefold() for row in rows if (text := row.cells.get(column, ""))]
    return len(set(texts)) < len(texts)


def _has_one_unit(table: Table, column: str) -> bool:
    return len({amount.unit for amount in table.amounts.get(column, ()) if amount}) == 1
