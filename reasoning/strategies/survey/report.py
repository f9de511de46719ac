"""The answer of a survey: the count, the list with a passage for each document, and what the survey covers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from core.documents import Span
from core.ports.reasoning import Answer, AnswerRow, Citation, Quote, Support, Unsupported
from core.ports.retrieval import Hit
from core.text.shortening import shorten
from reasoning.citations.markers import make_citation
from reasoning.strategies.survey.grouping import Grouping
from reasoning.strategies.survey.items import Item, Listed
from reasoning.strategies.survey.judging import Finding, Verdict
from reasoning.strategies.survey.plan import Plan
from reasoning.strategies.survey.rows import Copies, Row, Sums
from reasoning.strategies.survey.tabulation import Entry, Group, Tabulation, Total

OTHERS = 20
"""Documents that are shown of each kind that does not count: undecided, or saying the opposite."""
_LONGEST_QUOTE = 300
_LONGEST_TITLE = 120
_DECIMALS = 6
_SURE = 0.7
"""With a smaller share of decided documents, a request that wants only sure answers gets an abstention."""
_LABEL = "Surveyed by words: no language model read the passages."
_OPINIONS = {
    "yes": " (a language model says yes, and names no sentence that shows it)",
    "no": "",
    "unclear": " (a language model cannot tell)",
}
_DISPUTED = " (another passage of it says the opposite)"
_DOCUMENTS = "Documents are counted, and not the rows of their tables: no column or title names what is counted."
_NO_ROWS = "No table was read that could have such “{unit}”, so documents are counted."
_LACKING_ROWS = "What rows of tables lack is not looked up, so documents are counted, and not “{unit}”."
_UNTOLD = (
    "How many “{unit}” there are cannot be told, since no column, title, metadata or labelled line that was read names "
    "them; the documents that say the words are counted."
)
_NOTHING_ASKED = "The question names neither words that documents could say nor a kind of documents."


@dataclass(kw_only=True)
class _Text:
    """The text while it is written, with its citations and its table. A passage has one marker."""

    text: str = ""
    citations: list[Citation] = field(default_factory=list)
    table: list[AnswerRow] = field(default_factory=list)
    _markers: dict[str, int] = field(default_factory=dict)

    def add(self, words: str) -> None:
        self.text += f"\n\n{words}" if self.text else words

    def add_row(self, head: str, row: Row, copies: str, *beside: Finding | None) -> tuple[int, ...]:
        """Adds a document with the quote that it counts by, and those `beside`; returns the markers."""
        title = shorten(row.document.title or row.document.key, _LONGEST_TITLE)
        self.add(f"{head} {title}{copies}")
        markers: list[int] = []
        seen: list[tuple[str, Span]] = []
        for finding in (*beside, row.finding):
            if finding is None or not finding.quote.strip() or (finding.chunk.id, finding.span) in seen:
                continue
            self.text += "; " if markers else ": "
            seen.append((finding.chunk.id, finding.span))
            markers.append(self._quote(row, finding))
        if markers and row.verdict is Verdict.UNDECIDED:
            self.text += _OPINIONS.get(row.opinion, "")
        return tuple(dict.fromkeys(markers))

    def _quote(self, row: Row, finding: Finding) -> int:
        marker = self._markers.setdefault(finding.chunk.id, len(self._markers) + 1)
        start = len(self.text) + len("“")
        self.text += f"“{shorten(finding.quote, _LONGEST_QUOTE)}"
        span = Span(start=start, end=len(self.text))
        self.text += f"” [{marker}]{_DISPUTED if finding.is_disputed else ''}"
        hit = Hit(chunk=finding.chunk, document=row.document, score=1.0, corpus=row.corpus.name)
        self.citations.append(make_citation(marker, Quote(hit=hit, text=finding.quote, span=finding.span), span))
        return marker


@dataclass(frozen=True, kw_only=True)
class Surveyed:
    """What a survey has found: rows by verdict, those on which a language model said no (`denied`), and the sums.
    `listed` is what tables list: their rows count in the place of their documents.
    """

    rows: Mapping[Verdict, Sequence[Row]]
    denied: Sequence[Row]
    listed: Listed
    sums: Sums


def write_answer(
    plan: Plan,
    counted: Copies,
    surveyed: Surveyed,
    *,
    tabulation: Tabulation | None,
    most: int,
    unsupported: Unsupported,
) -> Answer:
    """Returns the answer. It abstains if no document counts.

    With `abstain` it also does so if the survey stopped early, decided on too few documents, left a part of the
    question out, or lists documents by what no passage states.
    """
    if plan.is_empty:
        return Answer(text=_NOTHING_ASKED, reasoner="survey", abstained=True)
    rows, listed, sums = surveyed.rows, surveyed.listed, surveyed.sums
    written = _Text()
    support = Support.INFERRED if plan.is_absence else Support.QUOTED
    doubtful = (
        plan.is_absence or (plan.unit and not listed.items) or plan.unread or sums.stopped or sums.decided < _SURE
    )
    is_withheld = unsupported is Unsupported.ABSTAIN and bool(doubtful)
    if tabulation is None or not counted.rows:
        written.add(_count(plan, counted, listed))
        is_untold = bool(plan.unit) and plan.asks_number and not listed.tables
        if is_untold:
            why = _LACKING_ROWS if plan.is_absence else _NO_ROWS if plan.counts_rows else _UNTOLD
            written.add(why.format(unit=plan.unit))
        _add_counted(written, counted, listed, most)
        if not is_untold and any(row.is_of_table and row.document.id not in listed.tables for row in counted.rows):
            written.add(_DOCUMENTS)
    else:
        _add_groups(written, plan, counted, listed, tabulation, most)
    verdicts = sums.verdicts
    _add_others(
        written, "Not counted, because a passage says the opposite", rows[Verdict.OPPOSITE], verdicts[Verdict.OPPOSITE]
    )
    _add_others(written, "Not counted, because a language model says no", surveyed.denied, sums.denied)
    _add_others(
        written,
        "Undecided, not counted: the words are there, and not surely in this sense",
        rows[Verdict.UNDECIDED],
        verdicts[Verdict.UNDECIDED],
    )
    written.add(describe_coverage(plan, sums, counted, listed))
    has_nothing = tabulation is not None and not (tabulation.groups and (plan.aggregate is None or tabulation.totals))
    abstained = not counted.rows or has_nothing or is_withheld
    return Answer(
        text=written.text,
        reasoner="survey",
        citations=tuple(written.citations),
        abstained=abstained,
        support=Support.NONE if abstained else support,
        note=_note(plan, sums, listed),
        shown=None,
        table=tuple(written.table),
    )


def _add_counted(written: _Text, counted: Copies, listed: Listed, most: int) -> None:
    """Adds what counts, first the things that rows of tables are of, each by its first row, and then documents."""
    items: dict[str, Item] = {}
    for row in counted.rows:
        for item in listed.items.get(row.document.id, ()):
            items.setdefault(item.id, item)
    whole = [row for row in counted.rows if row.document.id not in listed.items]
    entries = [*(Entry(row=item.row, item=item) for item in items.values()), *(Entry(row=row) for row in whole)]
    for number, entry in enumerate(entries[:most], start=1):
        _add_entry(written, f"{number}.", entry, counted)
    if len(entries) > most:
        written.add(f"… and {len(entries) - most:,} more.")


def _add_entry(written: _Text, head: str, entry: Entry, counted: Copies, *beside: Finding | None) -> None:
    """Adds a document, or what a row of its table is of, with the quotes that it counts by."""
    row, copies = entry.row, _describe_copies(counted, entry.row)
    if (item := entry.item) is not None:
        row, copies, beside = replace(row, finding=item.finding), "", ()
        head = f"{head} {shorten(item.name, _LONGEST_TITLE)}," if item.name else head
    written.table.append(_table_row(entry, written.add_row(head, row, copies, *beside)))


def _add_groups(written: _Text, plan: Plan, counted: Copies, listed: Listed, tabulation: Tabulation, most: int) -> None:
    """Adds the totals, then each group with its documents, and what has no value."""
    grouping, aggregate = plan.grouping, plan.aggregate
    over = _name_counted(plan, counted, listed)
    if aggregate is not None:
        what = aggregate.of if aggregate.of == aggregate.how else f"{aggregate.how} {aggregate.of}"
        made = _describe_totals(tabulation.totals) or "not known"
        written.add(f"The {what} over {over} is {made}{':' if grouping is None else '.'}")
        written.table += [_total_row("total", "", total, tabulation.groups) for total in tabulation.totals]
    if grouping is not None:
        written.add(_count_groups(grouping, [group for group in tabulation.groups if group.name], over))
    has_condition = bool(plan.sought or plan.phrases)
    number = 0
    for group in tabulation.groups:
        if grouping is not None:
            _add_group_head(written, group, grouping)
        for number, entry in enumerate(group.entries, start=number + 1):  # noqa: B020 - numbers go on
            if number <= most:
                beside = entry.amount_place, entry.group_place
                row = entry.row if has_condition or not any(beside) else replace(entry.row, finding=None)
                _add_entry(written, f"{number}.", replace(entry, row=row), counted, *beside)
    if number > most:
        written.add(f"… and {number - most:,} more.")
    _add_values_missing(written, tabulation)


def _add_group_head(written: _Text, group: Group, grouping: Grouping) -> None:
    made = f": {_describe_totals(group.totals)}" if group.totals else ""
    count = f"{group.count:,} in rows of tables" if group.items else _documents(group.documents)
    written.add(f"{group.name or f'Without {grouping.name}'} ({count}){made}")
    written.table += [_total_row("group", group.name, total, [group]) for total in group.totals or [None]]


def _add_values_missing(written: _Text, tabulation: Tabulation) -> None:
    for rows, why in (
        (tabulation.valueless, "there is no amount under this name"),
        (tabulation.ambiguous, "there are several amounts under this name, and none that is the total"),
        (tabulation.mixed, "conditions and groups are read of documents, and here they are of rows of a table"),
    ):
        if rows:
            names = ", ".join(shorten(row.document.title or row.document.key, 60) for row in rows[:OTHERS])
            written.add(f"Not added up, because {why} ({len(rows):,}): {names}.")
    if tabulation.repeated:
        number = "1 row" if tabulation.repeated == 1 else f"{tabulation.repeated:,} rows"
        written.add(f"Left out, because another table has the same number with the same values: {number}.")
    if tabulation.differing:
        number = "1 row" if tabulation.differing == 1 else f"{tabulation.differing:,} rows"
        written.add(f"Added up, although another table has the same number, with other values: {number}.")
    if tabulation.left_out:
        written.add(f"The values of {tabulation.left_out:,} more documents were not looked up.")


def _count_groups(grouping: Grouping, named: Sequence[Group], over: str) -> str:
    if grouping.counted:
        return f"{len(named):,} “{grouping.counted}” in {over}:"
    if grouping.least is None and grouping.most is None:
        return f"{len(named):,} group{'' if len(named) == 1 else 's'} by {grouping.name}, of {over}:"
    bounds = [f"at least {grouping.least:,}"] if grouping.least is not None else []
    bounds += [f"at most {grouping.most:,}"] if grouping.most is not None else []
    return f"{len(named):,} {grouping.name} in {' and '.join(bounds)} of {over}{':' if named else '.'}"


def _describe_totals(totals: Sequence[Total]) -> str:
    return " and ".join(
        f"{_format(total.value)}{f' {total.unit}' if total.unit else ''}"
        f" ({total.cells:,} value{'' if total.cells == 1 else 's'})"
        for total in totals
    )


def _format(value: Decimal) -> str:
    """Returns a number with marks between thousands, and at most six decimals."""
    return f"{_plain(value):,}"


def _plain(value: Decimal) -> Decimal:
    exponent = value.as_tuple().exponent
    return round(value, 6).normalize() + Decimal(0) if isinstance(exponent, int) and exponent < -_DECIMALS else value


def _total_row(kind: str, name: str, total: Total | None, groups: Sequence[Group]) -> AnswerRow:
    documents = len({entry.row.document.id for group in groups for entry in group.entries})
    whole = {entry.row.document.id for group in groups for entry in group.entries if entry.item is None}
    items = {entry.item.id for group in groups for entry in group.entries if entry.item is not None}
    count = len(whole) + len(items)
    if total is None:
        return AnswerRow(kind=kind, group=name, documents=documents, count=count)
    return AnswerRow(
        kind=kind, group=name, value=f"{_plain(total.value):f}", unit=total.unit, documents=documents, count=count
    )


def _table_row(entry: Entry, markers: tuple[int, ...]) -> AnswerRow:
    row = entry.row
    return AnswerRow(
        kind="document" if entry.item is None else "row",
        group=entry.group,
        name="" if entry.item is None else entry.item.name,
        value="" if entry.amount is None else f"{entry.amount:f}",
        unit=entry.unit,
        corpus=row.corpus.name,
        key=row.document.key,
        title=row.document.title,
        markers=markers,
    )


def _add_others(written: _Text, title: str, rows: Sequence[Row], total: int) -> None:
    if not rows:
        return
    listed = rows[:OTHERS]
    written.add(f"{title} ({total:,}):")
    for row in listed:
        written.add_row("-", row, "")
    if total > len(listed):
        written.add(f"… and {total - len(listed):,} more.")


def _count(plan: Plan, counted: Copies, listed: Listed) -> str:
    whole = sum(row.document.id not in listed.items for row in counted.rows)
    count = whole + listed.count(counted.rows)[0]
    named = _name_counted(plan, counted, listed)
    if not plan.sought and not plan.phrases:
        return f"{named}:"
    says = ("lacks" if count == 1 else "lack") if plan.is_absence else ("says" if count == 1 else "say")
    return f"{named} {says} this{':' if count else '.'}"


def _name_counted(plan: Plan, counted: Copies, listed: Listed) -> str:
    """Returns what counts, with its number: `7 “invoices” in rows of 1 document, and 2 documents of the kind …`."""
    kind = f" of the kind “{plan.kind}”" if plan.kind else ""
    if not counted.rows and listed.tables and plan.counts_rows:
        return f"0 “{plan.kind or plan.unit}” in rows of tables"
    whole = sum(row.document.id not in listed.items for row in counted.rows)
    if whole == len(counted.rows):
        return f"{_documents(whole)}{kind}"
    things, rows = listed.count(counted.rows)
    several = "rows" if things == rows else f"{rows:,} rows"
    in_rows = f"{things:,} “{plan.kind or plan.unit}” in {several} of {_documents(len(counted.rows) - whole)}"
    return f"{in_rows}, and {_documents(whole)}{kind}" if whole else in_rows


def _documents(count: int) -> str:
    return f"{count:,} document{'' if count == 1 else 's'}"


def _describe_copies(counted: Copies, row: Row) -> str:
    parts = [
        f"{number} {name if number == 1 else plural}"
        for number, name, plural in (
            (counted.copies.get(row.document.id, 0), "copy", "copies"),
            (counted.versions.get(row.document.id, 0), "older version", "older versions"),
        )
        if number
    ]
    return f" (and {', '.join(parts)})" if parts else ""


def describe_coverage(plan: Plan, sums: Sums, counted: Copies, listed: Listed) -> str:
    """Returns one sentence on what was read, which holds whatever happened during the survey."""
    could = f"ead {sums.read:,} of {sums.candidates:,} documents that "
    if plan.is_absence:
        lacking = f"{sums.lacking:,} document{' lacks' if sums.lacking == 1 else 's lack'} a word of it"
        parts = [f"{lacking}; r{could}have all"]
    else:
        parts = [f"R{could}could match"]
    parts.append(f"{sums.verdicts[Verdict.UNDECIDED]:,} undecided")
    if listed.read:
        parts.append(f"{listed.read:,} rows of tables were read, {listed.undecided:,} undecided")
    if listed.left_out:
        parts.append(f"the tables of {_documents(listed.left_out)} were not read row by row")
    if sums.asked:
        parts.append(
            f"a language model read {sums.asked:,} that words leave undecided: {sums.confirmed:,} count, "
            f"{sums.denied:,} do not"
        )
    if sums.unasked:
        parts.append(f"it was not asked about all of them: {sums.unasked}")
    copies, versions = sum(counted.copies.values()), sum(counted.versions.values())
    if copies:
        parts.append(f"{copies:,} {'copy is' if copies == 1 else 'copies are'} counted with their document")
    if versions:
        parts.append(f"{versions:,} older version{' is' if versions == 1 else 's are'} counted with the newest")
    if sums.stopped:
        parts.append(f"the survey stopped early: {sums.stopped}")
    return f"{'; '.join(parts)}."


def _note(plan: Plan, sums: Sums, listed: Listed) -> str:
    parts = [f"Surveyed by words; {sums.model} read the documents that words leave undecided."]
    if not sums.asked:
        parts = [_LABEL]
    if plan.unit and plan.grouping is None and not listed.items:
        parts.append(f"It counts documents, not “{plan.unit}”.")
    if plan.unread:
        parts.append(f"Not taken into account: “{'”, “'.join(plan.unread)}”.")
    if sums.kind_unknown:
        parts.append(f"No title, heading, key or metadata says “{plan.kind}”, so documents of any kind count.")
    if sums.decided < 1:
        parts.append(f"It decided on {sums.decided:.0%} of the documents that could match.")
    return " ".join(parts)
