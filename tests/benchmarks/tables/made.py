"""Made tables of ten kinds of file, each with five cells to ask for. A seed makes other words, figures and sizes."""

import csv
import io
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import docx
import openpyxl
import pptx
from fpdf import FPDF

from tests.documents import saved

__all__ = ["KINDS", "AskedCell", "MadeTable", "make_tables"]

_ASKED = 5


def _split(words: str, separator: str = " ") -> list[str]:
    return [word.strip() for word in words.split(separator)]


_PLACES = _split(
    "Aarhus Bilbao Cork Dresden Esbjerg Florence Ghent Heraklion Innsbruck Jena Krakow Leiden Malmo Nantes Odense Porto"
    " Quimper Riga Salamanca Tartu Uppsala Varna Wroclaw Zadar Bergen Cadiz Delft Espoo Fulda Graz"
)
_BRANCHES = _split(
    "Adlershof Brockley Carnac Dunmore Ebersberg Figueres Gistel Halden Iserlohn Jesolo Kilrush Lorient Mirandela"
    " Nyborg Orvieto Pau Quarrata Ribe Sopot Tomar Ulverston Vimmerby Wexford Yverdon Zwolle"
)
_THINGS = _split(
    "pumps valves gaskets filters sensors cables hinges bearings flanges gauges couplings relays nozzles brackets"
    " rotors pistons gears springs housings seals"
)
_MEASURES = _split(
    "Units sold;Stock at year end;Average price;Returned goods;Delivery days;Complaints;Repairs under warranty"
    ";Hours of downtime;Energy used;Net revenue;Staff costs;Scrap rate",
    ";",
)
_TOPICS = _split(
    "Deliveries of the northern depots;Maintenance of rented plant;Sales of spare parts;Inspection of pressure vessels"
    ";Energy audit of the foundry;Complaints of wholesale customers;Stock-taking of consignment goods"
    ";Trial runs of the new line;Costs of external workshops;Travel of field engineers;Calibration of instruments"
    ";Scrap of the rolling mill",
    ";",
)
_PROSE = (
    "The figures were taken from the books of the branches and checked by the controller. Differences of rounding were "
    "left as they are, and late entries are counted in the following period."
)


@dataclass(frozen=True, kw_only=True)
class AskedCell:
    """A cell to be found: its value, and the words that its row and its column must have."""

    question: str
    value: str
    row: str
    column: tuple[str, ...]
    page: int | None = None


@dataclass(frozen=True, kw_only=True)
class MadeTable:
    kind: str
    key: str
    media_type: str
    content: bytes
    asked: tuple[AskedCell, ...]


@dataclass(frozen=True, kw_only=True)
class _Table:
    """Columns with the names that span them ('' if none), labels, and figures ('' where there is none)."""

    topic: str
    spans: tuple[str, ...]
    names: tuple[str, ...]
    labels: tuple[str, ...]
    figures: tuple[tuple[str, ...], ...]

    @property
    def rows(self) -> list[list[str]]:
        return [[label, *row] for label, row in zip(self.labels, self.figures, strict=True)]

    @property
    def header(self) -> list[list[str]]:
        upper = [["Item", *self.spans]] if any(self.spans) else []
        return [*upper, ["Item", *self.names]]


def make_tables(seed: int) -> list[MadeTable]:
    """Returns six tables of each kind."""
    chance = random.Random(seed)
    return [
        write(chance, f"{kind.replace(' ', '-').replace(',', '')}-{number}")
        for kind, write in KINDS.items()
        for number in range(6)
    ]


def _make(chance: random.Random, *, spans: bool = False, rows: int = 0) -> _Table:
    count = rows or chance.randrange(6, 15)
    if spans:
        years = chance.sample(range(2012, 2025), 2)
        upper = tuple(f"{'First' if half == 0 else 'Second'} half {years[half]}" for half in (0, 1) for _ in (0, 1))
        names = tuple(chance.sample(_MEASURES, 2)) * 2
    else:
        names = tuple(chance.sample(_MEASURES, chance.randrange(3, 6)))
        upper = ("",) * len(names)
    pairs = [f"{place} {thing}" for place in _PLACES for thing in _THINGS]
    labels = tuple(chance.sample(pairs, count))
    taken: set[str] = set()

    def figure() -> str:
        if chance.random() < 0.12:
            return ""
        while True:
            value = chance.choice(
                [f"{chance.randrange(1000, 999_999):,}", f"{chance.randrange(100, 99_999) / 10:,.1f}"]
            )
            if value not in taken:
                taken.add(value)
                return value

    figures = tuple(row for _ in range(2 * count) if any(row := tuple(figure() for _ in names)))[:count]
    topic = f"{chance.choice(_TOPICS)}, branch of {chance.choice(_BRANCHES)}"
    return _Table(topic=topic, spans=upper, names=names, labels=labels, figures=figures)


