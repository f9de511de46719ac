"""The rows of tables whose label a question over periods says, and in each row the cell of its document's own period.

A report of 2023 has the figures of 2022 and of nine months beside those of its quarter. Its own period is the newest,
and of these the shortest, unless the question says another length.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

from core.documents import HEADING_SEPARATOR, Span
from core.passage_context.asked_cell import choose_cell
from core.passage_context.cells import TableCell
from core.passage_context.grids import GridRow, TextGrid
from core.passage_context.other_words import find_other_words, find_said_labels
from core.passage_context.row_labels import MOST_STEMS, SUM_WORDS
from core.ports.retrieval import Hit
from core.text.name_spans import find_names
from core.text.periods import Period, find_months, leave_out_periods, read_period
from core.text.terms import split_words
from core.text.titles import find_marks, find_wanted_marks
from core.text.value_kinds import find_stems
from core.text.word_lists import SMALL_WORDS
from reasoning.strategies.survey.values import Amount, read_amount, read_passage_grids

__all__ = ["Asked", "SeriesCell", "choose_rows", "find_label", "list_periods", "list_rows", "read_asked"]

_LAST_CLAUSE = re.compile(
    r"[?;]|,?\s(?:and|und|et)\s(?:what|how|why|which|is|are|was|wie|warum|welche|quel|quelle|comment|pourquoi)\b",
    re.IGNORECASE,
)
"""Where the question goes on to ask something else: "… and what might this indicate about …?"."""
_FILLING = find_stems(
    "change changes evolve evolution develop trend trends fluctuate fluctuation rise risen fall grow growth "
    "increase decrease decline shift move vary progress compare comparison recent latest previous prior past earlier "
    "reported reporting report reports identify consistent notable significant considerable key disclosed segment "
    "levels level expenditure expenditures spending investment expense expenses amount amounts value values figure "
    "figures total time quarter quarters quarterly period periods year years yearly annual month months monthly "
    "version versions edition editions filing filings release releases course history business company line category "
    "highest lowest peak high low much many stand go went look last first each every over across "
    "entwickelt entwickelte entwicklung verändert veränderung geändert gestiegen gesunken verlauf zeit laufe quartal "
    "quartale quartalen jahr jahre jahren zeitraum zeiträume berichten bericht einzelnen höhe hoch wie sich über "
    "évolué évolution changé varié trimestre trimestres année années période périodes temps tendance rapport rapports "
    "comment fil cours montant comparer number numbers way Zahl Anzahl Wert nombre valeur"
)
"""Words of a question over periods that no label need have."""
_NO_LABEL = find_stems("total change quarter year month period version report date other all sum note page")
_FILLING_LABEL = find_stems("expense expenses")
"""Words that a label may have beyond the words of the question: `Research and development expenses`."""
_ENOUGH = 0.6
"""The share of the question's own words that label, group, column, caption and title must have."""
_PARTLY = 2 / 3
_CAPTION = 400
"""Characters above a table that tell what it is about."""
_SHARE = re.compile(
    r"(?:percentages?|percent|%) of (?:net |total )?(?:sales|revenue)|\b(?:in|en) (?:%|Prozent|percent)",
    re.IGNORECASE,
)
_SHARE_ASKED = re.compile(
    r"%|\bper ?cent|\brate\b|\bshare of\b|\bmargin\b|Prozent|Quote\b|pour ?cent|\btaux\b", re.IGNORECASE
)
_IN = r"\b(?:in|of) (?:[$€£] ?|U\.?S\.? |dollars |euros |EUR |USD |GBP |CHF )?|\((?:[$€£] ?)?|[$€£] ?(?:in )?"
_SCALES = {
    "million": re.compile(
        rf"(?:{_IN}|\b(?:dollars|euros) in )millions\b|\bMio\b\.?|\bmillions d[e’']|\bM€|\b[A-Z]{{3}} millions?\b",
        re.IGNORECASE,
    ),
    "thousand": re.compile(
        rf"(?:{_IN}|\b(?:dollars|euros) in )thousands\b|\bTsd\b\.?|\bTEUR\b|\bT€|\bmilliers d[e’']|\bk€"
        r"|[$€£]000\b|\b[A-Z]{3} thousands?\b",
        re.IGNORECASE,
    ),
    "billion": re.compile(
        rf"(?:{_IN}|\b(?:dollars|euros) in )billions\b|\bMrd\b\.?|\bmilliards d[e’']|\b[A-Z]{{3}} billions?\b",
        re.IGNORECASE,
    ),
}
"""How a table says what its numbers are in."""
_UNSCALED = re.compile(
    r"per share|\bshares\b|\bEPS\b|je Aktie|par action|%|rate\b|headcount|employees|number of|\bunits\b|days\b"
    r"|Mitarbeiter|Beschäftigte|Anzahl|Stück|quote\b|effectif|nombre|salariés|taux\b|ratio\b|margin percentage",
    re.IGNORECASE,
)
_IN_BRACKETS = re.compile(r"\([^()]{1,40}\)")
"""A unit, or an explanation, behind a label: `Containers (TEU)`."""
_PAGE = re.compile(r"pages?|seiten?|no\.?|nr\.?", re.IGNORECASE)
"""A column whose numbers are no values."""
_FOOTNOTE = re.compile(r"\(\d{1,2}\)|[®™†*]")


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A question over periods: its first clause, the words that a row must account for, other names of these, and the
    words of names, which must stand in the documents.
    """

    text: str
    words: frozenset[str]
    said: frozenset[frozenset[str]]
    names: frozenset[str]
    months: int
    is_cut: bool

    @cached_property
    def said_words(self) -> frozenset[str]:
        return frozenset(stem for term in find_other_words(self.text) for stem in term.said)


@dataclass(frozen=True, kw_only=True, eq=False)
class SeriesCell:
    """A value of a row; each is equal to itself alone. `row` is the place of the row in the text of the hit, `label`
    the last part of its label, and `scale` what the table says of its numbers, `million`.
    """

    hit: Hit
    rank: int
    row: Span
    label: str
    column: str
    value: str
    amount: Amount
    period: Period | None
    scale: str

    @property
    def is_share(self) -> bool:
        return "%" in self.value or self.scale == "%"


@dataclass(frozen=True, kw_only=True)
class SeriesRow:
    """A row with amounts under a label that the question says: how well it says it, and the name of the label."""

    score: float
    name: frozenset[str]
    cells: tuple[SeriesCell, ...]


def read_asked(question: str) -> Asked:
    """Returns what a question over periods asks for."""
    cut = _LAST_CLAUSE.search(question)
    text = leave_out_periods(question[: cut.start()] if cut else question)
    said = frozenset(find_said_labels(text))
    marks = {mark.upper() for mark in find_wanted_marks(text)}
    return Asked(
        text=text,
        words=frozenset(
            word.stem
            for word in split_words(text)
            if text[word.start : word.end].casefold() not in SMALL_WORDS and word.stem.upper() not in marks
        ),
        said=said,
        names=find_stems(" ".join(name.form for name in find_names(text))) - _FILLING,
        months=find_months(question),
        is_cut=bool(cut and question[cut.end() :].strip(" ?.!")),
    )


def list_rows(asked: Asked, hits: Sequence[Hit]) -> Iterator[SeriesRow]:
    """Yields the rows of the hits' tables whose label the question says, with their cells that have an amount."""
    for rank, hit in enumerate(hits):
        names = find_stems(hit.document.title) | find_stems(hit.document.key)
        for grid in read_passage_grids(hit.chunk):
            for row in grid.rows:
                found = _weigh_row(asked, row, grid, hit, names)
                if found is None:
                    continue
                score, name = found
                if cells := tuple(_list_cells(hit, rank, row, grid)):
                    yield SeriesRow(score=score, name=name, cells=cells)


