"""The rows of tables whose label a question over periods says, with their values.

A row stands for what its label and the head above it say: `Revenue` under `Americas:` is no revenue of the whole, nor
of Europe. `choice` chooses among the rows and their values.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from core.documents import HEADING_SEPARATOR
from core.passage_context.grids import GridRow, TextGrid
from core.passage_context.other_words import find_other_words, find_said_labels, write_out, write_out_places
from core.passage_context.row_labels import MOST_STEMS, SUM_WORDS
from core.ports.retrieval import Hit
from core.text.name_spans import find_names
from core.text.periods import Period, find_months, leave_out_periods
from core.text.terms import split_words
from core.text.titles import find_wanted_marks
from core.text.value_kinds import find_stems
from core.text.word_lists import SMALL_WORDS
from reasoning.strategies.extractive.over_periods.cells import FOOTNOTE, SeriesCell, list_cells, list_unread
from reasoning.strategies.extractive.over_periods.tables import (
    Table,
    leave_out_rows,
    list_parts,
    own_label,
    part_of,
    read_tables,
)
from reasoning.strategies.extractive.over_periods.units import CAPTION

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
    "end beginning close highest lowest peak high low much many stand go went look last first each every over across "
    "10-Q 10-K 20-F 8-K quarterly statement stated shown newest current "
    "allocate spend spent generate earn earned record incur invest make made book post achieve state reveal give tell "
    "hold holds held fiscal "
    "entwickelt entwickelte entwicklung verändert veränderung geändert gestiegen gesunken verlauf zeit laufe quartal "
    "quartale quartalen jahr jahre jahren zeitraum zeiträume berichten bericht einzelnen höhe hoch wie sich über "
    "évolué évolution changé varié trimestre trimestres année années période périodes temps tendance rapport rapports "
    "comment fil cours montant comparer number numbers way Zahl Anzahl Wert nombre valeur percentage percent share "
    "proportion lowest best worst when welchem welcher welches welche wann höchsten niedrigsten größten kleinsten "
    "Vergleich verglichen vergleiche gegenüber betrug lag Prozent Anteil quel quelle quand ones vorherigen früheren "
    "vorigen vergleicht précédents précédentes antérieurs"
)
"""Words of a question over periods that no label need have."""
_NO_LABEL = find_stems("total change quarter year month period version report date other all sum note page")
_FILLING_LABEL = find_stems("expense expenses")
"""Words that a label may have beyond the words of the question: `Research and development expenses`."""
_ENOUGH = 0.6
"""The share of the question's own words that label, group, column, caption and title must have."""
_SEVERAL = re.compile(r"\b(?:and|or|und|oder|et|ou)\b", re.IGNORECASE)
"""Of "ticket and freight revenue" a row has all words, or is one of two."""
_PARTLY = 2 / 3
_SECTION = find_stems(
    "asset assets liability liabilities equity operating operations activity activities expense expenses income "
    "revenue revenues sale sales cost costs cash flow flows data statement statements result results key financial "
    "current noncurrent non net gross profit loss earnings tax taxes debt inventory inventories numerator "
    "denominator continuing ended ending months weeks three six nine twelve selected summary group consolidated "
    "item Aktiva Passiva Vermögen Ergebnis Aufwand Aufwendungen Ertrag Erträge Umsatz Kennzahlen Konzern Bilanz "
    "actif passif produits charges résultat chiffres"
)
"""Words of heads that no part of a company is called by: `Operating activities:`, unlike `Americas:`."""
_MEASURES = find_stems(
    "growth retention ratio margin average median rate yield forecast budget plan planned target guidance backlog "
    "Wachstum Marge Quote Durchschnitt Plan Prognose croissance marge taux moyenne ratio prévision budget"
)
"""Words that make another value of the label beside them: revenue growth is no revenue."""
_MOST_OF_NAME = 12
"""Words of a line that names a company."""
_OF_HEADINGS = find_stems(
    "information reporting overview note notes by all analysis disclosure disclosures performance breakdown detail "
    "details table tables reportable geographic Angaben nach information par"
)
_PER = re.compile(r"\b(?:per|pro|je|par)\s{1,3}([^\W\d_]{2,30})", re.IGNORECASE)
_NO_PER = find_stems("cent rapport quarter year month period report version week day annum Quartal Jahr Monat an mois")
_SHARE_ASKED = re.compile(
    r"%|\bper ?cent|\brate\b|\bshare of\b|\bmargin\b|Prozent|Quote\b|pour ?cent|\btaux\b", re.IGNORECASE
)
_OTHER = re.compile(r"\b(?:total )?(?:other|sonstige[rsn]?|übrige[rsn]?|autres?)\b", re.IGNORECASE)
"""`Other income, net` is no net income."""
_PAID_IN_SHARES = re.compile(
    r"\b(?:(?:share|stock|equity)[ -]based (?:compensation|payments?|awards?)|aktienbasierte[nr]? vergütung)",
    re.IGNORECASE,
)
"""A note that has of each expense the part that is paid in shares, under the label of the expense."""
_PER_SHARE = find_said_labels("earnings per share")
_COUNTS_SHARES = re.compile(
    r"\b(?:shares|units) used\b"
    r"|(?<!except )(?<!except the )(?<!except for )\b(?:average|number of) "
    r"(?:(?:common|ordinary|diluted|basic|outstanding) ){0,2}(?:shares|units)\b|\bshares outstanding\b"
    r"|\b(?:Anzahl|Zahl) der Aktien\b|\bnombre (?:moyen )?d['’]actions\b",
    re.IGNORECASE,
)
"""What stands above the shares that earnings are divided by; their rows are called as the rows of the earnings."""
_NET = re.compile(r"(?<!\(loss\))(?<!income)(?<!expense)(?<!expense\)), ?(?:net|netto|nettes?)\s?\Z", re.IGNORECASE)
"""`Inventories, net` are inventories."""
_IN_BRACKETS = re.compile(r"\([^()]{1,40}\)")
"""A unit, or an explanation, behind a label: `Containers (TEU)`."""
METRIC = frozenset({"*"})
"""The name of all labels of a group of terms that say the same."""
_FIRST_PASSAGES = 2
"""Passages of a document that name whom it is of."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A question over periods: its first clause, the words that a row must account for, other names of these, and the
    words of names, which must stand in the documents. `enough` is the share of the words.
    """

    clause: str
    text: str
    words: frozenset[str]
    said: frozenset[frozenset[str]]
    names: frozenset[str]
    months: int
    is_cut: bool
    enough: float = _ENOUGH

    @cached_property
    def said_words(self) -> frozenset[str]:
        return frozenset(stem for term in find_other_words(self.text) for stem in term.said)


