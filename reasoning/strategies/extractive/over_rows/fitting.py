"""Whether a question is about a table: which column it measures, which rows it means, and which words are left.

A table is only read for an answer if it has all words of the question, in the names of its columns, in cells, or in
what stands above it. Otherwise the question may be about something else in the same document.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from core.text.value_kinds import find_stems
from reasoning.strategies.extractive.over_rows.asked import RowsAsked, Said, Wanted, are_same, is_part
from reasoning.strategies.extractive.over_rows.tables import Table, TableRow
from reasoning.strategies.extractive.over_rows.times import Time, is_word_of_time
from reasoning.strategies.survey.judging import is_within
from reasoning.strategies.survey.plan import NEGATION, Comparison
from reasoning.strategies.survey.row_judging import read_flag
from reasoning.strategies.survey.totals import Aggregate, How
from reasoning.strategies.survey.values import CURRENCIES, find_period, stems_of

__all__ = ["Fit", "fit"]

_IN_BRACKETS = re.compile(r"[(\[][^()\[\]]{0,60}[)\]]")
_OF_NUMBERS = stems_of("no nr id number code ref year Nummer Jahr année numéro")
"""Stems of names of columns whose numbers are not added up, unless they are named."""
_PRICES = stems_of("price cost Preis Kosten prix coût")
_YEAR = re.compile(r"(?:19|20)\d\d")
_MOST_VALUES = 5
"""Values of one column that a question names at most; of more, a word is no condition."""


_MOST_UNDATED = 0.25
"""The greatest share of rows whose date was not read, if those of a time are computed."""


@dataclass(frozen=True, kw_only=True)
class Fit:
    """What a question means in a table.

    `measure` is the column of amounts, '' if none is named, `compared` the column that is compared with a number,
    `group` the column of groups, '' without any, and `naming` the column that names the rows. `rows` meet the
    `conditions`, which are written for a reader. `is_one`: the question names one row. `left` are the words that the
    table does not have, and `known` counts the others. The first word that names a column names the rows
    (`is_noun_known`), of which several may have one name (`is_distinct`), or the measure (`is_noun_measured`).
    `is_measured`: a word of the question names the measure.
    """

    table: Table
    measure: str
    compared: str
    group: str
    naming: str
    rows: list[TableRow]
    conditions: tuple[str, ...]
    named: tuple[TableRow, ...]
    is_one: bool
    left: tuple[Said, ...]
    known: int
    is_distinct: bool
    is_noun_known: bool
    is_noun_measured: bool
    is_measured: bool


def fit(asked: RowsAsked, table: Table) -> Fit:
    columns = {column: _match(asked.words, _name(column)) for column in table.columns}
    by_column = frozenset(said for found in columns.values() for said in found)
    rest = [said for said in asked.words if said not in by_column]
    group = next((column for column in table.columns if any(_has(stem, _name(column)) for stem in asked.group)), "")
    by_measure, group = _choose_group(asked, table, columns, group)
    values = _find_values(asked, rest, table)
    used = {said for said in rest if any(said in words for _, words in values.values())}
    flags = _find_flags(asked, table, columns, {group, *values})
    of_flags = {said for column in flags for said in columns[column]}
    noun = next((said for said in asked.words if said in by_column - of_flags), None)
    naming = next((c for c in table.columns if noun in columns[c] and c not in table.amounts), "") or table.label
    compared = _find_compared(asked, table, columns)
    measure = by_measure or _choose_measure(asked, table, columns, {group, compared} - {""})
    if not columns.get(measure) and _names_text(asked, table, columns, {group, *values, *flags}):
        measure = ""
    if not measure and compared and asked.wanted is not Wanted.COUNT:
        measure = compared if _is_behind_operator(asked, columns[compared]) else ""
    if measure:
        used |= columns[measure]
    rows, conditions = table.body, []
    named: tuple[TableRow, ...] = ()
    is_one = False
    for column, (texts, _) in values.items():
        if asked.wanted is Wanted.DIFFERENCE and column in (table.label, naming):
            named = tuple(row for row in rows if row.cells.get(column) in texts)
            continue
        rows = [row for row in rows if row.cells.get(column) in texts]
        conditions.append(f"{column}: {' or '.join(sorted(texts))}")
        is_one = is_one or (column in (table.label, naming) and len(rows) == 1)
    for column in flags:
        rows = [row for row in rows if read_flag(row.cells.get(column, ""))]
        conditions.append(f"{column}: yes")
    years = [said for said in rest if said not in used and _YEAR.fullmatch(said.written)]
    time = asked.time or (Time(written=years[0].written, year=int(years[0].written)) if len(years) == 1 else None)
    rows, more, is_timed = _keep_times(time, table, rows)
    conditions += more
    used |= {said for said in years if more}
    if asked.comparison is not None and compared:
        rows, condition = _compare(asked.comparison, table, compared, rows)
        conditions.append(condition)
    document = table.hit.document
    lead = table.lead if table.has_twin else ""
    heads = find_stems(f"{document.title}\n{_spaced(document.key)}\n{table.heading}\n{lead}")
    is_open = not table.is_labelled or table.label in table.amounts
    left = tuple(
        said
        for said in rest
        if said not in used
        and not said.is_generic
        and not _has(said.stem, heads)
        and not (asked.is_priced and said.stem in _PRICES)
        and not (is_open and asked.noun and are_same(said.stem, asked.noun))
    )
    unread = [asked.time.written] if asked.time is not None and not is_timed else []
    if asked.comparison is not None and not _has_one_unit(table, compared):
        unread.append(asked.comparison.words)
    unread += [column for column in flags if not table.flags[column]]
    unread += _find_unread(asked, table, columns, {measure, compared, group, naming}, heads)
    return Fit(
        table=table,
        measure=measure,
        compared=compared,
        group=group,
        naming=naming,
        rows=rows,
        conditions=tuple(conditions),
        named=named,
        is_one=is_one,
        left=(*left, *(Said(stem="", written=written, start=0) for written in unread)),
        known=len(by_column) + len(used),
        is_distinct=_repeats(table, naming) and noun in columns[naming] and not _counts_rows(asked),
        is_noun_known=noun is not None and noun in columns[naming],
        is_measured=bool(measure) and bool(columns[measure]),
        is_noun_measured=noun is not None and bool(measure) and noun in columns[measure],
    )


def _choose_group(asked: RowsAsked, table: Table, columns: dict[str, frozenset[Said]], group: str) -> tuple[str, str]:
    """Returns the column of amounts that orders the rows ("the top three by population"), and the column of groups.

    A column such as `Price per unit` is one of amounts.
    """
    if group not in table.amounts:
        return "", group
    is_each = any(_has(_stem_of(word), _name(group)) for word in asked.each)
    if not is_each or len(columns[group]) > 1:
        return group, ""
    return "", group if _name(group) & _OF_NUMBERS else ""


def _find_flags(
    asked: RowsAsked, table: Table, columns: dict[str, frozenset[Said]], others: Collection[str]
) -> list[str]:
    """Returns the columns of yes and no that words of the question name: "how many tasks are paid"."""
    named = [column for column in table.flags if columns[column] and column not in others]
    return [column for column in named if column not in table.amounts or _is_number_counted(asked)]


def _is_number_counted(asked: RowsAsked) -> bool:
    return asked.wanted is Wanted.COUNT and not asked.is_together


def _names_text(asked: RowsAsked, table: Table, columns: dict[str, frozenset[Said]], others: Collection[str]) -> bool:
    """Returns whether a word names a column of texts that neither names the rows nor chooses or groups them: "total
    rent", where most rents are written as texts. No other column is measured then.
    """
    texts = [column for column in table.columns if column not in table.amounts and column not in table.dates]
    return any(
        not (asked.noun and are_same(said.stem, asked.noun))
        for column in texts
        if column != table.label and column not in others
        for said in columns[column]
    )


def _counts_rows(asked: RowsAsked) -> bool:
    """Returns whether rows are counted by such a word: "how many rows have the supplier Kolb"."""
    return asked.wanted is Wanted.COUNT and bool(asked.words) and asked.words[0].is_generic


def _stem_of(word: str) -> str:
    return next(iter(stems_of(word)), "")


def _find_compared(asked: RowsAsked, table: Table, columns: dict[str, frozenset[Said]]) -> str:
    """Returns the column of amounts that is compared with a number: the one that is named right behind the number, or
    else last before it; or the only one of the table, if nothing is named behind the number. '' if it is not sure.
    """
    if asked.comparison is None:
        return ""
    start, end = asked.compared
    behind = next((said for said in asked.words if end <= said.start), None)
    is_behind = behind is not None and not asked.text[end : behind.start].strip()
    by_column = [said for said in asked.words if any(said in found for found in columns.values())]
    before = [said for said in by_column if said.start < start]
    said = behind if is_behind and behind in by_column else before[-1] if before else None
    having = [column for column in table.amounts if said in columns[column]]
    if having:
        ranked = sorted(having, key=lambda column: (len(_name(column)) - len(columns[column]), -len(columns[column])))
        sizes = [(len(_name(column)), len(columns[column])) for column in ranked[:2]]
        return ranked[0] if len(sizes) == 1 or sizes[0] != sizes[1] else ""
    return next(iter(table.amounts)) if len(table.amounts) == 1 and not is_behind else ""


def _is_behind_operator(asked: RowsAsked, said: Collection[Said]) -> bool:
    """Returns whether the first word behind the word for what is wanted is one of these."""
    return next((word for word in asked.words if word.start >= asked.after), None) in said


def _find_unread(
    asked: RowsAsked,
    table: Table,
    columns: dict[str, frozenset[Said]],
    read: Collection[str],
    heads: frozenset[str],
) -> list[str]:
    """Returns words that name what is not computed: what is counted per row ("most orders"), groups that no column has
    ("per month"), and a second column of amounts.
    """
    names = [_name(column) for column in table.columns]
    unread = [word for word in asked.each if not any(_has(_stem_of(word), name) for name in names)]
    numbers = [column for column in table.amounts if any(_has(_stem_of(word), _name(column)) for word in asked.each)]
    unread += [column for column in numbers if column not in read]
    if asked.noun and is_word_of_time(asked.noun) and not any(_has(asked.noun, name) for name in names):
        unread.append(asked.noun)
    if asked.wanted in {Wanted.COUNT, Wanted.CELL, Wanted.DIFFERENCE}:
        return unread
    of_read = {said for column in read if column for said in columns[column]}
    others = [column for column in table.amounts if column not in read]
    unread += [column for column in others if any(not _has(said.stem, heads) for said in columns[column] - of_read)]
    measured = {said for column in table.amounts if column in read for said in columns[column]}
    word = next((word for word in asked.words if word.start >= asked.after), None)
    is_next = word is not None and not asked.text[asked.after : word.start].strip()
    if (
        word is not None
        and not asked.is_priced
        and is_next
        and word not in measured
        and (asked.is_counted or not measured)
    ):
        is_named = any(word in columns[column] for column in table.columns if column not in table.amounts)
        if is_named and asked.wanted is not Wanted.SUM:
            unread.append(word.written)
    return unread


def _name(column: str) -> frozenset[str]:
    """Returns the stems of a column's name without the unit in brackets."""
    return stems_of(_IN_BRACKETS.sub(" ", column)) or stems_of(column)