def _weigh_row(
    asked: Asked, row: GridRow, grid: TextGrid, hit: Hit, names: frozenset[str]
) -> tuple[float, frozenset[str]] | None:
    """Returns how well the question says the label of a row, and the label's name; None if it does not.

    A label of its own, `iPhone`, goes before a label of statements, "revenue", which then has to be the table's.
    """
    *groups, last = _FOOTNOTE.sub(" ", row.label).split(HEADING_SEPARATOR)
    stems = frozenset(
        stem for stem in find_stems(_IN_BRACKETS.sub(" ", last) or last) - SUM_WORDS if not any(map(str.isdigit, stem))
    )
    if "%" in last and not _SHARE_ASKED.search(asked.text):
        return None
    if not stems or len(stems) > MOST_STEMS + 1 or stems <= _NO_LABEL:
        return None
    core = stems if stems in asked.said or stems <= asked.words else stems - _FILLING_LABEL
    is_metric = core in asked.said
    if is_metric:
        score, name = 4.0 + (1 + len(core)) * (core <= asked.words), frozenset({"*"})
    elif core and core <= asked.words and not core <= asked.said_words | names | _FILLING:
        score, name = 10.0 + len(core), core
    elif len(core & asked.words) >= _PARTLY * len(core) > 1 and core & asked.words - asked.said_words - _FILLING:
        score, name = 3.0 + len(core & asked.words) - (core != stems), core
    else:
        return None
    text = hit.chunk.text
    group = " ".join(groups)
    caption = text[max(0, grid.start - _CAPTION) : grid.start]
    around = (
        f"{group} {caption} {hit.chunk.heading} {' '.join(row.names or grid.columns)} {' '.join(_heads(grid, text))}"
    )
    told = core | names | find_stems(f"{last} {around}")
    told |= frozenset(
        stem for term in find_other_words(asked.text) if is_metric or term.is_in(told) for stem in term.said
    )
    wanted = asked.words - _FILLING - names
    if wanted and len(wanted & told) < _ENOUGH * len(wanted):
        return None
    of_group = find_said_labels(group)
    if of_group and not of_group & asked.said and not core <= find_stems(group):
        score -= 3
    others = find_stems(group) - asked.words - SUM_WORDS - asked.said_words
    return score - min(1.5, 0.5 * len(others)), name


