"""How an answer over the rows of a table is written: its lines with their citations, and what was read and left out."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.documents import Span
from core.ports.reasoning import AnswerRow, Citation, Quote
from core.ports.retrieval import Hit, Signals
from core.text.shortening import shorten
from reasoning.citations.markers import make_citation
from reasoning.strategies.extractive.over_rows.computing import Line, format_amount, has_number, is_group_wanted
from reasoning.strategies.extractive.over_rows.fitting import Fit
from reasoning.strategies.extractive.over_rows.question.asked import RowsAsked
from reasoning.strategies.extractive.over_rows.question.operators import ORDERED, Wanted
from reasoning.strategies.extractive.over_rows.tables import MOST_PASSAGES, TableRow
from reasoning.strategies.extractive.over_rows.total_rows import is_named_total

NOTE = "Computed by code from all rows of a table; no language model wrote it."
_MOST_COLUMNS = 30
_LONGEST_CELL = 40


@dataclass(frozen=True, kw_only=True)
class RowsAnswer:
    """An answer over all rows of a table. `hits` are the passages of the rows that it cites."""

    text: str
    citations: tuple[Citation, ...] = ()
    hits: tuple[Hit, ...] = ()
    table: tuple[AnswerRow, ...] = ()
    abstained: bool = False


def write_answer(asked: RowsAsked, one: Fit, lines: Sequence[Line], others: Sequence[Fit]) -> RowsAnswer:
    markers: dict[str, int] = {}
    hits: dict[str, Hit] = {}
    citations: list[Citation] = []
    table: list[AnswerRow] = []
    written: list[str] = []
    length = 0
    document = one.table.hit.document
    for line in lines:
        cited: list[int] = []
        for row in (_find_part(one, row) for row in line.rows):
            hit = _make_hit(one, row)
            hits.setdefault(row.chunk.id, hit)
            marker = markers.setdefault(row.chunk.id, len(markers) + 1)
            quote = Quote(hit=hit, text=row.text, span=row.span)
            citations.append(make_citation(marker, quote, Span(start=length, end=length + len(line.text))))
            cited.append(marker)
        numbers = tuple(dict.fromkeys(cited))
        written.append(line.text + "".join(f" [{number}]" for number in numbers))
        length += len(written[-1]) + len("\n\n")
        table.append(
            AnswerRow(
                kind=line.kind,
                group=line.name if line.kind == "group" else "",
                name=line.name if line.kind == "row" else "",
                value=line.value,
                unit=line.unit,
                count=line.count,
                corpus=one.table.hit.corpus,
                key=document.key if line.kind == "row" else "",
                title=document.title if line.kind == "row" else "",
                markers=numbers,
            )
        )
    written.append(_describe(asked, one, others))
    return RowsAnswer(
        text="\n\n".join(written), citations=tuple(citations), hits=tuple(hits.values()), table=tuple(table)
    )


def _find_part(one: Fit, row: TableRow) -> TableRow:
    """Returns the row in which the cell of the answer stands, which is another one if columns are read as rows."""
    columns = (*one.told, one.measure, one.compared, *one.limited)
    return next((row.parts[column] for column in columns if column in row.parts), row)


def _make_hit(one: Fit, row: TableRow) -> Hit:
    hit = one.table.hit
    if row.chunk.id == hit.chunk.id:
        return hit
    return replace(hit, chunk=row.chunk, score=0.0, signals=Signals(), path=(), reasons=(), contributions={})


def _describe(asked: RowsAsked, one: Fit, others: Sequence[Fit]) -> str:
    """Returns what was read, what was left out, and which other tables may be meant."""
    table = one.table
    rows = len(table.body)
    parts = [_describe_operation(asked, one)]
    if one.conditions and not one.told:
        parts.append(f"{table.called.capitalize()}s with {'; '.join(one.conditions)}: {len(one.rows):,}.")
    parts.append(
        f"Read: {'' if table.unread else 'all '}{rows:,} {table.called}{'' if rows == 1 else 's'} of {_name(one)}."
    )
    if totals := table.totals:
        parts.append(f"Left out: {len(totals):,} row{'' if len(totals) == 1 else 's'} of totals{_compare(asked, one)}.")
    if likely := table.like_totals:
        said = ", ".join(f"“{shorten(name, _LONGEST_CELL)}”" for name in likely[:3])
        parts.append(f"Not left out, though they may be totals: {len(likely):,} ({said}).")
    if table.headers > 1:
        parts.append(f"The names of the columns stand there {table.headers:,} times: these may be several tables.")
    parts += _describe_values(asked, one)
    if table.unread:
        parts.append(f"Not read, because the row has another number of cells, or is cut: {table.unread:,}.")
    if others:
        names = list(dict.fromkeys(_name(other) for other in others))
        parts.append(f"The question may also mean {', '.join(names[:3])}.")
    return " ".join(parts)


def _describe_values(asked: RowsAsked, one: Fit) -> list[str]:
    """Returns which rows have no name of a group, and which amounts were not put together, or are none."""
    table = one.table
    parts: list[str] = []
    if is_group_wanted(asked, one) or (has_number(asked) and one.is_distinct and one.is_noun_known):
        nameless = sum(not row.cells.get(one.naming) for row in one.rows)
        if nameless:
            parts.append(f"Passed over, because “{one.naming}” is empty: {nameless:,}.")
    if has_number(asked) or not one.measure:
        return parts
    without = [row for row in one.rows if table.amount(row, one.measure) is None]
    units = {amount.unit for row in one.rows if (amount := table.amount(row, one.measure))}
    if len(units) > 1:
        names = ", ".join(sorted(unit or "none" for unit in units))
        parts.append(f"Amounts of different units were neither converted nor compared: {names}.")
    texts = Counter(row.cells.get(one.measure, "") for row in without)
    empty = texts.pop("", 0)
    said = ", ".join(f"“{shorten(text, _LONGEST_CELL)}”" for text in list(texts)[:3])
    if empty:
        parts.append(f"Without a value in “{one.measure}”: {empty:,}.")
    if texts:
        parts.append(f"With text in “{one.measure}”, not a number: {texts.total():,} ({said}).")
    return parts


def _describe_operation(asked: RowsAsked, one: Fit) -> str:
    place = {2: "Second ", 3: "Third ", 4: "Fourth "}.get(asked.place, "")
    if asked.wanted in ORDERED:
        many = f"The {asked.most} " if asked.most > 1 else place
        inner = f"{asked.inner.value} of " if asked.inner and one.is_distinct and one.is_noun_known else ""
        of = f"“{one.measure}”" if asked.inner is not Wanted.COUNT else f"rows for each “{one.naming}”"
        text = f"{many}{asked.wanted.value} {inner}{of}"
        return f"{text[0].upper()}{text[1:]}{f' for each “{one.group}”' if one.group else ''}."
    if one.told:
        return "Read by code."
    if has_number(asked):
        return "Counted by code."
    return "Computed by code."


def _compare(asked: RowsAsked, one: Fit) -> str:
    """Returns how the table's own total of the measure agrees with the total that was computed."""
    if asked.wanted in {Wanted.MEAN, Wanted.MEDIAN} or not one.measure or one.conditions or one.group:
        return ""
    if asked.wanted in {*ORDERED, Wanted.DIFFERENCE, Wanted.RANGE, Wanted.SHARE} or has_number(asked):
        return ""
    amounts = [amount for row in one.rows if (amount := one.table.amount(row, one.measure))]
    named = [row for row in one.table.totals if is_named_total(next(filter(None, row.cells.values()), ""))]
    own = one.table.amount(named[-1], one.measure) if named else None
    if own is None or len({amount.unit for amount in amounts}) > 1:
        return ""
    total = sum(amount.value for amount in amounts)
    if own.value == total:
        return "; the last one says the same"
    others = [amount for row in one.table.totals if (amount := one.table.amount(row, one.measure))]
    if any(amount.value == total for amount in others):
        return "; one of them says the same"
    return f"; the last one says {format_amount(own.value, own.unit, one.measure)}"


