"""Whether a question is about a table: which column it measures, which rows it means, and which words are left.

A table is only read for an answer if it has all words of the question, in the names of its columns, in cells, or in
what stands above it. Otherwise the question may be about something else in the same document.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from urllib.parse import unquote

from core.text.value_kinds import find_stems
from reasoning.strategies.extractive.over_rows.conditions import (
    Kept,
    find_value_words,
    has_stem,
    keep_beside,
    keep_compared,
    keep_flags,
    keep_signs,
    keep_times,
    keep_values,
    weigh_words,
)
from reasoning.strategies.extractive.over_rows.measures import (
    count_exact,
    count_said,
    find_person,
    find_unit,
    find_unit_of,
    has_scale,
    is_added,
    match_columns,
    may_mean_several,
    name_of,
    name_persons,
    split_values,
    stem_of,
)
from reasoning.strategies.extractive.over_rows.question.asked import RowsAsked, Said, are_same
from reasoning.strategies.extractive.over_rows.question.column_words import is_person
from reasoning.strategies.extractive.over_rows.question.operators import ORDERED, Wanted
from reasoning.strategies.extractive.over_rows.question.times import is_word_of_time
from reasoning.strategies.extractive.over_rows.roles import Roles, find_roles
from reasoning.strategies.extractive.over_rows.tables import Table, TableRow, repeats
from reasoning.strategies.extractive.over_rows.unread import (
    THINGS,
    find_alternatives,
    find_told,
    find_unplaced,
    find_unread,
)
from reasoning.strategies.survey.values import stems_of

_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})
_PARTIES = 2
_PLURALS, _PLURALS_OF_NOUNS = ("s", "x", "people"), ("e", "en", "er", "n")
"""How words for several things end, in English and French, and in German, where nouns begin with a capital."""
_DATES = stems_of("date day Datum Tag jour")


@dataclass(frozen=True, kw_only=True)
class Fit:
    """What a question means in a table. `asked` is the question as the table makes it understood: whether dates are
    ordered, and whether the most of something is a row, a total or a count.

    `measure` is the column of amounts, '' if none is named, `compared` the column that is compared with a number,
    `group` the column of groups, '' without any (`period`: dates are put together by it), and `naming` the column that
    names the rows. `rows` meet the `conditions`, which are written for a reader, and are of the columns `limited`.
    `is_one`: the question names one row. `left` are the words that the table does not have, and `known` counts the
    others, twice if it is the word of a column or cell itself. The first word that names a column names the rows
    (`is_noun_known`), of which several may have one name (`is_distinct`), or the measure (`is_noun_measured`).
    `is_measured`: a word of the question names the measure.
    `is_titled`: the rows are counted, and their name stands above the table. `told` are the columns whose cells in
    the one row are the answer, () if rows are.
    `is_undecided`: several columns of amounts may be meant.
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
    told: tuple[str, ...] = ()
    is_undecided: bool = False


def fit(asked: RowsAsked, table: Table) -> Fit:
    """Returns what a question means in a table."""
    of_name = _find_order_in_name(asked, table)
    asked = asked.unordered if of_name and asked.unordered else asked
    asked = weigh_words(asked, table)
    words = [said for said in asked.words if not said.is_light]
    document = table.hit.document
    lead = table.lead if table.has_twin else ""
    heads = find_stems(f"{document.title}\n{_spaced(document.key)}\n{table.heading}\n{lead}")
    heads |= find_stems(table.lead) & frozenset(
        said.stem for said in words if said.start and said.written[:1].isupper()
    )
    of_cells = find_value_words(asked, words, table)
    columns, values, unsure = split_values(asked, table, match_columns(words, table, heads), of_cells)
    columns = name_persons(asked, table, columns)
    by_column = frozenset(said for found in columns.values() for said in found)
    rest = [said for said in words if said not in by_column or said in values]
    roles = find_roles(asked, table, columns, rest)
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
        and said.stem.translate(_UMLAUTS) not in heads
        and not _names_rows(asked, table, said)
        and not (roles.beside and asked.beside and asked.beside.start <= said.start < asked.beside.end)
        and not (said.stem in _DATES and roles.measure in table.dates)
    ]
    unread = [
        *kept.unread,
        *(of_name if asked.superlative else ()),
        *(said.written for said in unsure),
        *find_alternatives(asked, roles, kept),
        *find_unread(asked, table, roles, kept, heads),
        *(said.written for said in kept.words if not kept.rows and any(said in columns[c] for c in table.dates)),
        *find_unplaced(asked, roles, kept, left),
    ]
    is_noun_known = roles.noun is not None and roles.noun in columns[roles.naming]
    is_noun_known = is_noun_known or _is_named_by_time(asked, roles) or _is_who(asked, table, roles)
    group = roles.group
    is_named = (
        not roles.period
        or has_stem(stem_of(roles.period), name_of(group))
        or has_stem(asked.each[0].casefold(), name_of(group))
    )
    if asked.wanted in {Wanted.MEAN, Wanted.MEDIAN} and is_named and not repeats(kept.rows, group):
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
        known=len(by_column) + count_exact(words, table) + count_said(asked, table) + 2 * len(kept.words),
        is_distinct=repeats(table.body, roles.naming)
        and is_noun_known
        and roles.naming not in table.places
        and roles.naming not in table.dates
        and not _counts_rows(asked)
        and not (asked.wanted is Wanted.COUNT and roles.naming in kept.columns)
        and not _is_front_of_rows(asked, table, roles, heads),
        is_noun_known=is_noun_known,
        is_measured=bool(roles.measure) and bool(columns[roles.measure]),
        is_titled=_is_titled(asked, table, roles, kept, heads),
        told=find_told(asked, table, roles, kept),
        is_undecided=not roles.measure and not roles.compared and may_mean_several(asked, table, columns),
        is_noun_measured=roles.noun is not None and bool(roles.measure) and roles.noun in columns[roles.measure],
    )