def _spaced(key: str) -> str:
    return unquote(key).replace("_", " ").replace("-", " ").replace(".", " ")


def _has(stem: str, stems: Collection[str]) -> bool:
    return any(are_same(stem, own) for own in stems)


def _match(words: Sequence[Said], name: frozenset[str]) -> frozenset[Said]:
    return frozenset(said for said in words if any(are_same(said.stem, own) or is_part(said.stem, own) for own in name))


def _repeats(table: Table, column: str) -> bool:
    texts = [text.casefold() for row in table.body if (text := row.cells.get(column, ""))]
    return len(set(texts)) < len(texts)


def _find_values(
    asked: RowsAsked, words: Sequence[Said], table: Table
) -> dict[str, tuple[frozenset[str], frozenset[Said]]]:
    """Returns the cells that words of the question name, by column, with these words: `Status: open`.

    A cell that denies something is none of them. A column whose cells the question has whole goes first, then the
    column with most words; a word counts once. A sign such as `P-3`, whose parts are no words, is found as it is
    written.
    """
    stems = asked.stems
    found: list[tuple[bool, int, int, str, frozenset[str], frozenset[Said]]] = []
    for number, column in enumerate(table.columns):
        if column in table.amounts or column in table.dates:
            continue
        texts = {text for row in table.body if (text := row.cells.get(column, ""))}
        denies = NEGATION.match if column == table.label else NEGATION.search  # a name may be "Lamp without shade"
        texts = {text for text in texts if not denies(text)}
        by_text = {text: stems_of(text) for text in texts}
        having = {text: frozenset(said for said in words if _has(said.stem, own)) for text, own in by_text.items()}
        having = {text: said for text, said in having.items() if said}
        whole = {text: said for text, said in having.items() if all(_has(own, stems) for own in by_text[text])}
        signs = {text: having.get(text, frozenset()) for text in texts if _is_written(text.casefold(), asked.text)}
        equal = {text: said for text, said in whole.items() if _is_said(text.casefold(), asked.text)}
        chosen = signs or equal or whole or having
        if chosen and len(chosen) <= _MOST_VALUES:
            said = frozenset(word for own in chosen.values() for word in own)
            found.append((not (signs or whole), -len(said), number, column, frozenset(chosen), said))
    values: dict[str, tuple[frozenset[str], frozenset[Said]]] = {}
    taken: set[Said] = set()
    for *_, column, named, said in sorted(found, key=lambda item: item[:3]):
        if not said or not said <= taken:
            values[column] = (named, said)
            taken |= said
    return values


