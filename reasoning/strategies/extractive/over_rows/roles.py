"""Which columns of a table have which part in a question: what is measured, what names the rows, what makes groups."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from reasoning.strategies.extractive.over_rows.conditions import Values, find_assigned, find_values, has_stem
from reasoning.strategies.extractive.over_rows.measures import (
    Columns,
    choose_group,
    choose_measure,
    find_beside,
    find_compared,
    find_person,
    name_of,
    names_text,
)
from reasoning.strategies.extractive.over_rows.question.asked import RowsAsked, Said
from reasoning.strategies.extractive.over_rows.question.operators import Wanted
from reasoning.strategies.extractive.over_rows.question.times import is_word_of_time
from reasoning.strategies.extractive.over_rows.tables import Table


@dataclass(frozen=True, kw_only=True)
class Roles:
    """The columns by what they are in the question: `noun` is the word that names the rows, in the column `naming`."""

    columns: Columns
    values: Values
    flags: list[str]
    group: str
    period: str
    noun: Said | None
    naming: str
    compared: str
    beside: str
    measure: str


def find_roles(asked: RowsAsked, table: Table, columns: Columns, rest: Sequence[Said]) -> Roles:
    group = _find_group(asked.group, table.columns) or _find_group(
        asked.group_next, [column for column in table.columns if column not in table.amounts]
    )
    if not group and asked.period and len(table.dates) == 1:
        group = next(iter(table.dates))
    by_measure, group = choose_group(asked, table, columns, group)
    values = find_values(asked, rest, table, columns)
    flags = _find_flags(asked, table, columns, {group, *values})
    of_others = {said for column in flags for said in columns[column]}
    of_others |= {said for said in columns.get(group, ()) if said.stem in asked.group}
    of_others |= columns.get(find_assigned(asked, columns), frozenset())
    noun = next(
        (said for said in asked.words if any(said in columns[c] for c in columns) and said not in of_others), None
    )
    naming = _find_naming(asked, table, columns, noun)
    compared, beside = find_compared(asked, table, columns), ""
    if not compared:
        compared, beside = find_beside(asked, table, columns)
    measure = by_measure or choose_measure(asked, table, columns, {group, compared, beside} - {""})
    if compared and columns.get(measure) and columns[measure] <= columns[compared]:
        measure = ""  # of two columns that a word may name, it is the one that is compared
    if not columns.get(measure) and names_text(asked, table, columns, {group, *values, *flags}):
        measure = "" if asked.superlative is None else measure
    if not measure and compared and asked.wanted is not Wanted.COUNT:
        measure = compared if _is_behind_operator(asked, columns[compared]) else ""
    return Roles(
        columns=columns,
        values=values,
        flags=flags,
        group=group,
        period=asked.period if group in table.dates else "",
        noun=noun,
        naming=naming,
        compared=compared,
        beside=beside,
        measure=measure,
    )


def _find_group(stems: Collection[str], columns: Sequence[str]) -> str:
    return next((column for column in columns if any(has_stem(stem, name_of(column)) for stem in stems)), "")


def _find_naming(asked: RowsAsked, table: Table, columns: Columns, noun: Said | None) -> str:
    """Returns the column that names the rows: the one that the first word names, a column of dates ("in which year"), a
    column of persons ("who"), or else the column of labels.
    """
    if table.called == "column":
        return table.columns[0]
    if asked.noun and is_word_of_time(asked.noun):
        return next((column for column in table.dates if has_stem(asked.noun, name_of(column))), table.label)
    if asked.is_who:
        return find_person(table) or table.label
    texts = [column for column in table.columns if column not in table.amounts and column not in table.dates]
    named = [column for column in texts if noun in columns[column]]
    exact = (column for column in named if noun is not None and has_stem(noun.stem, name_of(column)))
    return next(exact, "") or next(iter(named), "") or table.label


def _find_flags(asked: RowsAsked, table: Table, columns: Columns, others: Collection[str]) -> list[str]:
    """Returns the columns of yes and no that words of the question name: "how many tasks are paid". Who "spent" the
    most does not ask for what is paid, though both are words for costs.
    """
    own = {column for column in table.flags if any(has_stem(said.stem, name_of(column)) for said in columns[column])}
    named = [column for column in table.flags if column in own and column not in others]
    return [column for column in named if column not in table.amounts or _is_number_counted(asked)]


def _is_number_counted(asked: RowsAsked) -> bool:
    return asked.wanted is Wanted.COUNT and not asked.is_together


def _is_behind_operator(asked: RowsAsked, said: Collection[Said]) -> bool:
    """Returns whether the first word behind the word for what is wanted is one of these."""
    return next((word for word in asked.words if word.start >= asked.after), None) in said