@dataclass(frozen=True, kw_only=True)
class SeriesRow:
    """A row with amounts under a label that the question says: how well it says it, and the name of the label. `unread`
    are the periods in whose columns it has no amount.
    """

    score: float
    name: frozenset[str]
    cells: tuple[SeriesCell, ...]
    unread: tuple[Period, ...] = ()


def read_asked(question: str) -> Asked:
    """Returns what a question over periods asks for."""
    cut = _LAST_CLAUSE.search(question)
    clause = question[: cut.start()] if cut else question
    text = write_out_places(leave_out_periods(clause))
    said = frozenset(find_said_labels(text))
    marks = {mark.upper() for mark in find_wanted_marks(text)}
    words = frozenset(
        word.stem
        for word in split_words(text)
        if text[word.start : word.end].casefold() not in SMALL_WORDS and word.stem.upper() not in marks
    )
    return Asked(
        clause=clause,
        text=text,
        words=words,
        said=said,
        names=words & find_stems(" ".join(name.form for name in find_names(text))) - _FILLING,
        months=find_months(question),
        is_cut=bool(cut and question[cut.start() :].strip(" ;,?.!")),
    )


def find_measure_words(asked: Asked) -> frozenset[str]:
    """Returns the words of a question that say what is measured and of whom, and not when."""
    return asked.words - _FILLING


