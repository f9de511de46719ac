"""Rows of tables with merged cells, and the tables of web pages and office files."""

from typing import Any

import docx
import openpyxl
import pptx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.passage_context import read_grids
from indexer.loaders import docx as docx_loader
from indexer.loaders import html as html_loader
from indexer.loaders import pptx as pptx_loader
from indexer.loaders import xlsx as xlsx_loader
from indexer.loading.texts.cell_grid import CellGrid
from testing.contracts.loader import source_of
from tests.documents import saved

ROWS = [
    ["Item", "2023", "2023", "2024", "2024"],
    ["Item", "Q1", "Q2", "Q1", "Q2"],
    ["Oslo", "1", "", "3", "4"],
    ["Rome", "5", "6", "7", "8"],
]
MERGED = (((0, 0), (1, 0)), ((0, 1), (0, 2)), ((0, 3), (0, 4)))
LINES = ["Item | 2023 | 2023 | 2024 | 2024", "Item | Q1 | Q2 | Q1 | Q2", "Oslo | 1 |  | 3 | 4", "Rome | 5 | 6 | 7 | 8"]


def text_of(module: Any, content: bytes) -> str:
    document = module.build(module.Config(), None).load(source_of(content, key="a/the file.ext", title=None))
    return "\n".join(document.pages)


def lines_of(module: Any, content: bytes) -> list[str]:
    return [line for line in text_of(module, content).split("\n") if " | " in line]


def test_a_merged_cell_is_in_each_place_that_it_covers() -> None:
    grid = CellGrid()
    grid.begin_row()
    grid.add("Item", rows=2)
    grid.add("2023", columns=2)
    grid.begin_row()
    grid.add("Q1")
    grid.add("Q2 | late")
    grid.begin_row()
    grid.add("All of the year", columns=3)
    grid.begin_row()
    grid.skip(1)
    grid.add("x\ny")
    assert grid.lines() == ["Item | 2023 | 2023", "Item | Q1 | Q2 / late", "All of the year", " | x y"]


def read_rows(markup: str) -> list[str]:
    page = f"<p>Before.</p><table>{markup}</table><p>After.</p>".encode()
    document = html_loader.build(html_loader.Config(), None).load(source_of(page, key="a/the file.htm", title=None))
    return [line.rstrip(" |") for line in "\n".join(document.pages).split("\n") if "|" in line]


def join_rows(*rows: str) -> str:
    """Returns the markup of rows: `3:Net sales|$|4,826` has a cell over three columns, and two over one."""
    made = []
    for row in rows:
        cells = [cell.rpartition(":") for cell in row.split("|")]
        made.append("<tr>" + "".join(f"<td colspan={span or 1}>{text}</td>" for span, _, text in cells) + "</tr>")
    return "".join(made)


LAID_OUT = {
    "a figure over three columns": (
        join_rows(
            "3:|9:Three Months Ended",
            "3:|3:June 30, 2025|3:|3:June 30, 2024",
            "3:Net sales|$|4,826||3:|$|4,381|",
            "3:Interest|2:(45)||3:|2:12|",
            "3:Tax rate|2:19.6|%|3:|2:23.8|%",
        ),
        [
            " | Three Months Ended | Three Months Ended",
            " | June 30, 2025 | June 30, 2024",
            "Net sales | $4,826 | $4,381",
            "Interest | (45) | 12",
            "Tax rate | 19.6% | 23.8%",
        ],
    ),
    "empty cells between, and brackets of their own": (
        join_rows(
            "&#160;|&#160;|2:2025|&#160;|&#160;|2:2024|&#160;",
            "Change|&#160;|$|(846|)|&#160;|$|714|&#160;",
            "In percent|&#160;|&#160;|(2.6|)%|&#160;|&#160;|5.0|%",
        ),
        [" | 2025 | 2024", "Change | $(846) | $714", "In percent | (2.6)% | 5.0%"],
    ),
    "currencies behind": (
        join_rows("Posten|2:2025|2:2024", "Miete|1.250,00|€|1.180,00|€"),
        ["Posten | 2025 | 2024", "Miete | 1.250,00 € | 1.180,00 €"],
    ),
}


@pytest.mark.parametrize(("markup", "rows"), LAID_OUT.values(), ids=LAID_OUT)
def test_signs_and_empty_columns_belong_to_the_figure_beside_them(markup: str, rows: list[str]) -> None:
    assert read_rows(markup) == rows


