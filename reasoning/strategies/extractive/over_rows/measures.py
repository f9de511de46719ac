"""Which columns of a table the words of a question name, and which of them is measured, compared, or makes groups."""

import re
from collections.abc import Collection, Mapping, Sequence

from reasoning.strategies.extractive.over_rows.conditions import has_stem, is_said
from reasoning.strategies.extractive.over_rows.question.asked import (
    RowsAsked,
    Said,
    are_same,
    cut_ending,
    is_compound,
    is_front,
    is_part,
)
from reasoning.strategies.extractive.over_rows.question.column_words import (
    has_same_name,
    is_person,
    is_start_of_work,
    names_manager,
)
from reasoning.strategies.extractive.over_rows.question.operators import Wanted
from reasoning.strategies.extractive.over_rows.question.times import read_year
from reasoning.strategies.extractive.over_rows.tables import Table
from reasoning.strategies.survey.totals import Aggregate, How
from reasoning.strategies.survey.values import CURRENCIES, stems_of

_WORD = re.compile(r"\w+")
_BEHIND_WHICH = re.compile(r"\b(?:which|welche[nmrs]?|quel(?:le)?s?)\s\Z")
_IN_BRACKETS = re.compile(r"[(\[](?:[^()\[\]]|\([^()\[\]]{0,20}\)){0,60}[)\]]")
_OF_NUMBERS = stems_of("no nr id number code ref year Nummer Jahr année numéro")
"""Stems of names of columns whose numbers are not added up, unless they are named."""
_SCALES = stems_of("thousand million billion k m bn mn Tsd Mio Mrd Tausend Millionen Milliarden millions milliards")
_BOUNDS = stems_of(
    "minimum min maximum max target limit planned plan budget Soll Ziel Grenzwert objectif plafond seuil"
)
"""Stems of words that make another measure of a measure."""
_LEAST = "mindest"
_BIRTHS = stems_of("born birth birthday birthdate Geburt Geburtstag Geburtsdatum geboren naissance né dob")
_NOT_ADDED = stems_of(
    "price unit rate fare fee tariff temperature age average mean ratio percentage share speed height length score "
    "year index level Preis Einzelpreis Stückpreis Satz Gebühr Temperatur Alter Durchschnitt Anteil Höhe Länge prix "
    "tarif taux température âge moyenne"
)
"""Stems of names of columns whose amounts nobody adds up who asks "how much"."""
_ANYBODY = stems_of(
    "people person persons employee employees staff worker workers colleague colleagues Person Personen Leute "
    "Mitarbeiter Mitarbeiterin Mitarbeitende Beschäftigte personne personnes employé employés salarié salariés"
)
_OF_PERSONS = _ANYBODY | stems_of("name Name nom")
"""Stems of words for persons of any kind, and of names of columns of such persons."""
_PERCENT = frozenset(["percent", "prozent", "pourcent", "percentage"])
_TIGHT = 2
"""Characters between a number and the unit behind it, at most."""

Columns = Mapping[str, frozenset[Said]]
"""The columns of a table, each with the words of the question that name it."""


def name_of(column: str) -> frozenset[str]:
    """Returns the stems of a column's name without the unit in brackets."""
    return stems_of(_IN_BRACKETS.sub(" ", column)) or stems_of(column)


def stem_of(word: str) -> str:
    return next(iter(stems_of(word)), "")


def match_columns(words: Sequence[Said], table: Table, known: frozenset[str]) -> dict[str, frozenset[Said]]:
    """Returns the words that name each column. What neither names a column nor stands in a cell or above the table
    (`known`) may name one by another word for the same.
    """
    columns = {column: _match(words, name_of(column)) for column in table.columns}
    by_column = {said for found in columns.values() for said in found}
    cells = frozenset(stem for row in table.body for text in row.cells.values() for stem in stems_of(text))
    others = [
        said
        for said in words
        if said not in by_column and not said.is_generic and not has_stem(said.stem, known | cells)
    ]
    for column in table.columns:
        names = name_of(column)
        alike = names | {form for name in names for form in cut_ending(name)} | _split_bound(names)
        bounds = {said for said in words if said.stem in alike & _BOUNDS}
        if bounds or alike.isdisjoint(_BOUNDS):  # a minimum stock is not the stock
            columns[column] |= bounds | {said for said in others if has_same_name(said.stem, alike)}
        if column in table.dates and _has_persons(table):
            columns[column] |= {said for said in others if is_start_of_work(said.stem, names)}
    return columns


def _split_bound(names: Collection[str]) -> frozenset[str]:
    """Returns the words of a German compound that begins with a bound: of `Mindestbestand`."""
    rests = {name.removeprefix(_LEAST) for name in names if name.startswith(_LEAST)}
    return frozenset({"minimum", *rests}) if rests else frozenset()