def list_rows(asked: Asked, hits: Sequence[Hit]) -> Iterator[SeriesRow]:
    """Yields the rows of the hits' tables whose label the question says, with their cells that have an amount. Where a
    passage begins within a table, the passages before it tell the columns, if they are among the hits.
    """
    places = {(hit.document.id, hit.chunk.position): hit for hit in hits}
    tables = {hit.chunk.id: read_tables(hit, places) for hit in hits}
    own_names = _find_own_names(asked, hits, tables)
    parts = list_parts([table for hit in hits for table in tables[hit.chunk.id]])
    for rank, hit in enumerate(hits):
        names = find_stems(hit.document.title) | find_stems(hit.document.key) | own_names[hit.document.id]
        for table in tables[hit.chunk.id]:
            grid, heads = table.grid, table.heads
            for row in table.rows:
                if len(parts[table.begins_at, own_label(row)]) > 1 and not _is_said(asked, part_of(row, heads)):
                    continue
                found = _weigh_row(asked, row, grid, hit, names, heads[row.start])
                if found is None:
                    continue
                score, name = found
                if cells := tuple(list_cells(hit, rank, row, grid, heads[row.start], table.caption)):
                    yield SeriesRow(score=score, name=name, cells=cells, unread=tuple(list_unread(hit, row, grid)))


def asks_for_share(asked: Asked) -> bool:
    """Returns whether a question wants percentages."""
    return _SHARE_ASKED.search(asked.text) is not None


def _find_own_names(
    asked: Asked, hits: Sequence[Hit], tables: Mapping[str, Sequence[Table]]
) -> Mapping[str, frozenset[str]]:
    """Returns for each document which names of the question are its own, as the name of a company is: they stand on its
    first pages in a line that is no sentence and names no segment, and no row or column has them. A sentence may tell
    of a competitor.
    """
    names = {hit.document.id: frozenset[str]() for hit in hits}
    for hit in hits:
        if hit.chunk.position < _FIRST_PASSAGES:
            names[hit.document.id] |= asked.names & find_stems("\n".join(_list_name_lines(hit.chunk.text)))
    for hit in hits:
        labels = [f"{row.label} {table.heads[row.start]}" for table in tables[hit.chunk.id] for row in table.grid.rows]
        columns = [" ".join(table.grid.columns) for table in tables[hit.chunk.id]]
        names[hit.document.id] -= find_stems(" ".join([*labels, *columns]))
    return names


def _list_name_lines(text: str) -> Iterator[str]:
    for line in text.splitlines():
        is_name = len(line.split()) <= _MOST_OF_NAME and not line.rstrip().endswith((".", ";", ","))
        if is_name and not _PART_OF_COMPANY.search(line):
            yield line


def _is_said(asked: Asked, part: frozenset[str]) -> bool:
    return part <= asked.words | asked.said_words | frozenset(stem for label in asked.said for stem in label)


def _is_of_other_part(asked: Asked, part: frozenset[str]) -> bool:
    """Returns whether a head is the name of a part of a company that the question does not say."""
    return bool(part - _SECTION - _FILLING - asked.words) and not (part - _SECTION - _FILLING) & asked.words


_PART_OF_COMPANY = re.compile(
    r"\b(?:segment|division|business (?:unit|area)|subsidiary|region|Sparte|Geschäftsbereich|Bereich|secteur|filiale"
    r"|branch)\b",
    re.IGNORECASE,
)
_HEADING = re.compile(r"^#{1,6}\s.{1,120}$|^[^\W\d_][^|.:;\n]{0,80}$", re.MULTILINE)


def _is_below_other_part(asked: Asked, grid: TextGrid, hit: Hit) -> bool:
    """Returns whether the nearest heading above a table names a segment that the question does not say, and no several
    of them: `Segment Pumps`.
    """
    above = hit.chunk.text[max(0, grid.start - CAPTION) : grid.start]
    headings = [*_HEADING.findall(above)]
    heading = headings[-1] if headings else hit.chunk.heading.split(HEADING_SEPARATOR)[-1]
    heading = _IN_BRACKETS.sub(" ", heading)
    named = _PART_OF_COMPANY.search(heading)
    if named is None:
        return False
    own = find_stems(heading) - _SECTION - _FILLING - find_stems(named[0]) - _OF_HEADINGS
    own = frozenset(word for word in own if not any(map(str.isdigit, word)))
    return bool(own) and not own & asked.words


def _wants_other_measure(asked: Asked, told: frozenset[str], core: frozenset[str]) -> bool:
    """Returns whether the question says a word that makes another value of a label, and the row does not say it."""
    own = told | frozenset(stem for term in find_other_words(asked.text) if core in term.others for stem in term.said)
    per = find_stems(" ".join(_PER.findall(asked.text))) - _NO_PER
    return bool(((asked.words & _MEASURES) | per) - own)