def _is_written(sign: str, question: str) -> bool:
    """Returns whether the question has a sign with a digit as a whole."""
    return any(map(str.isdecimal, sign)) and _is_said(sign, question)


def _is_said(text: str, question: str) -> bool:
    """Returns whether the question has a text as whole words."""
    at = question.find(text)
    if at < 0:
        return False
    return not question[at - 1 : at].isalnum() and not question[at + len(text) : at + len(text) + 1].isalnum()


def _keep_times(time: Time | None, table: Table, rows: list[TableRow]) -> tuple[list[TableRow], list[str], bool]:
    """Returns the rows of the time that the question names, and whether it could be read of the only dates they
    have. Rows without such a date are left out and counted; it could not if they are many.
    """
    if time is None or len(table.dates) != 1:
        return rows, [], time is None
    column = next(iter(table.dates))
    dated = [(row, find_period(row.cells.get(column, ""))) for row in rows]
    kept = [row for row, period in dated if period and time.has(period.year, period.month)]
    undated = sum(period is None for _, period in dated)
    if undated > _MOST_UNDATED * len(rows):
        return rows, [], False
    year = f" {time.year}" if time.year and str(time.year) not in time.written else ""
    left = f" (left out, because the date is missing or was not understood: {undated:,})" if undated else ""
    return kept, [f"{column}: {time.written}{year}{left}"], True