def _name(one: Fit) -> str:
    heading = one.table.lead if one.table.has_twin else one.table.heading
    return one.table.hit.document.key + (f", “{shorten(heading, _LONGEST_CELL)}”" if heading else "")


def decline_column(one: Fit) -> RowsAnswer:
    words = " ".join(said.written for said in one.left)
    columns = ", ".join(shorten(column, _LONGEST_CELL) for column in one.table.columns[:_MOST_COLUMNS])
    more = len(one.table.columns) - _MOST_COLUMNS
    columns += f", and {more:,} more" if more > 0 else ""
    text = f"No column of {_name(one)} is called “{words}”. Its columns: {columns}."
    rows = one.rows if one.is_one else one.rows[:1]
    hits = [_make_hit(one, row) for row in rows]
    citations: list[Citation] = []
    for number, (row, hit) in enumerate(zip(rows, hits, strict=True), start=1):
        text += "\n\nNearest:\n\n" if number == 1 else "\n\n"
        start = len(text)
        text += row.text
        quote = Quote(hit=hit, text=row.text, span=row.span)
        citations.append(make_citation(number, quote, Span(start=start, end=len(text))))
        text += f" [{number}]"
    return RowsAnswer(text=text, citations=tuple(citations), hits=tuple(hits), abstained=True)


def decline_time(one: Fit) -> RowsAnswer:
    said = " ".join(dict.fromkeys(said.written for said in one.left))
    dates = ", ".join(f"“{shorten(column, _LONGEST_CELL)}”" for column in one.table.dates)
    text = (
        f"This needs all rows of {_name(one)}, and it could not be decided which of them “{said}” means. "
        f"Its columns of dates: {dates}. Ask with the name of one of them, which most rows fill, and with one time."
    )
    return RowsAnswer(text=text, abstained=True)


def refuse_size(hit: Hit) -> str:
    return (
        f"{hit.document.key} has more than {MOST_PASSAGES:,} passages, or tables that take too long, to read all rows "
        "for one question; ask the reasoner `survey`, or index a part of it as a document of its own."
    )