def split_values(
    asked: RowsAsked, table: Table, columns: Columns, values: Mapping[Said, int]
) -> tuple[dict[str, frozenset[Said]], list[Said], list[Said]]:
    """Returns the columns without the words that are cells of another column (`values`), these words, and the words
    that may be both, so that it is not sure what is meant.

    "Paid" is `Status: Paid` before it is `Paid On`, which it also names if dates are ordered or a time is said. A
    column that the question has whole, or that it names behind "which" and "per", is meant.
    """
    left: dict[str, frozenset[Said]] = {}
    named: set[Said] = set()
    unsure: list[Said] = []
    orders_dates = asked.superlative is not None and asked.superlative.may_be_date
    orders_dates = orders_dates or asked.time is not None or any(read_year(said.written) for said in asked.words)
    for column, found in columns.items():
        both = found & values.keys()
        meant = frozenset(said for said in both if has_stem(said.stem, asked.group) or _is_behind_which(asked, said))
        is_whole = all(_is_in(word, asked) for word in _WORD.findall(_IN_BRACKETS.sub(" ", column)))
        if column in table.dates:
            left[column] = found if orders_dates else found - both
            continue
        if column in table.flags or (is_whole and len(found) > 1):
            meant = both
        elif is_whole or (column in table.amounts and asked.wanted is not Wanted.COUNT):
            unsure += (said for said in both - meant if values[said] == 1)  # not the "plant manager"
        named |= set() if column in table.flags else meant
        left[column] = found - (both - meant)
    return left, [said for said in values if said not in named], unsure


def name_persons(asked: RowsAsked, table: Table, columns: Columns) -> dict[str, frozenset[Said]]:
    """Returns the columns with a word such as "people" or "employees" for persons that are counted, which names no
    column itself, at the column of persons.
    """
    counted = next((said for said in asked.words if not said.is_light), None)
    if asked.wanted is not Wanted.COUNT or asked.is_listed or counted is None or counted.stem not in _ANYBODY:
        return dict(columns)
    texts = [column for column in table.columns if column not in table.amounts and column not in table.dates]
    persons = next((column for column in texts if name_of(column) & _OF_PERSONS), "")
    if not persons or any(counted in found for found in columns.values()):
        return dict(columns)
    return {**columns, persons: columns[persons] | {counted}}


def _is_behind_which(asked: RowsAsked, said: Said) -> bool:
    """Returns whether a word is the one behind "which": "which state has the most parcels"."""
    is_first = _BEHIND_WHICH.search(asked.text[: said.start]) is not None
    return is_first and bool(asked.noun) and are_same(said.stem, asked.noun)


def _is_in(word: str, asked: RowsAsked) -> bool:
    return has_stem(stem_of(word), asked.stems) if stem_of(word) else word.casefold() in asked.text.split()


def count_exact(words: Sequence[Said], table: Table) -> int:
    """Returns how many words name a column by its own name."""
    return len(frozenset(said for column in table.columns for said in _match(words, name_of(column))))


def _count_others(column: str, said: Collection[Said]) -> tuple[int, int, bool]:
    """Returns how many words the name of a column has beside words of the question, less of which are better, how many
    of these it has, negative, and whether none is a word of the name itself: `Bestand` before `Mindestbestand`.
    """
    name = name_of(column)
    return len(name) - len(said), -len(said), all(not has_stem(word.stem, name) for word in said)


def count_said(asked: RowsAsked, table: Table) -> int:
    """Returns how many columns have a name that the question has as it is written, without what is in brackets."""
    names = (_IN_BRACKETS.sub(" ", column).strip().casefold() for column in table.columns)
    return sum(is_said(name, asked.text) for name in names if name)


def _match(words: Sequence[Said], name: frozenset[str]) -> frozenset[Said]:
    return frozenset(
        said
        for said in words
        if is_compound(said.stem, name)
        or any(are_same(said.stem, own) or is_part(said.stem, own) or is_front(said.stem, own) for own in name)
    )


def find_person(table: Table) -> str:
    """Returns the first column of persons or parties, '' without any."""
    texts = [column for column in table.columns if column not in table.amounts and column not in table.dates]
    persons = [column for column in texts if is_person(name_of(column))]
    return next((column for column in persons if not stems_of(column) & _OF_NUMBERS), "") or next(iter(persons), "")


def _has_persons(table: Table) -> bool:
    return bool(find_person(table)) or any(names_manager(name_of(column)) for column in table.columns)


def choose_group(asked: RowsAsked, table: Table, columns: Columns, group: str) -> tuple[str, str]:
    """Returns the column of amounts that orders the rows ("the top three by population"), and the column of groups.

    A column such as `Price per unit` is one of amounts.
    """
    if group not in table.amounts:
        return "", group
    is_each = any(has_stem(stem_of(word), name_of(group)) for word in asked.each)
    if not is_each or len(columns[group]) > 1:
        return group, ""
    return "", group if name_of(group) & _OF_NUMBERS else ""