def _finish(
    chance: random.Random,
    kind: str,
    name: str,
    table: _Table,
    suffix: str,
    content: bytes,
    media_type: str,
    pages: Callable[[int], int | None] = lambda _: None,
) -> MadeTable:
    places = [(row, column) for row, cells in enumerate(table.figures) for column, cell in enumerate(cells) if cell]
    asked = []
    for row, column in chance.sample(places, _ASKED):
        span, named = table.spans[column], table.names[column]
        of = f" in the {span[0].lower()}{span[1:]}" if span else ""
        asked.append(
            AskedCell(
                question=f"{table.topic}: what is given as {named.lower()} for {table.labels[row]}{of}?",
                value=table.figures[row][column],
                row=table.labels[row],
                column=tuple(part for part in (span, named) if part),
                page=pages(row),
            )
        )
    return MadeTable(kind=kind, key=f"{name}.{suffix}", media_type=media_type, content=content, asked=tuple(asked))


def _csv(chance: random.Random, name: str) -> MadeTable:
    table = _make(chance)
    written = io.StringIO()
    csv.writer(written, delimiter=chance.choice(",;")).writerows([*table.header, *table.rows])
    return _finish(chance, "CSV", f"{table.topic} {name}", table, "csv", written.getvalue().encode(), "text/csv")


def _markdown(chance: random.Random, name: str) -> MadeTable:
    table = _make(chance)
    lines = [
        f"# {table.topic}",
        "",
        _PROSE,
        "",
        f"| {' | '.join(table.header[0])} |",
        "|---" * (len(table.names) + 1) + "|",
    ]
    lines += [f"| {' | '.join(row)} |" for row in table.rows]
    return _finish(chance, "Markdown", name, table, "md", "\n".join([*lines, "", _PROSE]).encode(), "text/markdown")


def _html(chance: random.Random, name: str, *, spans: bool) -> MadeTable:
    table = _make(chance, spans=spans)
    head = "".join(f"<th>{one}</th>" for one in table.header[-1])
    if spans:
        upper = "".join(f"<th colspan='2'>{one}</th>" for one in table.spans[::2])
        head = f"<th rowspan='2'>Item</th>{upper}</tr><tr>" + "".join(f"<th>{one}</th>" for one in table.names)
    body = "".join("<tr>" + "".join(f"<td><p>{cell}</p></td>" for cell in row) + "</tr>" for row in table.rows)
    page = f"<title>{table.topic}</title><h1>{table.topic}</h1><p>{_PROSE}</p><table><tr>{head}</tr>{body}</table>"
    kind = "HTML, merged" if spans else "HTML"
    return _finish(chance, kind, name, table, "html", page.encode(), "text/html")


def _docx(chance: random.Random, name: str) -> MadeTable:
    table = _make(chance, spans=chance.random() < 0.5)
    document = docx.Document()
    document.add_heading(table.topic, 1)
    document.add_paragraph(_PROSE)
    written = [*table.header, *table.rows]
    grid = document.add_table(len(written), len(table.names) + 1)
    for row, cells in zip(grid.rows, written, strict=True):
        for cell, text in zip(row.cells, cells, strict=True):
            cell.text = text
    if len(table.header) > 1:
        for first, last in (((0, 0), (1, 0)), ((0, 1), (0, 2)), ((0, 3), (0, 4))):
            grid.cell(*last).text = ""
            grid.cell(*first).merge(grid.cell(*last))
            grid.cell(*first).text = written[first[0]][first[1]]
    media_type = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
    return _finish(chance, "DOCX", name, table, "docx", saved(document), media_type)