def _heads(grid: TextGrid, text: str) -> list[str]:
    """Returns the labels without a value that stand over parts of a table: `Revenue:`."""
    return [text[slice(*row.cells[0])] for row in grid.rows if row.cells and text[slice(*row.cells[0])].endswith(":")]


def _list_cells(hit: Hit, rank: int, row: GridRow, grid: TextGrid) -> Iterator[SeriesCell]:
    text, columns = hit.chunk.text, row.names or grid.columns
    label = _FOOTNOTE.sub(" ", row.label.split(HEADING_SEPARATOR)[-1])
    end = row.start + len(text[row.start : row.end].rstrip())
    for at, place in enumerate(row.cells):
        value = text[slice(*place)]
        if place == row.named_by or (not at and not row.names) or not value:
            continue
        column = (columns[at] if at < len(columns) else "").replace(HEADING_SEPARATOR, " ")
        amount = read_amount(value.replace(" %", "%"), column)
        sign = "" if _UNSCALED.search(f"{value} {label}") else _find_sign(grid, at, text)
        if amount is not None and not _PAGE.fullmatch(column.strip()):
            yield SeriesCell(
                hit=hit,
                rank=rank,
                row=Span(start=row.start, end=end),
                label=" ".join(label.split()).strip(" :"),
                column=" ".join(column.split()),
                value=value if not sign or sign in value else _add_sign(value, sign),
                amount=amount,
                period=read_period(" ".join(column.split())),
                scale=_find_scale(value, label, column, row.label, grid, text, row.start, hit.chunk.heading),
            )


def _find_sign(grid: TextGrid, at: int, text: str) -> str:
    """Returns the sign of currency that stands in a column, mostly in its first and last rows; '' if none or several
    do, or if percentages stand there, too.
    """
    values = [text[slice(*row.cells[at])] for row in grid.rows if at < len(row.cells)]
    signs = {sign for value in values for sign in "$€£¥" if sign in value}
    return signs.pop() if len(signs) == 1 and not any("%" in value for value in values) else ""


def _add_sign(value: str, sign: str) -> str:
    return f"({sign}{value[1:]}" if value.startswith("(") else f"{sign}{value}"


def _find_scale(  # noqa: PLR0917 - the places that may say it, the nearest first
    value: str, label: str, column: str, path: str, grid: TextGrid, text: str, start: int, heading: str
) -> str:
    """Returns `million` if a table says that its numbers are millions, `%` for shares, '' if nothing is said."""
    if "%" in value or _UNSCALED.search(label):
        return "%" if "%" in value else ""
    above = " ".join(text[max(0, grid.start - _CAPTION) : start].split())
    corner = grid.columns[0] if grid.columns else ""
    for place in (value, column, label, path, corner, above, heading):
        if place is above and _SHARE.search(above):
            return "%"
        for scale, pattern in _SCALES.items():
            if pattern.search(place):
                return "" if place is value else scale
    return ""