def find_compared(asked: RowsAsked, table: Table, columns: Columns) -> str:
    """Returns the column of amounts that is compared with a number: the one that is named right behind the number, or
    else last before it; or by the comparison itself ("older than"), or by the unit behind the number; or the only one
    of the table, if nothing is named behind the number. '' if it is not sure.
    """
    if asked.comparison is None:
        return ""
    if asked.of_names:
        having = [column for column in table.amounts if is_called(column, asked.of_names)]
        return having[0] if len(having) == 1 else ""
    start, end = asked.compared
    behind = next((said for said in asked.words if end <= said.start), None)
    is_behind = behind is not None and not asked.text[end : behind.start].strip()
    by_column = [said for said in asked.words if any(said in found for found in columns.values())]
    before = [said for said in by_column if said.start < start]
    said = behind if is_behind and behind in by_column else before[-1] if before else None
    having = [column for column in table.amounts if said in columns[column]]
    if having:
        sizes = {column: _count_others(column, columns[column]) for column in having}
        ranked = sorted(having, key=sizes.__getitem__)
        return ranked[0] if len(ranked) == 1 or sizes[ranked[0]] != sizes[ranked[1]] else ""
    with_unit = [column for column in table.amounts if behind is not None and find_unit(asked, table, column)]
    if len(with_unit) == 1:
        return with_unit[0]
    is_named = is_behind and behind is not None and not behind.is_generic
    return next(iter(table.amounts)) if len(table.amounts) == 1 and not is_named else ""


def find_beside(asked: RowsAsked, table: Table, columns: Columns) -> tuple[str, str]:
    """Returns the two columns of amounts of one unit that are compared: the one named before the words for it, or else
    the one whose name is a part of the other's name, or the only other one; and the one named behind. '' if unsure.
    """
    if asked.beside is None:
        return "", ""
    behind: list[Said] = []
    end = asked.beside.bound[0]
    for said in asked.words:
        if said.start >= end and not asked.text[end : said.start].strip():
            behind.append(said)
            end = said.start + len(said.written)
    ranked = sorted(
        (-sum(said in columns[column] for said in behind), len(name_of(column)), column)
        for column in table.amounts
        if not columns[column].isdisjoint(behind)
    )
    if not ranked or (len(ranked) > 1 and ranked[0][:2] == ranked[1][:2]):
        return "", ""
    other = ranked[0][2]
    alike = [column for column in table.amounts if column != other and _have_same_unit(table, column, other)]
    named = [said for said in asked.words if said.start < asked.beside.start]
    before = [column for column in alike if not columns[column].isdisjoint(named)]
    if not before and not columns[other].isdisjoint(named):
        return "", ""  # what is compared is only in the name of the other column
    parts = [column for column in alike if _is_part_of_name(name_of(column), name_of(other))]
    only = alike if len(table.amounts) == len(alike) + 1 else []
    chosen = next((found for found in (before, parts, only) if found), [])
    return (chosen[0], other) if len(chosen) == 1 else ("", "")


def _is_part_of_name(names: Collection[str], whole: Collection[str]) -> bool:
    return all(any(name == own or is_part(name, own) for own in whole) for name in names)


def _have_same_unit(table: Table, *columns: str) -> bool:
    return len({amount.unit for column in columns for amount in table.amounts[column] if amount}) == 1


def find_unit(asked: RowsAsked, table: Table, column: str) -> frozenset[Said]:
    """Returns the word behind the number of a comparison, if it is the unit of a column: "over 5,000 km"."""
    end = asked.compared[1]
    said = next((word for word in asked.words if end <= word.start <= end + _TIGHT), None)
    if said is None or column not in table.amounts:
        return frozenset()
    written = said.written.casefold()
    units = {word for amount in table.amounts[column] if amount for word in amount.unit.casefold().split()}
    bracketed = {word for part in _IN_BRACKETS.findall(column.casefold()) for word in part[1:-1].split()}
    return frozenset([said]) if written in units | bracketed else frozenset()


def find_unit_of(words: Sequence[Said], table: Table, column: str) -> frozenset[Said]:
    """Returns the words that are the unit of a column: "the average bonus in percent"."""
    units = {amount.unit.casefold() for amount in table.amounts.get(column, ()) if amount}
    units |= _PERCENT if "%" in units else frozenset()
    bracketed = {word for part in _IN_BRACKETS.findall(column.casefold()) for word in part[1:-1].split()}
    return frozenset(said for said in words if said.written.casefold() in units | bracketed)


def has_scale(table: Table, column: str) -> bool:
    """Returns whether a column counts thousands or millions, by its name or its units."""
    units = {amount.unit for amount in table.amounts.get(column, ()) if amount}
    return not stems_of(" ".join([column, *units])).isdisjoint(_SCALES)