def _compare(comparison: Comparison, table: Table, column: str, rows: list[TableRow]) -> tuple[list[TableRow], str]:
    """Returns the rows whose amount is within a comparison, and the condition, with how many cells are no numbers."""
    read = [(row, table.amount(row, column)) for row in rows]
    kept = [row for row, amount in read if amount and is_within(comparison, float(amount.value))]
    missing = sum(amount is None for _, amount in read)
    left_out = f" (left out, because it is no number: {missing:,})" if missing else ""
    return kept, f"{column}: {comparison.words} {comparison.number}{left_out}"


def _has_one_unit(table: Table, column: str) -> bool:
    return len({amount.unit for amount in table.amounts.get(column, ()) if amount}) == 1


def _choose_measure(
    asked: RowsAsked, table: Table, columns: dict[str, frozenset[Said]], others: Collection[str]
) -> str:
    """Returns the column of amounts that the question names best; without a name, the column of amounts that is called
    so, or else the only one with a currency. '' if there is none, or several are as good. `others` group or choose the
    rows.
    """
    own = [column for column in table.amounts if column not in others]
    named = [column for column in own if columns[column]]
    if asked.is_priced:
        named = [column for column in own if _name(column) & _PRICES]
    if len(named) > 1 and asked.noun:
        named = [
            column for column in named if not all(are_same(said.stem, asked.noun) for said in columns[column])
        ] or named
    if named:
        ranked = sorted((len(_name(column)) - len(columns[column]), -len(columns[column])) for column in named)
        best = [
            column
            for column in named
            if (len(_name(column)) - len(columns[column]), -len(columns[column])) == ranked[0]
        ]
        if len(best) > 1:
            near = {column: min(abs(said.start - asked.at) for said in columns[column]) for column in best}
            best = [min(best, key=near.__getitem__)] if len(set(near.values())) == len(near) else best
        return best[0] if len(best) == 1 else ""
    if asked.wanted in {Wanted.COUNT, Wanted.CELL} or (set(others) & set(table.amounts) and not asked.names_amount):
        return ""
    for stems in Aggregate(how=How.SUM, of="amount").names:
        called = [column for column in own if stems <= _name(column)]
        if len(called) == 1:
            return called[0]
    valued = [
        column
        for column in own
        if any(amount and CURRENCIES & set(amount.unit.split()) for amount in table.amounts[column])
    ]
    usual = [column for column in own if not _name(column) & _OF_NUMBERS]
    return valued[0] if len(valued) == 1 else usual[0] if len(usual) == 1 else ""
