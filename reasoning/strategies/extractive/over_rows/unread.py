"""Words of a question that a table has, and that still are not computed: a second column of amounts, "most orders"."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from core.text.word_lists import SMALL_WORDS, words_of
from reasoning.strategies.extractive.over_rows.conditions import Kept, find_assigned, has_stem, is_said
from reasoning.strategies.extractive.over_rows.measures import name_of, stem_of
from reasoning.strategies.extractive.over_rows.question.asked import RowsAsked, Said
from reasoning.strategies.extractive.over_rows.question.operators import ORDERED, Wanted
from reasoning.strategies.extractive.over_rows.question.times import is_word_of_time
from reasoning.strategies.extractive.over_rows.roles import Roles
from reasoning.strategies.extractive.over_rows.tables import Table, TableRow, repeats
from reasoning.strategies.survey.values import CURRENCIES, stems_of

_OF_TITLE = re.compile(
    r"\b(?:in|of|at|for|from|on|im|aus|auf|der|des|von|vom|bei|de|du|dans|sur|à|au)\s"
    r"(?:the |our |der |dem |den |die |le |la |les |l['’])?(?:[^\W\d_]{2,30} )?\Z"
)
_IN_STATE = re.compile(r"\b(?:on|in|under|at)\s\Z")
_WHO_IS = re.compile(
    r"\W{0,3}(?:who (?:is|was|are|were)|wer (?:ist|war|sind)|qui (?:est|sont)) [^?]{1,60} "
    r"(?:of|for|von|des|der|de|du)\s"
)
_BEHIND_IS = re.compile(r"\b(?:is|are|was|were|ist|sind|war|waren|est|sont|était|étaient)\s\Z")
_LAST = re.compile(r"\W*\Z")
_QUOTES = frozenset("\"'“”„‘’«»")
_OF_ALL = words_of("""
    the a an all any both each every no none other same some such der die das den ein eine alle le la les un une