def find_label(rows: Sequence[SeriesRow]) -> frozenset[str]:
    """Returns the name of the label that the question says best; of equal ones the label of the most documents."""
    documents, best = defaultdict[frozenset[str], set[str]](set), Counter[frozenset[str]]()
    for row in rows:
        documents[row.name].add(row.cells[0].hit.document.id)
        best[row.name] = max(best[row.name], round(10 * row.score))
    return max(best, key=lambda name: (best[name] // 20, len(documents[name]), best[name], sorted(name)))


def choose_rows(asked: Asked, rows: Sequence[SeriesRow]) -> dict[str, SeriesCell]:
    """Returns for each document the cell of its own period, by the document's id. `rows` have one label.

    If some documents name the periods of their columns, others are left out. So is a value that one table alone has,
    unless it stands in the best passage with the row: the table may divide up what that passage tells.
    """
    by_document = defaultdict[str, list[SeriesRow]](list)
    for row in rows:
        by_document[row.cells[0].hit.document.id].append(row)
    own = {id: _find_own_end(of_one) for id, of_one in by_document.items()}
    wants_share = _SHARE_ASKED.search(asked.text) is not None
    chosen = {}
    for id, of_one in by_document.items():
        found = [(row, cell) for row in of_one if (cell := _choose_cell(asked, row.cells)) is not None]
        if not found:
            continue
        tables = Counter(value for value, _ in {(cell.amount.value, cell.hit.chunk.id) for _, cell in found})
        ranks = [_order(row, cell, own[id], tables, wants_share=wants_share) for row, cell in found]
        cell = found[ranks.index(min(ranks))][1]
        first = min(row.cells[0].rank for row in of_one)
        told = {other.amount.value for row in of_one for other in row.cells if other.rank == first}
        if cell.amount.value in told or tables[cell.amount.value] > 1:
            chosen[id] = cell
    dated = {id: cell for id, cell in chosen.items() if cell.period}
    return dated or chosen


def _order(
    row: SeriesRow,
    cell: SeriesCell,
    own: tuple[int, int, int] | None,
    tables: Mapping[Decimal, int],
    *,
    wants_share: bool,
) -> tuple[float, ...]:
    """Orders the cells of a document, the best first. Of several values under one label the value of the most `tables`
    goes first: a note divides up what statement and discussion tell.
    """
    return (
        own is not None and (cell.period is None or cell.period.end != own),
        cell.is_share != wants_share,
        -round(row.score),
        cell.period.months if cell.period else 0,
        -tables[cell.amount.value],
        not cell.scale,
        -row.score,
        cell.rank,
    )


def _find_own_end(rows: Sequence[SeriesRow]) -> tuple[int, int, int] | None:
    """Returns the last day of a document's own period: of the newest days of its rows, the most frequent."""
    newest = [max(cell.period.end for cell in row.cells if cell.period) for row in rows if _are_dated(row)]
    return Counter(sorted(newest, reverse=True)).most_common(1)[0][0] if newest else None


def _are_dated(row: SeriesRow) -> bool:
    return any(cell.period for cell in row.cells)


def _choose_cell(asked: Asked, cells: Sequence[SeriesCell]) -> SeriesCell | None:
    """Returns the cell of the document's own period; without names of periods the cell that the question asks for."""
    dated = [(cell.period, cell) for cell in cells if cell.period]
    if dated:
        marks = find_marks(cells[0].hit.document.key)
        of_year = [pair for pair in dated if not pair[0].month and str(pair[0].year) in marks]
        dated = of_year or dated
        of_length = [pair for pair in dated if asked.months and pair[0].months == asked.months]
        return max(of_length or dated, key=lambda pair: (pair[0].end, -pair[0].months))[1]
    if len(cells) == 1:
        return cells[0]
    if not all(cell.column for cell in cells):
        return None  # the first of several columns without names may be of any period
    named = [TableCell(row=cell.label, column=cell.column, value=cell.value, span=cell.row) for cell in cells]
    asked_cell = choose_cell(named, asked.text)
    return cells[named.index(asked_cell)] if asked_cell else None


def list_periods(rows: Sequence[SeriesRow]) -> list[SeriesCell]:
    """Returns the cells of the row of one document that has the most periods of one length, in the order of time."""
    best: list[SeriesCell] = []
    for row in sorted(rows, key=lambda row: -row.score):
        by_length = defaultdict[tuple[int, bool], dict[tuple[int, int, int], SeriesCell]](dict)
        for cell in row.cells:
            if cell.period:
                by_length[cell.period.months, cell.is_share].setdefault(cell.period.end, cell)
        for cells in by_length.values():
            if len(cells) > len(best):
                best = [cells[end] for end in sorted(cells)]
    return best