def _pptx(chance: random.Random, name: str) -> MadeTable:
    table = _make(chance, rows=chance.randrange(6, 10))
    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[5])
    slide.shapes.title.text = table.topic
    written = [*table.header, *table.rows]
    grid = slide.shapes.add_table(len(written), len(written[0]), 0, 0, 9_000_000, 4_000_000).table
    for row, cells in enumerate(written):
        for column, text in enumerate(cells):
            grid.cell(row, column).text = text
    media_type = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
    return _finish(chance, "PPTX", name, table, "pptx", saved(presentation), media_type)


def _xlsx(chance: random.Random, name: str) -> MadeTable:
    table = _make(chance, spans=chance.random() < 0.5)
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    sheet.title = table.topic[:31]
    sheet.append([table.topic])
    for row in [*table.header, *table.rows]:
        sheet.append([cell or None for cell in row])
    if len(table.header) > 1:
        for merged in ("A2:A3", "B2:C2", "D2:E2"):
            sheet.merge_cells(merged)
    media_type = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    return _finish(chance, "XLSX", f"{table.topic} {name}", table, "xlsx", saved(workbook), media_type)


def _pdf(
    chance: random.Random, name: str, *, ruled: bool = False, spans: bool = False, pages: bool = False
) -> MadeTable:
    table = _make(chance, spans=spans, rows=chance.randrange(60, 80) if pages else 0)
    document = FPDF(format="A4", unit="pt")
    document.set_auto_page_break(False)
    document.set_title(table.topic)
    document.add_page()
    document.set_font("Helvetica", size=15)
    document.text(60, 80, table.topic)
    document.set_font("Helvetica", size=9)
    document.set_xy(60, 95)
    document.multi_cell(470, 12, _PROSE)
    y, width, pitch = 140.0, (480 - 130) / len(table.names), 15.0
    starts: list[int] = []
    border: Literal[0, 1] = 1 if ruled else 0

    def write(cells: Sequence[tuple[str, float, str]], at: float) -> None:
        document.set_xy(55, at)
        for text, wide, align in cells:
            document.cell(wide, pitch, text, border=border, align=align)

    def write_header(at: float) -> float:
        if spans:
            write([("", 130, "L"), *((one, 2 * width, "C") for one in table.spans[::2])], at)
            at += pitch
        broken = [_break(one, document.get_string_width(one) > width - 8) for one in table.names]
        if any(upper for upper, _ in broken):
            write([("", 130, "L"), *((upper, width, "R") for upper, _ in broken)], at)
            at += 0.6 * pitch
        write([("Item", 130, "L"), *((lower, width, "R") for _, lower in broken)], at)
        return at + pitch

    document.set_font("Helvetica", "B", 7)
    y = write_header(y)
    for row in table.rows:
        if y > 780:
            document.add_page()
            y = 60.0
        document.set_font("Helvetica", size=8)
        write([(row[0], 130, "L"), *((cell, width, "R") for cell in row[1:])], y)
        starts.append(document.page)
        y += pitch
    document.set_font("Helvetica", size=9)
    document.set_xy(60, min(y + 20, 800))
    document.multi_cell(470, 12, _PROSE)
    kind = "PDF over pages" if pages else "PDF, merged" if spans else "PDF, ruled" if ruled else "PDF, unruled"
    return _finish(
        chance, kind, name, table, "pdf", bytes(document.output()), "application/pdf", pages=lambda row: starts[row]
    )


def _break(name: str, is_wide: bool) -> tuple[str, str]:
    """Returns the two lines of a name; the first one is '' if the name fits into one."""
    words = name.split()
    half = (len(words) + 1) // 2
    return (" ".join(words[:half]), " ".join(words[half:])) if is_wide else ("", name)


KINDS: dict[str, Callable[[random.Random, str], MadeTable]] = {
    "CSV": _csv,
    "XLSX": _xlsx,
    "HTML": lambda chance, name: _html(chance, name, spans=False),
    "HTML, merged": lambda chance, name: _html(chance, name, spans=True),
    "DOCX": _docx,
    "Markdown": _markdown,
    "PPTX": _pptx,
    "PDF, ruled": lambda chance, name: _pdf(chance, name, ruled=True),
    "PDF, unruled, merged": lambda chance, name: _pdf(chance, name, spans=chance.random() < 0.5),
    "PDF over pages": lambda chance, name: _pdf(chance, name, pages=True),
}
