"""What code makes of the rows that a question means: the rows with the greatest amount, totals, counts, a difference.

Decimals are exact, and amounts of different units are never put together.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from statistics import median

from core.text.shortening import shorten
from reasoning.strategies.extractive.over_rows.fitting import Fit
from reasoning.strategies.extractive.over_rows.question.asked import RowsAsked
from reasoning.strategies.extractive.over_rows.question.operators import ORDERED, Wanted
from reasoning.strategies.extractive.over_rows.tables import TableRow
from reasoning.strategies.survey.values import Amount

_MOST_TIES = 5
_CITED = 3
"""Rows that a total or a count cites: the first ones."""
_MOST_GROUPS = 50
_DECIMALS = 6
_DECIMALS_OF_SHARE = 2
_LONGEST_NAME = 60
_MARKS = str.maketrans("()[],;:", "       ")
"""Signs beside a unit in the name of a column: `Price (EUR)`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """A line of the answer with the rows that it cites. `name` is a row or a group, '' for all; `count` rows are in the
    value.
    """

    text: str
    rows: tuple[TableRow, ...]
    kind: str
    name: str = ""
    value: str = ""
    unit: str = ""
    count: int = 1


def compute_lines(asked: RowsAsked, fit: Fit) -> list[Line]:
    """Returns the lines of the answer; [] if no row has an amount."""
    if asked.wanted is Wanted.DIFFERENCE:
        return _subtract(fit)
    if asked.wanted is Wanted.SHARE:
        return _share(fit)
    if asked.wanted is Wanted.RANGE:
        return _span(fit)
    if is_group_wanted(asked, fit):
        return _choose_group(asked, fit, asked.inner or Wanted.SUM)
    if fit.told or (asked.is_listed and fit.rows):
        return _list(fit)
    if not fit.group:
        return _compute(asked, fit, fit.rows)
    return _cut(_compute_groups(asked, fit), _MOST_GROUPS, "groups")


def is_group_wanted(asked: RowsAsked, fit: Fit) -> bool:
    """Returns whether the answer is a group and not a row: "which supplier has the highest total"."""
    return asked.inner is not None and fit.is_noun_known and fit.is_distinct


def _compute_groups(asked: RowsAsked, fit: Fit) -> list[Line]:
    groups: dict[str, list[TableRow]] = {}
    for row in fit.rows:
        groups.setdefault(_name_group(fit, row).casefold(), []).append(row)
    spelt = [(_name_group(fit, rows[0]), rows) for rows in groups.values()]
    named = sorted(spelt, key=lambda group: (not group[0], group[0] if fit.period else -len(group[1])))
    return [line for name, rows in named for line in _compute(asked, fit, rows, name or f"without “{fit.group}”")]


def _name_group(fit: Fit, row: TableRow) -> str:
    """Returns the group of a row: the text of its cell, or the period of its date."""
    text = row.cells.get(fit.group, "")
    day = fit.table.day(row, fit.group) if fit.period else None
    if day is None or not day.year or (fit.period != "year" and not day.month):
        return "" if fit.period and day is None else text
    quarter = f"{day.year} Q{(day.month + 2) // 3}"
    return {"year": f"{day.year}", "quarter": quarter}.get(fit.period, f"{day.year}-{day.month:02}")


def _cut(lines: Sequence[Line], most: int, what: str) -> list[Line]:
    """Returns the first lines, of which the last says how many more there are."""
    shown = list(lines[:most])
    if more := len(lines) - len(shown):
        shown[-1] = replace(shown[-1], text=f"{shown[-1].text} (and {more:,} more {what})")
    return shown


def _choose_group(asked: RowsAsked, fit: Fit, inner: Wanted) -> list[Line]:
    """Returns the groups whose total or average is the highest or lowest, of each unit."""
    rows = [row for row in fit.rows if row.cells.get(fit.naming)]
    of_groups = replace(fit, group=fit.naming, rows=rows, period="", is_distinct=False)
    totals = _compute_groups(replace(asked, wanted=inner, inner=None), of_groups)
    chosen: list[Line] = []
    for unit in dict.fromkeys(line.unit for line in totals):
        lines = [line for line in totals if line.unit == unit]
        ordered = sorted(lines, key=lambda line: Decimal(line.value), reverse=asked.wanted is Wanted.MOST)
        values = list(dict.fromkeys(line.value for line in ordered))
        wanted = {line.value for line in ordered[: asked.most]} if asked.most > 1 else {*values[asked.place - 1 :][:1]}
        found = [line for line in ordered if line.value in wanted]
        chosen += _cut(found, max(asked.most, _MOST_TIES), "groups with the same value")
    return chosen