""")
"""Words before a noun that are no condition, though a cell may have them."""
_OF_MEASURES = stems_of(
    "list dealer sales retail unit catalogue net gross total own level max maximum Netto Brutto Gesamt liste brut"
) | stems_of(" ".join(CURRENCIES))
"""Stems beside the name of a measure that tell which one of the thing it is."""
THINGS = stems_of(
    "model machine device version type variant product series unit option plan package tariff edition Modell Maschine "
    "Gerät Typ Variante Produkt Version Tarif Paket modèle appareil produit variante offre"
)
"""Stems of words for what stands side by side in the columns of a table."""
_TIME = ""
"""Stands for the column of dates that a time is of."""
_GROUPED = frozenset({Wanted.SUM, Wanted.MEAN, Wanted.MEDIAN, Wanted.COUNT})
_OR = re.compile(r"\b(?:or|oder|ou)\b")
_VALUE = re.compile(r"\b(?:value|worth|wert|warenwert|lagerwert|valeur)\b")


def find_alternatives(asked: RowsAsked, roles: Roles, kept: Kept) -> list[str]:
    """Returns the words for "or" between conditions of different columns, of which both are not wanted: "paid or due in
    May".
    """
    columns = defaultdict[tuple[int, int], set[str]](set)
    by_column = [(column, said) for column, (_, said) in roles.values.items()]
    by_column += [(column, roles.columns[column]) for column in roles.flags]
    of_values = {word for _, said in by_column for word in said}
    by_column.append((_TIME, kept.words - of_values))
    for column, said in by_column:
        for word in said:
            columns[word.start, word.start + len(word.written)].add(column)
    if asked.comparison is not None:
        columns[asked.compared].add(roles.compared)
    if asked.time is not None:
        start = asked.text.find(asked.time.written.casefold())
        columns[start, start + len(asked.time.written)].add(_TIME)
    return [
        found.group()
        for (before, own), (after, others) in pairwise(sorted(columns.items()))
        if own.isdisjoint(others) and (found := _OR.search(asked.text, before[1], after[0]))
    ]


def find_unplaced(asked: RowsAsked, roles: Roles, kept: Kept, left: Sequence[Said]) -> list[str]:
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


def find_unread(asked: RowsAsked, table: Table, roles: Roles, kept: Kept, heads: frozenset[str]) -> list[str]:
    """Returns words that name what is not computed: what is counted per row ("most orders"), groups that no column has
    ("per month"), and a second column of amounts.
    """
    columns = roles.columns
    read = {roles.measure, roles.compared, roles.beside, roles.group, roles.naming}
    names = [name_of(column) for column in table.columns]
    unread = [word for word in asked.each if not any(has_stem(stem_of(word), name) for name in names)]
    unread = [word for word in unread if not roles.period]
    if not roles.group and asked.wanted in _GROUPED:  # "the average mileage by vehicle" without such a column
        unread += [stem for stem in asked.group if has_stem(stem, heads)]
    numbers = [
        column for column in table.amounts if any(has_stem(stem_of(word), name_of(column)) for word in asked.each)
    ]
    unread += [column for column in numbers if column not in read]
    if asked.noun and is_word_of_time(asked.noun) and not any(has_stem(asked.noun, name) for name in names):
        unread.append(asked.noun)
    if asked.wanted in {Wanted.CELL, Wanted.DIFFERENCE}:
        return unread
    unread += _find_states(asked, roles, kept) + _find_small_cells(asked, table, roles)
    if (assigned := find_assigned(asked, columns)) and assigned not in kept.columns:
        unread.append(assigned)
    if asked.is_listed:
        told = find_told(asked, table, roles, kept)
        return unread + [column for column in _find_unlisted(asked, table, roles, kept) if column not in told]
    if asked.wanted is Wanted.COUNT or asked.inner is Wanted.COUNT:
        return unread + _find_uncompared(table, roles) + _find_uncounted_texts(asked, table, roles, kept)
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


def _find_states(asked: RowsAsked, roles: Roles, kept: Kept) -> list[str]:
    """Returns words behind "on" or "in" that name a column which is not read: a state that no cell has, as of "orders
    on order"; and words that compare rows, "costs more than the lamp".
    """
    compared = asked.beside.words if asked.beside is not None and not roles.beside else ""
    of_read = kept.words | frozenset(
        said
        for column in (roles.measure, roles.compared, roles.group, *kept.columns)
        for said in roles.columns.get(column, ())
    )
    by_column = frozenset(said for found in roles.columns.values() for said in found)
    found = [
        said.written
        for said in asked.words
        if said in by_column - of_read and said != roles.noun and _IN_STATE.search(asked.text[: said.start])
    ]
    return [*found, compared] if " " in compared else found


def _find_small_cells(asked: RowsAsked, table: Table, roles: Roles) -> list[str]:
    """Returns cells of small words, such as `must` or `on`, that stand in the question as a condition."""
    texts = [column for column in table.columns if column not in table.amounts and column not in table.dates]
    return [
        cell
        for column in texts
        for cell in {row.cells.get(column, "") for row in table.body} - {""}
        if not cell.isupper()
        and set(cell.casefold().split()) <= SMALL_WORDS
        and is_said(cell.casefold(), asked.text)
        and _is_small_condition(asked, table, roles, column, cell.casefold())
    ]


def _is_small_condition(asked: RowsAsked, table: Table, roles: Roles, column: str, cell: str) -> bool:
    """Returns whether a cell of small words stands in quotation marks or beside the name of its column; or, in a column
    whose cells repeat, behind "is" or "are", at the end of the question or before the noun.
    """
    text = asked.text
    named = {said.start for said in roles.columns[column]}
    ends = {said.start + len(said.written) for said in roles.columns[column]}
    noun = roles.noun or next(iter(asked.words), None)
    repeated = repeats(table.body, column)
    for start, end in _find_places(cell, text):
        before, behind = len(text[:start].rstrip()), end + len(text[end:]) - len(text[end:].lstrip())
        if before in ends or behind in named or text[start - 1 : start] in _QUOTES:
            return True
        is_state = _BEHIND_IS.search(text[:start]) is not None
        is_last = _LAST.match(text, end) is not None
        is_first = noun is not None and noun.start == behind
        if repeated and (is_state and is_last if cell in _OF_ALL else is_state or is_last or is_first):
            return True
    return False


def _find_places(word: str, text: str) -> Iterator[tuple[int, int]]:
    """Yields where a text stands in the question as whole words."""
    at = text.find(word)
    while at >= 0:
        end = at + len(word)
        if not text[at - 1 : at].isalnum() and not text[end : end + 1].isalnum():
            yield at, end
        at = text.find(word, at + 1)


def find_told(asked: RowsAsked, table: Table, roles: Roles, kept: Kept) -> tuple[str, ...]:
    """Returns the column whose cell is asked for in the one row that a question means: "who is the manager of Ada", or
    the columns of a measure: "how heavy is P-3". () if the question means no row, or several, or names several columns.
    """
    if asked.is_told:
        rows = [] if _find_names(table).isdisjoint(kept.columns) else kept.rows
        named = [column for column in table.amounts if _is_measure(column, asked.of_names)]
        is_whole = len(rows) == 1 and _has_thing(asked, table, rows[0])
        return tuple(column for column in named if is_whole and table.amount(rows[0], column))
    if (
        not asked.is_listed
        or not asked.is_who
        or not _WHO_IS.match(asked.text)
        or len(kept.rows) != 1
        or len(kept.columns) != 1
    ):
        return ()
    named = _find_others(table, roles, kept)
    asks_more = any(roles.columns[column] - kept.words for column in (*table.amounts, *table.dates))
    is_told = len(named) == 1 and not asks_more and kept.rows[0].cells.get(named[0])
    return (named[0],) if is_told else ()


def _find_names(table: Table) -> frozenset[str]:
    """Returns the columns that name the rows: the column of labels, and behind codes the next column of texts."""
    texts = [column for column in table.columns if column not in table.amounts and column not in table.dates]
    is_coded = all(any(map(str.isdecimal, row.cells.get(table.label, ""))) for row in table.body)
    return frozenset(column for column in texts[: 1 + is_coded] if not repeats(table.body, column))


def _has_thing(asked: RowsAsked, table: Table, row: TableRow) -> bool:
    """Returns whether the names of a row have all words of the thing, so that it is not the service of the thing; a
    word for what the rows are may stand beside the name: "the vehicle V1", "the model CX-10".
    """
    cells = {cell.casefold(): column for column in _find_names(table) if (cell := row.cells.get(column, ""))}
    own = stems_of(" ".join(cells))
    others = [
        said
        for said in asked.words
        if not has_stem(said.stem, own) and not any(is_said(said.written.casefold(), cell) for cell in cells)
    ]
    if len(others) != 1:
        return not others
    start, end = others[0].start, others[0].start + len(others[0].written)
    column = cells.get(f"{asked.text[:start]}{asked.text[end:]}".strip())
    if column is None:
        return False
    return others[0].stem in (THINGS if table.called == "column" else name_of(column))


def _is_measure(column: str, names: Collection[str]) -> bool:
    """Returns whether a column has such a measure of the things themselves: `Net weight`, not `Workpiece weight`."""
    own = name_of(column)
    return not own.isdisjoint(names) and own <= _OF_MEASURES.union(names)


def _find_others(table: Table, roles: Roles, kept: Kept) -> list[str]:
    """Returns the columns of texts that the question names beside the columns of conditions, groups and names of
    rows.
    """
    read = {roles.measure, roles.compared, roles.group, roles.naming, *roles.flags, *kept.columns}
    known = kept.words | frozenset(said for column in read if column for said in roles.columns[column])
    texts = [column for column in table.columns if column not in table.amounts and column not in table.dates]
    return [column for column in texts if column not in read and roles.columns[column] - known]


def _find_unlisted(asked: RowsAsked, table: Table, roles: Roles, kept: Kept) -> list[str]:
    """Returns the columns whose cell is asked for, and not the rows: "who is the manager of Bo"."""
    of_value = [column for column in kept.columns if roles.columns[column]] if _WHO_IS.match(asked.text) else []
    return of_value + _find_others(table, roles, kept)


def _find_uncounted_texts(asked: RowsAsked, table: Table, roles: Roles, kept: Kept) -> list[str]:
    """Returns the columns that hold what the condition names as well: "how many employees does Bo manage"."""
    if asked.wanted is not Wanted.COUNT:
        return []
    values = {text for texts, _ in roles.values.values() for text in texts}
    return [
        column
        for column in _find_others(table, roles, kept)
        if any(row.cells.get(column) in values for row in table.body)
    ]


def _find_uncompared(table: Table, roles: Roles) -> list[str]:
    """Returns the columns of amounts that a count names and does not compare: "how many motors are in stock"."""
    of_read = {
        said
        for column in (roles.compared, roles.beside, roles.group, roles.naming)
        for said in roles.columns.get(column, ())
    }
    if roles.noun is not None:
        of_read.add(roles.noun)
    return [column for column in table.amounts if roles.columns[column] - of_read and column not in roles.flags]


def _has_currency(table: Table, column: str) -> bool:
    amounts = table.amounts.get(column, ())
    return any(amount is not None and not CURRENCIES.isdisjoint(amount.unit.split()) for amount in amounts)


def _find_uncounted(asked: RowsAsked, table: Table, roles: Roles) -> str:
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
        and not repeats(table.body, roles.naming)
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