KEPT = {
    "a column of figures that is called by a sign": (
        join_rows("Region|$|%", "North|9|3"),
        ["Region | $ | %", "North | 9 | 3"],
    ),
    "a name and nothing else": (join_rows("Part|Note|Price", "Bolt||3"), ["Part | Note | Price", "Bolt |  | 3"]),
    "columns that are filled by turns": (join_rows("Rent|800|", "Salary||2,100"), ["Rent | 800", "Salary |  | 2,100"]),
}


@pytest.mark.parametrize(("markup", "rows"), KEPT.values(), ids=KEPT)
def test_a_column_that_says_something_stays(markup: str, rows: list[str]) -> None:
    assert read_rows(markup) == rows


def test_a_table_does_not_grow_by_its_merged_cells() -> None:
    grid = CellGrid()
    for _ in range(50):
        grid.begin_row()
        grid.add("a long text " * 50, columns=10**9, rows=10**9)
    assert sum(map(len, grid.lines())) < 200_000


@given(st.lists(st.lists(st.tuples(st.text("ab |\n", max_size=5), st.integers(-1, 4), st.integers(-1, 4)), max_size=5)))
def test_any_cells_become_lines(rows: list[list[tuple[str, int, int]]]) -> None:
    grid = CellGrid()
    for row in rows:
        grid.begin_row()
        for text, columns, below in row:
            grid.add(text, columns, below)
    assert len(grid.lines()) <= len(rows)
    assert not any("\n" in line for line in grid.lines())


def make_html() -> bytes:
    body = "".join("<tr>" + "".join(f"<td><p>{cell}</p></td>" for cell in row) + "</tr>" for row in ROWS[2:])
    upper = "<tr><th rowspan=2>Item<th colspan='2'>2023<th colspan='2'>2024</tr><tr><th>Q1<th>Q2<th>Q1<th>Q2</tr>"
    return f"<p>Before.</p><table><caption>Sales</caption>{upper}{body}</table><p>After.</p>".encode()


def make_docx() -> bytes:
    document = docx.Document()
    table = document.add_table(4, 5)
    for row, cells in zip(table.rows, ROWS, strict=True):
        for cell, text in zip(row.cells, cells, strict=True):
            cell.text = text
    for first, last in MERGED:
        table.cell(*last).text = ""
        table.cell(*first).merge(table.cell(*last))
        table.cell(*first).text = ROWS[first[0]][first[1]]
    return saved(document)


def make_pptx() -> bytes:
    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[5])
    slide.shapes.title.text = "Sales"
    table = slide.shapes.add_table(4, 5, 0, 0, 914400, 914400).table
    for row, cells in enumerate(ROWS):
        for column, text in enumerate(cells):
            table.cell(row, column).text = text
    for first, last in MERGED:
        table.cell(*last).text = ""
        table.cell(*first).merge(table.cell(*last))
    return saved(presentation)


@pytest.mark.parametrize(
    ("module", "content"),
    [(html_loader, make_html()), (docx_loader, make_docx()), (pptx_loader, make_pptx())],
    ids=["html", "docx", "pptx"],
)
def test_rows_of_a_table_have_their_cells_in_columns(module: Any, content: bytes) -> None:
    assert lines_of(module, content) == LINES
    text = text_of(module, content)
    [grid] = read_grids(text)
    assert grid.columns == ("Item", "2023 › Q1", "2023 › Q2", "2024 › Q1", "2024 › Q2")
    assert [row.label for row in grid.rows] == ["Oslo", "Rome"]


def test_rows_of_a_sheet_name_their_columns_by_both_rows_of_the_header() -> None:
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    sheet.append(["Sales of the year"])
    for row in ROWS:
        sheet.append([cell or None for cell in row])
    for merged in ("A1:E1", "A2:A3", "B2:C2", "D2:E2"):
        sheet.merge_cells(merged)
    text = text_of(xlsx_loader, saved(workbook))
    assert text.split("\n") == [
        "Sales of the year",
        *LINES[:2],
        "Item: Oslo | 2023 Q1: 1 | 2024 Q1: 3 | 2024 Q2: 4",
        "Item: Rome | 2023 Q1: 5 | 2023 Q2: 6 | 2024 Q1: 7 | 2024 Q2: 8",
    ]
    [grid] = read_grids(text)
    assert next(row.names for row in grid.rows) == ("Item", "2023 › Q1", "2024 › Q1", "2024 › Q2")


def test_a_table_that_lays_out_a_page_is_read_as_text() -> None:
    page = b"<table><tr><td><h2>News</h2><p>One.</p><td>Aside.</tr></table>"
    assert text_of(html_loader, page).split() == ["News", "One.", "Aside."]