def _find_order_in_name(asked: RowsAsked, table: Table) -> tuple[str, ...]:
    """Returns the word for an order if it is a part of a cell that the question has whole: "the First Aid course"."""
    if asked.superlative is None or not asked.superlative.is_weak:
        return ()
    start, end = asked.superlative.span
    for column in table.columns:
        for text in {row.cells.get(column, "").casefold() for row in table.body}:
            at = asked.text.find(text) if " " in text else -1
            if 0 <= at <= start and end <= at + len(text):
                return (asked.text[start:end],)
    return ()


def _is_named_by_time(asked: RowsAsked, roles: Roles) -> bool:
    return bool(asked.noun) and is_word_of_time(asked.noun) and has_stem(asked.noun, name_of(roles.naming))


def _is_who(asked: RowsAsked, table: Table, roles: Roles) -> bool:
    return asked.is_who and roles.naming == find_person(table)


def _names_rows(asked: RowsAsked, table: Table, said: Said) -> bool:
    """Returns whether a word that the table lacks says what its rows are: what a column without a name would be called,
    or a word for persons, of which the table has a column.
    """
    if table.called == "column":
        return said.stem in THINGS
    is_open = not table.is_labelled or table.label in table.amounts
    if is_open and asked.noun and are_same(said.stem, asked.noun):
        return True
    return is_person(frozenset([said.stem])) and bool(find_person(table))


def _keep(asked: RowsAsked, table: Table, roles: Roles, rest: Sequence[Said], heads: frozenset[str]) -> Kept:
    """Returns the rows that meet all conditions of the question."""
    is_difference = asked.wanted is Wanted.DIFFERENCE
    kept = keep_values(asked, table, roles.values, roles.naming, is_difference=is_difference)
    kept = keep_signs(asked, table, keep_flags(table, kept, roles.flags))
    named = {column: found for column in table.dates if (found := roles.columns[column]) and column != roles.measure}
    kept = keep_times(asked, table, kept, rest, named, heads)
    if asked.beside is not None and roles.beside:
        return keep_beside(table, kept, asked.beside, (roles.compared, roles.beside))
    if asked.comparison is None:
        return kept
    if not roles.compared:
        return replace(kept, unread=(*kept.unread, asked.comparison.words))
    is_scaled = asked.factor > 1 and has_scale(table, roles.compared)
    if is_scaled or not _has_one_unit(table, roles.compared):
        kept = replace(kept, unread=(*kept.unread, asked.comparison.words))
    return keep_compared(table, kept, asked.comparison, roles.compared)


def _turn(asked: RowsAsked, table: Table, roles: Roles, heads: frozenset[str]) -> RowsAsked:
    """Returns the question as the columns make it understood."""
    superlative = asked.superlative
    if superlative is not None and superlative.is_turned and roles.measure in table.amounts:
        return replace(asked, wanted=Wanted.LEAST if superlative.is_most else Wanted.MOST)
    if asked.wanted is Wanted.COUNT and asked.is_together and roles.measure and roles.columns[roles.measure]:
        return replace(asked, wanted=Wanted.SUM)  # "how many parts are in stock altogether"
    if asked.wanted not in ORDERED or asked.inner is not None or not asked.is_counted:
        return asked
    if not repeats(table.body, roles.naming) or (roles.noun is None and not asked.is_who):
        return asked
    behind = next((said for said in asked.words if said.start >= asked.after and not said.is_light), None)
    is_made = behind is not None and _is_amount_of(table, roles, behind)
    if asked.is_often or (behind is not None and not is_made and _is_counted_by_rows(table, roles, behind, heads)):
        return replace(asked, inner=Wanted.COUNT)
    is_amount = roles.measure in table.amounts and (behind is None or is_made or behind in roles.columns[roles.measure])
    return replace(asked, inner=Wanted.SUM) if is_amount else asked