def _weigh_row(
    asked: Asked, row: GridRow, grid: TextGrid, hit: Hit, names: frozenset[str], head: str
) -> tuple[float, frozenset[str]] | None:
    """Returns how well the question says the label of a row, and the label's name; None if it does not.

    A label of its own, `iPhone`, goes before a label of statements, "revenue", which then has to be the table's.
    """
    *groups, last = FOOTNOTE.sub(" ", write_out(row.label)).split(HEADING_SEPARATOR)
    last = _NET.sub("", last)
    stems = frozenset(
        stem for stem in find_stems(_IN_BRACKETS.sub(" ", last) or last) - SUM_WORDS if not any(map(str.isdigit, stem))
    )
    if ("%" in last and not _SHARE_ASKED.search(asked.text)) or (_OTHER.match(last) and not _OTHER.search(asked.text)):
        return None
    if not stems or len(stems) > MOST_STEMS + 1 or stems <= _NO_LABEL:
        return None
    core = stems if stems in asked.said or stems <= asked.words else stems - _FILLING_LABEL
    is_metric = core in asked.said
    if is_metric:
        score, name = 4.0 + (1 + len(core)) * (core <= asked.words), METRIC
    elif core and core <= asked.words and not core <= asked.said_words | names | _FILLING:
        score, name = 10.0 + len(core), core
    elif len(core & asked.words) >= _PARTLY * len(core) > 1 and core & asked.words - asked.said_words - _FILLING:
        score, name = 3.0 + len(core & asked.words) - (core != stems), core
    else:
        return None
    text = hit.chunk.text
    group = " ".join(groups)
    part = part_of(row, {row.start: head})
    columns = " ".join(row.names or grid.columns)
    is_other = (is_metric and _is_of_other_part(asked, part)) or _is_below_other_part(asked, grid, hit)
    is_other = is_other or _is_beside_measure(asked, f"{row.label}\n{head}\n{_read_title(grid, hit)}")
    if is_other or _wants_other_measure(asked, find_stems(f"{row.label} {head} {columns}"), core):
        return None
    caption = _read_caption(asked, grid, text)
    around = f"{group} {caption} {hit.chunk.heading} {columns} {head}"
    told = core | names | find_stems(f"{last} {around}")
    told |= frozenset(stem for term in find_other_words(asked.text) if term.is_in(told) for stem in term.said)
    wanted = asked.words - _FILLING - names
    if wanted and len(wanted & told) < (1 if _SEVERAL.search(asked.text) else asked.enough) * len(wanted):
        return None
    of_group = find_said_labels(group)
    if of_group and not of_group & asked.said and not core <= find_stems(group):
        score -= 3
    of_said = frozenset(stem for label in of_group & asked.said for stem in label)
    others = find_stems(group) - asked.words - SUM_WORDS - asked.said_words - of_said - core
    return score - min(1.5, 0.5 * len(others)), name


def _is_beside_measure(asked: Asked, around: str) -> bool:
    """Returns whether what stands around a row tells another value under its label, which the question does not say:
    the part of an expense that is paid in shares, or the shares that earnings are divided by.
    """
    patterns = [_PAID_IN_SHARES, *([_COUNTS_SHARES] if asked.said & _PER_SHARE else [])]
    return any(pattern.search(around) and not pattern.search(asked.text) for pattern in patterns)


def _read_title(grid: TextGrid, hit: Hit) -> str:
    """Returns what stands right above a table: the heading, and the lines behind the table before."""
    return f"{hit.chunk.heading}\n{leave_out_rows(hit.chunk.text[max(0, grid.start - CAPTION) : grid.start])}"


def _read_caption(asked: Asked, grid: TextGrid, text: str) -> str:
    """Returns the text above a table; if the row has to have all words of the question, only what stands behind the
    table before, and without sentences, which may tell of something else.
    """
    caption = text[max(0, grid.start - CAPTION) : grid.start]
    if asked.enough < 1:
        return caption
    lines = leave_out_rows(caption).splitlines()
    return "\n".join(line for line in lines if not line.rstrip().endswith("."))
