"""Groups and totals of a survey: which value each counted document has, and what code makes of the values.

No model takes part. A document without a value, or with several that cannot be told apart, is listed as such.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from core.corpora import Corpus
from core.documents import Chunk, DocumentRef, Metadata, Span
from core.execution.threads import compute
from core.ports.surveying import DocumentFinder, WordsAsked
from core.text.dates import parse_date
from core.text.terms import split_words
from core.text.titles import family_of
from reasoning.strategies.survey.grouping import Grouping
from reasoning.strategies.survey.items import Item
from reasoning.strategies.survey.judging import Finding, Verdict
from reasoning.strategies.survey.repeated_rows import RepeatedRows
from reasoning.strategies.survey.row_judging import Cell, column_stems, read_cell
from reasoning.strategies.survey.rows import Row
from reasoning.strategies.survey.totals import Aggregate, How
from reasoning.strategies.survey.values import (
    Amount,
    Labelled,
    Period,
    choose_values,
    find_period,
    has_points,
    list_labelled,
    read_amount,
)

MOST_TABULATED = 2_000
"""Documents whose values are looked up."""
_BATCH = 200
_AMOUNTS = frozenset(word.stem for word in split_words("amount amounts total sum value Betrag Beträge Summe"))
_DATED = frozenset(word.stem for word in split_words("date dated created published signed issued updated Datum year"))


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """A document in a group, with the place that names the group (None: its key, title or metadata), and the amount of
    one cell, '' in `unit` without a unit. A document has an entry for each of its cells, and one for each row of a
    table that counts by itself (`item`).
    """

    row: Row
    item: Item | None = None
    group: str = ""
    group_place: Finding | None = None
    amount: Decimal | None = None
    unit: str = ""
    amount_place: Finding | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Total:
    """The amounts of one unit made one, from so many cells."""

    value: Decimal
    unit: str
    cells: int


@dataclass(frozen=True, kw_only=True)
class Group:
    """The documents of one group, or rows of their tables, each at least once, and the totals of their amounts by
    unit.
    """

    name: str
    entries: tuple[Entry, ...]
    totals: tuple[Total, ...] = ()

    @property
    def documents(self) -> int:
        return len({entry.row.document.id for entry in self.entries})

    @property
    def items(self) -> int:
        """How many things the rows of tables are of."""
        return len({entry.item.id for entry in self.entries if entry.item is not None})

    @property
    def count(self) -> int:
        """How many things count: documents, and what rows of tables name in their place."""
        whole = {entry.row.document.id for entry in self.entries if entry.item is None}
        return self.items + len(whole)


@dataclass(frozen=True, kw_only=True)
class Tabulation:
    """The groups, largest first (periods by time). `unplaced` documents name no group, `valueless` have no amount,
    `ambiguous` have several, `mixed` are tables whose rows are of several groups or need not meet the condition, and
    `left_out` documents were not looked at. `totals` are over all groups.

    `repeated` rows have the number of a row in another table and the same values, and count once; `differing` rows
    have such a number and other values, and count each.
    """

    groups: tuple[Group, ...]
    totals: tuple[Total, ...] = ()
    unplaced: tuple[Row, ...] = ()
    valueless: tuple[Row, ...] = ()
    ambiguous: tuple[Row, ...] = ()
    mixed: tuple[Row, ...] = ()
    left_out: int = 0
    repeated: int = 0
    differing: int = 0


async def tabulate(
    finder: DocumentFinder,
    rows: Sequence[Row],
    grouping: Grouping | None,
    aggregate: Aggregate | None,
    items: Mapping[str, Sequence[Item]],
    *,
    has_condition: bool = False,
) -> Tabulation:
    """Returns the groups and totals of the documents that count, and of the rows that count in their place (`items`, by
    document).

    Of other documents, groups and conditions are read of the document. So the rows of its table are added up only if it
    has one group at most and there is no condition: "paid" is true of some of its rows.
    """
    looked_at = rows[:MOST_TABULATED]
    entries: list[Entry] = []
    unplaced: list[Row] = []
    valueless: list[Row] = []
    ambiguous: list[Row] = []
    mixed: list[Row] = []
    for corpus in {row.corpus.id: row.corpus for row in looked_at}.values():
        mine = [row for row in looked_at if row.corpus.id == corpus.id and row.document.id not in items]
        places = {} if grouping is None else await _place(finder, corpus, mine, grouping)
        found = {} if aggregate is None else await _find_amounts_of(finder, corpus, mine, aggregate)
        for row in mine:
            groups = places.get(row.document.id) or [("", None)]
            amounts = [value for value in found.get(row.document.id, ()) if _read_labelled(value)]
            pointed = has_points(value.text for value in amounts)
            chosen = choose_values(amounts)
            if grouping is not None and not groups[0][0]:
                unplaced.append(row)
            if len(chosen) > 1 and (has_condition or len(groups) > 1):
                mixed.append(row)
                chosen = ()
            elif aggregate is not None and not chosen:
                (ambiguous if amounts else valueless).append(row)
            entries += [_make_entry(row, *group, value, pointed) for group in groups for value in chosen or [None]]
    of_tables = [row for row in looked_at if row.document.id in items]
    of_items = [entry for row in of_tables for entry in _read_entries(row, items[row.document.id], grouping, aggregate)]
    once, repeated, differing = _merge_repeated(of_items)
    entries += once
    ungrouped = {entry.row.document.id for entry in of_items if grouping is not None and not entry.group}
    unplaced += [row for row in of_tables if row.document.id in ungrouped]
    with_amount = {entry.row.document.id for entry in of_items if aggregate is None or entry.amount is not None}
    valueless += [row for row in of_tables if row.document.id not in with_amount]
    groups_of = _group(entries, grouping, aggregate)
    return Tabulation(
        groups=groups_of,
        totals=_add_up([entry for group in groups_of for entry in group.entries], aggregate),
        unplaced=tuple(unplaced),
        valueless=tuple(valueless),
        ambiguous=tuple(ambiguous),
        mixed=tuple(mixed),
        left_out=len(rows) - len(looked_at),
        repeated=repeated,
        differing=differing,
    )


def _merge_repeated(entries: Sequence[Entry]) -> tuple[list[Entry], int, int]:
    """Returns the entries without rows that are in another table as well, how many these are, and how many rows have
    the number of a row in another table and other values.

    A number that a table has twice is no number of a row: the lines of an order have the number of the order.
    """
    items = [entry.item for entry in entries if entry.item is not None]
    in_table = Counter((item.table, item.id) for item in items)
    kept: list[Entry] = []
    known: dict[tuple[str, str], Entry] = {}
    repeated = differing = 0
    for entry in entries:
        item = entry.item
        if item is None or not item.is_numbered or in_table[item.table, item.id] > 1:
            kept.append(entry)
            continue
        first = known.setdefault((entry.row.corpus.id, item.id), entry)
        if first is entry:
            kept.append(entry)
        elif _values(first) == _values(entry):
            repeated += 1
        else:
            differing += 1
            kept.append(entry)
    return kept, repeated, differing


def _values(entry: Entry) -> tuple[str, Decimal | None, str]:
    return entry.group.casefold(), entry.amount, entry.unit


def _read_entries(
    row: Row, items: Sequence[Item], grouping: Grouping | None, aggregate: Aggregate | None
) -> Iterator[Entry]:
    """Yields an entry for each row of a table, with the cells that name its group and its amount."""
    for item in items:
        amounts = [] if aggregate is None else _find_amounts(item.cells, aggregate)
        amount = amounts[0] if len(amounts) == 1 else None
        yield Entry(
            row=row,
            item=item,
            group="" if grouping is None else _find_group(row, item, grouping),
            amount=None if amount is None else amount.value,
            unit="" if amount is None else amount.unit,
            amount_place=item.finding,
        )


def _find_group(row: Row, item: Item, grouping: Grouping) -> str:
    if not grouping.period:
        named = [cell for cell in item.cells if grouping.stems <= column_stems(cell.column)]
        named.sort(key=lambda cell: len(column_stems(cell.column)))  # `Supplier` before `Supplier no.`
        written = next((cell.text for cell in named), "")
        return " ".join(written.split()) or _find_metadata(row.document.metadata, grouping.stems)
    dated = [(cell.column, period) for cell in item.cells if (period := find_period(cell.text))]
    dated.sort(key=lambda cell: _DATED.isdisjoint(column_stems(cell[0])))  # `Issued` before `Due`
    found = next((period for _, period in dated), None)
    return found.name(grouping.period) if found else _find_named_period(row.document, grouping.period)


def _find_amounts(cells: Sequence[Cell], aggregate: Aggregate) -> list[Amount]:
    """Returns the amounts under the column that has the name alone, else under all columns with the name. If no column
    has it and the name only names an amount, returns all with a unit.
    """
    columns = [column_stems(cell.column) for cell in cells]
    amounts = [(column, read_cell(cell)) for column, cell in zip(columns, cells, strict=True)]
    for stems in aggregate.names:
        if stems in columns:
            return [amount for column, amount in amounts if amount and column == stems]
    for stems in aggregate.names:
        if any(stems <= column for column in columns):
            return [amount for column, amount in amounts if amount and stems <= column]
    is_any = any(stems <= _AMOUNTS for stems in aggregate.names)
    return [amount for _, amount in amounts if amount and amount.unit] if is_any else []


def _make_entry(row: Row, group: str, place: Finding | None, value: Labelled | None, pointed: bool) -> Entry:
    amount = None if value is None else read_amount(value.text, value.column, has_points=pointed)
    if value is None or amount is None:
        return Entry(row=row, group=group, group_place=place)
    return Entry(
        row=row,
        group=group,
        group_place=place,
        amount=amount.value,
        unit=amount.unit,
        amount_place=_cite(value.chunk, value.span),
    )


def _cite(chunk: Chunk, span: Span) -> Finding:
    """Returns the line of a passage with the value, which tells a reader what the value is of."""
    start = chunk.text.rfind("\n", 0, span.start) + 1
    end = chunk.text.find("\n", span.end)
    line = chunk.text[start : end if end >= 0 else len(chunk.text)]
    begin = start + len(line) - len(line.lstrip())
    return Finding(verdict=Verdict.YES, chunk=chunk, span=Span(start=begin, end=begin + len(line.strip())))


async def _find_amounts_of(
    finder: DocumentFinder, corpus: Corpus, rows: Sequence[Row], aggregate: Aggregate
) -> dict[str, list[Labelled]]:
    """Returns the values of documents under the first of the names under which a document has an amount."""
    found: dict[str, list[Labelled]] = {}
    for stems in aggregate.names:
        rest = [row for row in rows if not any(map(_read_labelled, found.get(row.document.id, ())))]
        if rest:
            found |= await _find_labelled(finder, corpus, rest, stems)
    return found


def _read_labelled(value: Labelled) -> Amount | None:
    return read_amount(value.text, value.column)


async def _find_labelled(
    finder: DocumentFinder, corpus: Corpus, rows: Sequence[Row], stems: frozenset[str]
) -> dict[str, list[Labelled]]:
    """Returns the values of documents under a name, from the passages that have all words of the name."""
    ids = frozenset(row.document.id for row in rows)
    together = tuple(frozenset([frozenset([stem])]) for stem in sorted(stems))
    asked = await finder.find(corpus, WordsAsked(together=together), ids, len(ids))
    owners = {id: found.document_id for found in asked.documents for id in found.chunk_ids if found.is_together}
    listed: dict[str, list[Labelled]] = {}
    read_before: defaultdict[str, RepeatedRows] = defaultdict(RepeatedRows)
    for start in range(0, len(owners), _BATCH):
        part = list(owners)[start : start + _BATCH]
        chunks = await finder.get_chunks(corpus, part)
        there = sorted((chunks[id] for id in part if id in chunks), key=lambda chunk: chunk.position)
        for chunk, values in zip(there, await compute(_list_all, there, stems, read_before), strict=True):
            listed.setdefault(owners[chunk.id], []).extend(values)
    return listed


def _list_all(
    chunks: Sequence[Chunk], stems: frozenset[str], read_before: Mapping[str, RepeatedRows]
) -> list[list[Labelled]]:
    return [list(list_labelled(chunk, stems, read_before[chunk.document_id])) for chunk in chunks]


async def _place(
    finder: DocumentFinder, corpus: Corpus, rows: Sequence[Row], grouping: Grouping
) -> dict[str, list[tuple[str, Finding | None]]]:
    """Returns the groups of documents by their ids: by metadata, else by their names (of periods), else by what their
    passages say.
    """
    if grouping.period:
        return await _date(finder, corpus, rows, grouping.period)
    placed: dict[str, list[tuple[str, Finding | None]]] = {}
    for row in rows:
        if given := _find_metadata(row.document.metadata, grouping.stems):
            placed[row.document.id] = [(given, None)]
    rest = [row for row in rows if row.document.id not in placed]
    for id, values in (await _find_labelled(finder, corpus, rest, grouping.stems)).items():
        names: dict[str, tuple[str, Finding | None]] = {}
        for value in values:
            name = " ".join(value.text.split()).strip(" .,;")
            if name:
                names.setdefault(name.casefold(), (name, _cite(value.chunk, value.span)))
        if names:
            placed[id] = list(names.values())
    return placed


def _find_metadata(metadata: Metadata, stems: Collection[str]) -> str:
    for name, value in metadata.items():
        if isinstance(value, str | int) and {word.stem for word in split_words(name)} == set(stems):
            return " ".join(str(value).split())[:200]
    return ""


async def _date(
    finder: DocumentFinder, corpus: Corpus, rows: Sequence[Row], period: str
) -> dict[str, list[tuple[str, Finding | None]]]:
    dated: dict[str, list[tuple[str, Finding | None]]] = {}
    for row in rows:
        if name := _find_named_period(row.document, period):
            dated[row.document.id] = [(name, None)]
    rest = frozenset(row.document.id for row in rows if row.document.id not in dated)
    first = await finder.find(corpus, WordsAsked(), rest, len(rest)) if rest else None
    chunk_ids = [id for found in first.documents for id in found.chunk_ids] if first else []
    for start in range(0, len(chunk_ids), _BATCH):
        for chunk in (await finder.get_chunks(corpus, chunk_ids[start : start + _BATCH])).values():
            if found := find_period(chunk.text):
                dated[chunk.document_id] = [(found.name(period), _cite(chunk, found.span))]
    return dated


def _find_named_period(document: DocumentRef, period: str) -> str:
    """Returns the period that a date in the metadata, or the name of the document, tells; '' if none does."""
    for name, value in document.metadata.items():
        if isinstance(value, str) and _DATED.issuperset(word.stem for word in split_words(name)):
            moment = parse_date(value)
            if moment is not None:
                return Period(year=moment.year, month=moment.month, span=Span(start=0, end=0)).name(period)
    marks = family_of(document.key, document.title)[1]
    years = sorted(mark for mark in marks if mark.isdecimal() and len(mark) == len("2024"))
    if len(years) != 1:
        return ""
    parts = sorted(mark for mark in marks if mark[0] == period[0] and mark[1:].isdecimal())
    if period == "year":
        return years[0]
    if len(parts) != 1:
        return ""
    return f"{years[0]} Q{parts[0][1:]}" if period == "quarter" else f"{years[0]}-{int(parts[0][1:]):02}"


def _group(entries: Sequence[Entry], grouping: Grouping | None, aggregate: Aggregate | None) -> tuple[Group, ...]:
    """Returns the groups; names that differ in case are one. Documents without a group are the last group, ''."""
    members: dict[str, list[Entry]] = {}
    for entry in entries:
        members.setdefault(entry.group.casefold(), []).append(entry)
    if aggregate is not None and aggregate.how in {How.LEAST, How.MOST}:  # the one that is asked for comes first
        for of_group in members.values():
            of_group.sort(key=lambda entry: _distance(entry, aggregate.how))
    groups = [
        Group(name=_choose_name(of_group), entries=tuple(of_group), totals=_add_up(of_group, aggregate))
        for of_group in members.values()
    ]
    if grouping is not None and (grouping.least is not None or grouping.most is not None):
        groups = [group for group in groups if group.name and grouping.counts(group.count)]
    if grouping is not None and grouping.period:
        return tuple(sorted(groups, key=lambda group: (not group.name, group.name)))
    return tuple(sorted(groups, key=lambda group: (not group.name, -group.count, group.name.casefold())))


def _distance(entry: Entry, how: How) -> Decimal:
    if entry.amount is None:
        return Decimal("Infinity")
    return entry.amount if how is How.LEAST else -entry.amount


def _choose_name(entries: Sequence[Entry]) -> str:
    """Returns the most frequent spelling of a name; of equal ones the first, with capitals."""
    spellings = Counter(entry.group for entry in entries)
    return min(spellings, key=lambda name: (-spellings[name], name))


def _add_up(entries: Sequence[Entry], aggregate: Aggregate | None) -> tuple[Total, ...]:
    """Returns the totals by unit. A cell that is in several groups counts once."""
    if aggregate is None:
        return ()
    cells: dict[tuple[str, Span], Entry] = {}
    for entry in entries:
        if entry.amount is not None and (place := entry.amount_place):
            cells.setdefault((place.chunk.id, place.span), entry)
    amounts: dict[str, list[Decimal]] = {}
    for entry in cells.values():
        amounts.setdefault(entry.unit, []).append(entry.amount or Decimal(0))
    return tuple(
        Total(value=_make_one(values, aggregate.how), unit=unit, cells=len(values)) for unit, values in amounts.items()
    )


def _make_one(values: Sequence[Decimal], how: How) -> Decimal:
    match how:
        case How.SUM:
            return sum(values, Decimal(0))
        case How.MEAN:
            return sum(values, Decimal(0)) / len(values)
        case How.LEAST:
            return min(values)
        case How.MOST:
            return max(values)