def _is_amount_of(table: Table, roles: Roles, said: Said) -> bool:
    """Returns whether a word names what a column of amounts is of, and another word the column: "generated the most
    electricity" of `net_generation`. A plural, "the most orders", may be counted.
    """
    is_named = any(said in found for found in roles.columns.values())
    is_measured = roles.measure in table.amounts and bool(roles.columns[roles.measure])
    is_noun = said.written[:1].isupper()
    is_plural = said.written.casefold().endswith(_PLURALS + _PLURALS_OF_NOUNS * is_noun)
    return is_measured and not is_named and not said.is_row and not is_plural


def _is_counted_by_rows(table: Table, roles: Roles, said: Said, heads: frozenset[str]) -> bool:
    """Returns whether each row is one of what the word names: it names the table, or a column of which each row has its
    own text, and no amounts.
    """
    if said.is_row:
        return True
    having = [column for column in table.columns if said in roles.columns[column]]
    if any(column in table.amounts for column in having):
        return False
    if having:
        return having[0] in table.places or not repeats(table.body, having[0])
    return has_stem(said.stem, heads) or (is_person(frozenset([said.stem])) and bool(find_person(table)))


def _is_front_of_rows(asked: RowsAsked, table: Table, roles: Roles, heads: frozenset[str]) -> bool:
    """Returns whether the word that names a column is only the first part of the name of what is counted: of "how many
    supplier invoices" invoices are.
    """
    noun = roles.noun
    if noun is None or asked.wanted is not Wanted.COUNT:
        return False
    end = noun.start + len(noun.written)
    behind = next((said for said in asked.words if said.start > noun.start), None)
    is_next = behind is not None and asked.text[end : behind.start] == " "
    return is_next and behind is not None and _is_counted_by_rows(table, roles, behind, heads)


def _is_titled(asked: RowsAsked, table: Table, roles: Roles, kept: Kept, heads: frozenset[str]) -> bool:
    counted = next(
        (said for said in asked.words if said not in kept.words and not said.is_light and not said.is_generic), None
    )
    if roles.noun is not None or counted is None:
        return False
    return has_stem(counted.stem, heads) or _names_rows(asked, table, counted)


def _counts_rows(asked: RowsAsked) -> bool:
    """Returns whether rows are counted by such a word: "how many rows have the supplier Kolb"."""
    return asked.wanted is Wanted.COUNT and bool(asked.words) and asked.words[0].is_generic


def _spaced(key: str) -> str:
    return unquote(key).replace("_", " ").replace("-", " ").replace(".", " ")


def _has_one_unit(table: Table, column: str) -> bool:
    return len({amount.unit for amount in table.amounts.get(column, ()) if amount}) == 1


def is_usable(one: Fit) -> bool:
    """Returns whether the table surely has what the question wants."""
    asked = one.asked
    is_known = len(one.table.body) > one.table.unread  # of most rows
    if one.left or (one.is_one and not one.told) or not is_known:
        return False
    if asked.wanted is Wanted.CELL:
        return bool(one.told)
    if asked.wanted is Wanted.DIFFERENCE:
        return bool(one.measure) and len(one.named) == _PARTIES
    if asked.wanted is Wanted.SHARE:
        return _has_share(asked, one)
    if asked.inner is Wanted.COUNT:
        return one.is_noun_known and bool(one.rows)
    return _has_count(asked, one) if asked.wanted is Wanted.COUNT else _has_amounts(asked, one)


def _has_count(asked: RowsAsked, one: Fit) -> bool:
    """Returns whether it is known what is counted, or listed."""
    if asked.is_listed:
        return bool(one.conditions)
    is_about = (
        one.is_noun_known or one.is_titled or bool(one.conditions) or any(said.is_generic for said in asked.words)
    )
    return is_about and not (one.is_noun_measured and not one.is_noun_known)


def _has_amounts(asked: RowsAsked, one: Fit) -> bool:
    """Returns whether there is a column of amounts, or of dates that are ordered, which may be computed so."""
    if one.measure in one.table.dates and asked.wanted not in ORDERED:
        return False
    sums = Wanted.SUM in {asked.wanted, asked.inner}
    if sums and any(amount and amount.unit == "%" for amount in one.table.amounts.get(one.measure, ())):
        return False
    if asked.is_how_much and not asked.is_together and (not one.conditions or not is_added(one.measure)):
        return False
    is_row = asked.wanted in ORDERED and asked.inner is None and one.is_noun_known
    if is_row and one.measure in one.table.amounts and is_added(one.measure) and repeats(one.rows, one.naming):
        return False  # "the department with the biggest budget": of one row, or of all its rows
    names_operator = bool(asked.operator & find_stems(one.measure))  # a column `Average price` is no price
    return bool(one.measure) and not names_operator and bool(one.rows)


def _has_share(asked: RowsAsked, one: Fit) -> bool:
    """Returns whether a share is of one condition, and of what the rows or a column are."""
    is_about = (
        one.is_noun_known
        or one.is_measured
        or one.is_titled
        or any(said.is_generic for said in asked.words)
        or one.known > 2
    )
    return is_about and len(one.conditions) == 1 and not one.group and one.measure not in one.table.dates