def has_number(asked: RowsAsked) -> bool:
    """Returns whether the rows are counted, and not their amounts."""
    return asked.wanted is Wanted.COUNT


def _compute(asked: RowsAsked, fit: Fit, rows: Sequence[TableRow], group: str = "") -> list[Line]:
    if has_number(asked):
        return [_count(fit, rows, group)]
    by_unit: dict[str, list[tuple[TableRow, Amount]]] = {}
    for row in rows:
        if amount := fit.table.amount(row, fit.measure):
            by_unit.setdefault(amount.unit, []).append((row, amount))
    lines: list[Line] = []
    for unit, members in by_unit.items():
        if asked.wanted in ORDERED:
            lines += _choose(asked, fit, members, group)
            continue
        total = sum((amount.value for _, amount in members), Decimal(0))
        value = total
        if asked.wanted is Wanted.MEAN:
            value = total / len(members)
        elif asked.wanted is Wanted.MEDIAN:
            value = median(amount.value for _, amount in members)
        head = f"{group}: " if group else ""
        what = asked.wanted.value
        values = f"{len(members):,} value{'' if len(members) == 1 else 's'}"
        lines.append(
            Line(
                text=f"{head}{fit.measure}, {what}: {format_amount(value, unit, fit.measure)} ({values})",
                rows=tuple(row for row, _ in members[:_CITED]),
                kind="group" if group else "total",
                name=group,
                value=_plain(value),
                unit=unit,
                count=len(members),
            )
        )
    return lines


def _choose(asked: RowsAsked, fit: Fit, members: Iterable[tuple[TableRow, Amount]], group: str) -> list[Line]:
    """Returns the rows of the amounts that are asked for, with all rows of the same amount."""
    ordered = sorted(members, key=lambda member: member[1].value, reverse=asked.wanted is Wanted.MOST)
    values = list(dict.fromkeys(amount.value for _, amount in ordered))
    if asked.most > 1:
        wanted = {amount.value for _, amount in ordered[: asked.most]}
    else:
        wanted = set(values[asked.place - 1 : asked.place])
    chosen = [(row, amount) for row, amount in ordered if amount.value in wanted]
    head = f"{group}: " if group else ""
    lines = [
        Line(
            text=f"{head}{name_row(fit, row)}{_tell(fit, row)}: {fit.measure}: {row.cells[fit.measure]}",
            rows=(row,),
            kind="row",
            name=name_row(fit, row),
            value=row.cells[fit.measure] if fit.measure in fit.table.dates else _plain(amount.value),
            unit=amount.unit,
        )
        for row, amount in chosen
    ]
    return _cut(lines, max(asked.most, _MOST_TIES), "rows with the same value")


def _list(fit: Fit) -> list[Line]:
    """Returns the rows that meet the conditions, with the cells of these; of groups each name once."""
    lines: list[Line] = []
    columns = fit.told or (*fit.limited, fit.measure)
    shown = [column for column in dict.fromkeys(columns) if column and column != fit.naming]
    seen: set[str] = set()
    for row in fit.rows:
        amount = fit.table.amount(row, fit.compared) if fit.compared else None
        name = name_row(fit, row)
        if fit.is_distinct and not fit.compared and name.casefold() in seen:
            continue
        seen.add(name.casefold())
        cells = "; ".join(f"{column}: {row.cells.get(column, '')}" for column in shown)
        lines.append(
            Line(
                text=f"{name}{_tell(fit, row)}{f': {cells}' if cells else ''}",
                rows=(row,),
                kind="row",
                name=name,
                value=_plain(amount.value) if amount else row.cells.get(shown[0], "") if shown else "",
                unit=amount.unit if amount else "",
            )
        )
    return _cut(lines, _MOST_GROUPS, "rows")


def _count(fit: Fit, rows: Sequence[TableRow], group: str) -> Line:
    names = {name for row in rows if (name := row.cells.get(fit.naming, "").casefold())}
    is_distinct = fit.is_distinct and fit.is_noun_known
    number = len(names) if is_distinct else len(rows)
    what = f"different “{fit.naming}”" if is_distinct else fit.table.called + "s" * (number != 1)
    return Line(
        text=f"{f'{group}: ' if group else ''}{number:,} {what}",
        rows=tuple(rows[:_CITED]),
        kind="group" if group else "total",
        name=group,
        value=str(number),
        count=len(rows),
    )