def names_text(asked: RowsAsked, table: Table, columns: Columns, others: Collection[str]) -> bool:
    """Returns whether a word names a column of texts that neither names the rows nor chooses or groups them: "total
    rent", where most rents are written as texts. No other column is measured then.
    """
    texts = [column for column in table.columns if column not in table.amounts and column not in table.dates]
    return any(
        not (asked.noun and are_same(said.stem, asked.noun))
        for column in texts
        if column != table.label and column not in others and column not in table.places
        for said in columns[column]
    )


def is_called(column: str, names: Collection[str]) -> bool:
    """Returns whether a column has one of these names, also at the end of a German compound: `Einzelpreis`."""
    return any(own in names or any(is_part(name, own) for name in names) for own in name_of(column))


def is_added(column: str) -> bool:
    """Returns whether the amounts of a column may be added up though no word such as "total" says so."""
    return name_of(column).isdisjoint(_NOT_ADDED)


def choose_measure(asked: RowsAsked, table: Table, columns: Columns, others: Collection[str]) -> str:
    """Returns the column of amounts that the question names best; without a name, the column of amounts that is called
    so, or else the only one with a currency. '' if there is none, or several are as good. `others` group or choose the
    rows. A superlative may order a column of dates.
    """
    own = [column for column in table.amounts if column not in others]
    named = [column for column in own if columns[column]]
    if asked.superlative is not None:
        called = [column for column in own if is_called(column, asked.superlative.names)]
        if not called and asked.superlative.may_be_date:
            return _choose_date(asked, table, columns)  # the latest price is not the highest
        called = called or _find_behind(asked, named, columns)
        named = [column for column in called if columns[column]] or called
        if not named:
            return ""
    if len(named) > 1 and asked.noun:
        named = [
            column for column in named if not all(are_same(said.stem, asked.noun) for said in columns[column])
        ] or named
    if named:
        return _choose_named(asked, named, columns)
    if asked.wanted in {Wanted.COUNT, Wanted.CELL, Wanted.SHARE} or (
        set(others) & set(table.amounts) and not asked.names_amount
    ):
        return ""
    for stems in Aggregate(how=How.SUM, of="amount").names:
        called = [column for column in own if stems <= name_of(column)]
        if len(called) == 1:
            return called[0]
    valued = [
        column
        for column in own
        if any(amount and CURRENCIES & set(amount.unit.split()) for amount in table.amounts[column])
    ]
    usual = [column for column in own if not name_of(column) & _OF_NUMBERS]
    return valued[0] if len(valued) == 1 else usual[0] if len(usual) == 1 else ""


def may_mean_several(asked: RowsAsked, table: Table, columns: Columns) -> bool:
    """Returns whether a question measures or compares one of several columns of amounts, also if it names none."""
    if asked.wanted in {Wanted.COUNT, Wanted.SHARE} and asked.comparison is None:
        return False
    names = asked.superlative.names if asked.superlative else asked.of_names
    called = [column for column in table.amounts if columns[column] or is_called(column, names)]
    return len(called if called or names else table.amounts) > 1


def _find_behind(asked: RowsAsked, named: Sequence[str], columns: Columns) -> list[str]:
    """Returns the columns named by the word directly behind the word for what is wanted: "the longest range"."""
    said = next((said for said in asked.words if said.start >= asked.after), None)
    is_next = said is not None and not asked.text[asked.after : said.start].strip()
    return [column for column in named if is_next and said in columns[column]]


def _choose_date(asked: RowsAsked, table: Table, columns: Columns) -> str:
    """Returns the column of dates that is ordered: the one that the question names, or the only one."""
    of_persons = asked.is_who or any(is_person(frozenset([said.stem])) for said in asked.words)
    if asked.superlative is not None and asked.superlative.is_turned and of_persons:
        born = [column for column in table.dates if name_of(column) & _BIRTHS]
        return born[0] if len(born) == 1 else ""  # who was hired first is not the oldest
    if named := [column for column in table.dates if columns[column]]:
        return _choose_named(asked, named, columns)
    return next(iter(table.dates)) if len(table.dates) == 1 else ""


def _choose_named(asked: RowsAsked, named: Sequence[str], columns: Columns) -> str:
    """Returns the column of those whose name has the fewest words beside the words of the question."""
    sizes = {column: _count_others(column, columns[column]) for column in named}
    least = min(sizes.values())
    best = [column for column in named if sizes[column] == least]
    if len(best) > 1:
        near = {column: min((abs(said.start - asked.at) for said in columns[column]), default=0) for column in best}
        best = [min(best, key=near.__getitem__)] if len(set(near.values())) == len(near) else best
    return best[0] if len(best) == 1 else ""