def _share(fit: Fit) -> list[Line]:
    """Returns which part of all rows, or of the total of a column, the rows of the condition are."""
    everything = fit.table.body
    if not fit.measure:
        part, whole, unit = Decimal(len(fit.rows)), Decimal(len(everything)), ""
        head, shown = "Share of rows", f"{len(fit.rows):,} of {len(everything):,}"
    else:
        own = [amount for row in fit.rows if (amount := fit.table.amount(row, fit.measure))]
        amounts = [amount for row in everything if (amount := fit.table.amount(row, fit.measure))]
        if len({amount.unit for amount in amounts}) != 1 or any(amount.value < 0 for amount in amounts):
            return []
        unit = amounts[0].unit
        part, whole = (sum((amount.value for amount in members), Decimal(0)) for members in (own, amounts))
        of_all = format_amount(whole, unit, fit.measure)
        head, shown = f"{fit.measure}, share", f"{format_amount(part, unit, fit.measure)} of {of_all}"
    if not whole:
        return []
    percent = round(part * 100 / whole, _DECIMALS_OF_SHARE)
    return [
        Line(
            text=f"{head}: {percent.normalize():f}% ({shown})",
            rows=tuple(fit.rows[:_CITED]),
            kind="total",
            value=f"{percent.normalize():f}",
            unit="%",
            count=len(fit.rows),
        )
    ]


def _span(fit: Fit) -> list[Line]:
    """Returns the difference between the highest and the lowest amount; [] if there are several units."""
    read = [(row, amount) for row in fit.rows if (amount := fit.table.amount(row, fit.measure))]
    if len({amount.unit for _, amount in read}) != 1:
        return []
    high, low = (choose(read, key=lambda member: member[1].value) for choose in (max, min))
    value, unit = high[1].value - low[1].value, high[1].unit
    of = " and ".join(f"{name_row(fit, row)} ({row.cells[fit.measure]})" for row, _ in (high, low))
    return [
        Line(
            text=f"{fit.measure}, difference between {of}: {format_amount(value, unit, fit.measure)}",
            rows=(high[0], low[0]),
            kind="total",
            value=_plain(value),
            unit=unit,
            count=2,
        )
    ]


def _subtract(fit: Fit) -> list[Line]:
    first, second = fit.named
    one, other = (fit.table.amount(row, fit.measure) for row in fit.named)
    if one is None or other is None or one.unit != other.unit:
        return []
    value = abs(one.value - other.value)
    of = (
        f"{name_row(fit, first)} ({first.cells[fit.measure]}) and {name_row(fit, second)} ({second.cells[fit.measure]})"
    )
    return [
        Line(
            text=f"{fit.measure}, difference between {of}: {format_amount(value, one.unit, fit.measure)}",
            rows=(first, second),
            kind="total",
            value=_plain(value),
            unit=one.unit,
            count=2,
        )
    ]


def name_row(fit: Fit, row: TableRow) -> str:
    """Returns the name of a row; a cell without a text takes the first one that has."""
    return row.cells.get(fit.naming, "") or next((text for text in row.cells.values() if text), "")


def _tell(fit: Fit, row: TableRow) -> str:
    """Returns the name beside a code, `BR-2 (Broom)`: from the first column of texts, if each row has its own."""
    name = name_row(fit, row)
    if fit.table.called == "column" or not any(map(str.isdecimal, name)):
        return ""
    table, is_number = fit.table, not any(map(str.isalpha, name))
    for column in table.columns:
        text = row.cells.get(column, "")
        if column not in {fit.naming, fit.group, *table.amounts, *table.dates, *table.flags} and text:
            texts = [other.cells.get(column, "") for other in table.body]
            is_word = any(map(str.isalpha, text)) and (is_number or not any(map(str.isdecimal, text)))
            is_name = is_word and len(set(texts)) == len(texts) > 1
            return f" ({shorten(text, _LONGEST_NAME)})" if is_name else ""
    return ""


def format_amount(value: Decimal, unit: str, column: str) -> str:
    """Returns an amount with marks between thousands, and its unit if the name of the column does not tell it."""
    shown = f"{Decimal(_plain(value)):,}"
    is_told = f" {unit} " in f" {column.translate(_MARKS)} "
    return f"{shown}{unit}" if unit == "%" else shown if not unit or is_told else f"{shown} {unit}"


def _plain(value: Decimal) -> str:
    exponent = value.as_tuple().exponent
    is_long = isinstance(exponent, int) and exponent < -_DECIMALS
    return f"{round(value, _DECIMALS).normalize() if is_long else value:f}"
