"""Ruled tables of PDF files: cells of several lines, merged cells, tables over pages, and lines that are no table."""

from collections.abc import Sequence

import pytest
from fpdf import FPDF

from core.passage_context import read_grids
from indexer.loaders import pdf
from indexer.loading.pdf.ruled import find_ruled_tables
from indexer.loading.pdf.runs import Box, Run
from testing.contracts.loader import source_of
from tests.counted_lines import count_lines

PROSE = "All machines were measured in the hall, at the temperature that the standard demands of a test."
HEADER = ("No.", "What the bidder has to show", "Kind")
LONG = "Travel of the table of at least four hundred millimetres"
ROWS = [("R1", LONG, "needed"), ("R2", "Open interface", "needed if there are two lines of machines"), ("R3", "", "-")]


def begin(size: int = 9) -> FPDF:
    document = FPDF(format="A4", unit="pt")
    document.set_auto_page_break(True, margin=60)
    document.add_page()
    document.set_font("Helvetica", size=size)
    return document


def pages_of(document: FPDF) -> list[list[str]]:
    loaded = pdf.build(pdf.Config(), None).load(source_of(bytes(document.output()), key="a.pdf", title=None))
    return [[line for line in page.split("\n") if line] for page in loaded.pages]


def draw_table(document: FPDF, rows: Sequence[Sequence[str]], widths: Sequence[int] = (30, 120, 70)) -> None:
    with document.table(col_widths=tuple(widths), width=sum(widths), align="L", line_height=11, padding=3) as table:
        for row in rows:
            table.row(row)


def draw_boxes(document: FPDF, *boxes: tuple[float, float, float, float, str]) -> None:
    """Draws boxes with a text in each: left, top, width, height."""
    for x, y, width, height, text in boxes:
        document.rect(x, y, width, height)
        document.set_xy(x + 2, y + 2)
        document.multi_cell(width - 4, 11, text, align="L")


def test_a_cell_of_several_lines_is_one_cell() -> None:
    document = begin()
    document.multi_cell(0, 12, PROSE)
    draw_table(document, [HEADER, *ROWS])
    [page] = pages_of(document)
    assert page[-4:] == [" | ".join(row) for row in (HEADER, *ROWS)]
    [grid] = read_grids("\n".join(page))
    assert (grid.columns, len(grid.rows)) == (HEADER, 3)


def test_a_table_over_two_pages_has_its_rows_and_no_footer_in_it() -> None:
    document = begin()
    document.set_y(700)
    draw_table(document, [HEADER, *(("R" + row[0], *row[1:]) for row in ROWS * 3)], (30, 130, 300))
    assert document.page == 2
    for number in (1, 2):
        document.page = number
        document.text(40, 815, f"Tender 2026 - Page {number}")
        document.set_xy(0, 0)
    pages = pages_of(document)
    assert [page[0] for page in pages] == [" | ".join(HEADER)] * 2
    assert sum(len(page) - 1 for page in pages) == 9


def test_a_row_alone_on_the_next_page_is_a_row() -> None:
    document = begin()
    draw_boxes(document, (50, 50, 60, 35, "4.2"), (110, 50, 130, 35, "limits of the kilometres and the tools raised"))
    assert pages_of(document) == [["4.2 | limits of the kilometres and the tools raised"]]


def test_a_merged_cell_is_above_its_columns_and_beside_its_rows() -> None:
    document = begin()
    draw_boxes(
        document,
        *((50, 50, 60, 40, "Machine"), (110, 50, 120, 20, "Speed")),
        *((110, 70, 60, 20, "least"), (170, 70, 60, 20, "most")),
        *((50, 90, 60, 40, "Mill of 2020"), (110, 90, 60, 20, "500"), (170, 90, 60, 20, "9,000")),
        *((110, 110, 60, 20, "600"), (170, 110, 60, 20, "")),
    )
    assert pages_of(document) == [
        [
            "Machine | Speed | Speed",
            "Machine | least | most",
            "Mill of 2020 | 500 | 9,000",
            "Mill of 2020 | 600",
        ]
    ]


def test_a_merged_figure_is_written_once_and_a_merged_year_in_each_place() -> None:
    document = begin()
    draw_boxes(
        document,
        *((50, 50, 60, 20, "Year"), (110, 50, 60, 20, "Name"), (170, 50, 60, 20, "Budget")),
        *((50, 70, 60, 40, "2024"), (110, 70, 60, 20, "Ada"), (110, 90, 60, 20, "Bo"), (170, 70, 60, 40, "500")),
        *((50, 110, 60, 20, "2025"), (110, 110, 60, 20, "Cy"), (170, 110, 60, 20, "200")),
    )
    assert pages_of(document) == [["Year | Name | Budget", "2024 | Ada | 500", "2024 | Bo", "2025 | Cy | 200"]]


@pytest.mark.parametrize("angle", [90, 180, 270])
def test_a_turned_table_is_read_like_an_upright_one(angle: int) -> None:
    document = begin()
    with document.rotation(angle, 300, 300):
        draw_boxes(document, (250, 250, 60, 40, "two lines of text"), (310, 250, 60, 40, "12"))
        draw_boxes(document, (250, 290, 60, 20, "Sum"), (310, 290, 60, 20, "14"))
    assert pages_of(document) == [["two lines of text | 12", "Sum | 14"]]


def test_words_that_a_line_parts_are_two_cells_however_near_they_are() -> None:
    document = begin()
    for y, row in ((50, ("Order of ship", "Kiel", "3")), (65, ("Order of", "Bremen", "4"))):
        x = 50.0
        for text in row:
            width = document.get_string_width("Order of ship") + 2
            document.set_xy(x, y)
            document.cell(width, 15, text, border=1)
            x += width
    assert pages_of(document) == [["Order of ship | Kiel | 3", "Order of | Bremen | 4"]]


def test_columns_of_text_beside_a_ruled_table_are_read_one_after_the_other() -> None:
    document = begin()
    left = [f"The left column goes on in line {n} about ships" for n in range(20)]
    right = [f"The right column has line {n} about bridges" for n in range(12)]
    for n, text in enumerate(left):
        document.text(50, 60 + 14 * n, text)
    for n, text in enumerate(right):
        document.text(310, 60 + 14 * n, text)
    draw_boxes(document, (310, 240, 60, 40, "two lines of text"), (370, 240, 90, 40, "12"))
    draw_boxes(document, (310, 280, 60, 20, "Sum"), (370, 280, 90, 20, "14"))
    assert pages_of(document) == [[*left, *right, "two lines of text | 12", "Sum | 14"]]


# --- lines that do not divide all cells ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rows",
    [
        [("Ship", "19.5", "200"), ("Bridge", "7.5", "300"), ("Port", "8.5", "400")],
        [("Ship", "of iron", "old"), ("Bridge", "of wood", "new"), ("Port", "of stone", "new")],
    ],
)
def test_rows_without_lines_between_them_stay_rows(rows: Sequence[Sequence[str]]) -> None:
    document = begin()
    header = ("Name", "Kind", "Age")
    for x, (name, *cells) in zip((50, 150, 250), zip(header, *rows, strict=True), strict=True):
        draw_boxes(document, (x, 50, 100, 20, name), (x, 70, 100, 60, "\n".join(cells)))
    assert pages_of(document) == [[" | ".join(row) for row in (header, *rows)]]


def test_rows_without_lines_between_them_stay_rows_if_a_cell_is_empty() -> None:
    document = begin()
    columns = (("Name", "Ada Lind\nBo Carr\nCy Dunn"), ("City", "Bern\nGraz\nLyon"), ("Team", "Sales\nLegal"))
    for x, (name, cells) in zip((50, 150, 250), columns, strict=True):
        draw_boxes(document, (x, 50, 100, 20, name), (x, 70, 100, 60, cells))
    rows = ["Name | City | Team", "Ada Lind | Bern | Sales", "Bo Carr | Graz | Legal", "Cy Dunn | Lyon"]
    assert pages_of(document) == [rows]


def test_cells_of_different_numbers_of_lines_are_one_row_beside_a_cell_of_one_line() -> None:
    document = begin()
    cells = (("Name", "Ada Lind"), ("Address", "5 Elm Hill\nLeeds\nEngland"), ("Post", "Chair\nClerk"))
    for x, (name, text) in zip((50, 150, 250), cells, strict=True):
        draw_boxes(document, (x, 50, 100, 20, name), (x, 70, 100, 60, text))
    assert pages_of(document) == [["Name | Address | Post", "Ada Lind | 5 Elm Hill Leeds England | Chair Clerk"]]


def test_columns_without_lines_between_them_stay_columns() -> None:
    document = begin()
    for y, row in ((50, ("Ship", "200", "19.5")), (70, ("Bridge", "300", "7.5"))):
        document.rect(50, y, 100, 20)
        document.rect(150, y, 200, 20)
        for x, text in zip((55, 155, 300), row, strict=True):
            document.text(x, y + 12, text)
    assert pages_of(document) == [["Ship | 200 | 19.5", "Bridge | 300 | 7.5"]]


def test_a_box_around_a_cell_is_no_table() -> None:
    document = begin()
    for y, values in ((60, ("200", "$ 616", "31")), (80, ("300", "$ 700", "47"))):
        document.text(50, y, "Costs")
        for x, value in zip((150, 250, 350), values, strict=True):
            document.text(x, y, value)
    document.rect(245, 50, 8, 15)
    document.rect(253, 50, 40, 15)
    assert pages_of(document) == [["Costs | 200 | $ 616 | 31", "Costs | 300 | $ 700 | 47"]]


def test_boxes_that_overlap_are_no_cells() -> None:
    document = begin(8)
    draw_boxes(document, (50, 50, 60, 15, ""), (110, 50, 60, 15, "Net"), (170, 50, 60, 15, ""))
    draw_boxes(document, (50, 59, 60, 15, "Item"), (110, 59, 60, 15, "income"), (170, 59, 60, 15, "Costs"))
    for y, cells in ((74, ("Ship", "200", "31")), (89, ("Port", "300", "47"))):
        draw_boxes(document, *((50 + 60 * n, y, 60, 15, cell) for n, cell in enumerate(cells)))
    assert pages_of(document)[0][0] == "Item | Net income | Costs"


def test_backgrounds_are_no_lines() -> None:
    document = begin()
    document.set_fill_color(220)
    for y, values in ((50, ("1,200", "3,400")), (65, ("900", "7,000"))):
        for x in (50, 150, 160, 200, 250, 260):
            document.rect(x, y, 50, 15, style="F")
        document.text(52, y + 10, "Ships")
        for x, value in zip((160, 260), values, strict=True):
            document.text(x - 8, y + 10, "$")
            document.text(x + 2, y + 10, value)
    assert pages_of(document) == [["Ships | $ 1,200 | $ 3,400", "Ships | $ 900 | $ 7,000"]]


def test_boxes_of_prose_and_lines_without_text_are_no_table() -> None:
    document = begin()
    document.rect(30, 30, 500, 700)
    document.line(30, 200, 530, 200)
    document.line(400, 30, 400, 730)
    document.set_xy(35, 40)
    document.multi_cell(350, 12, PROSE * 20, align="L")
    [page] = pages_of(document)
    assert not any("|" in line for line in page)
    assert len(page) > 20


@pytest.mark.parametrize("crosses", [496, 498])
def test_many_lines_are_a_drawing(crosses: int) -> None:
    document = begin()
    draw_boxes(document, (50, 50, 60, 30, "two lines of text"), (110, 50, 60, 30, "12"))
    draw_boxes(document, (50, 80, 60, 15, "Sum"), (110, 80, 60, 15, "14"))
    for n in range(crosses):
        x, y = 50 + 10 * (n % 40), 150 + 10 * (n // 40)
        document.line(x, y, x + 6, y)
        document.line(x + 3, y, x + 3, y + 5)
    assert ("two lines of text | 12" in pages_of(document)[0]) == (2 * crosses + 6 <= 1000)


def test_large_tables_and_merged_cells_are_bounded() -> None:
    def rulings(columns: int, rows: int, *, is_merged: bool) -> list[Box]:
        down = [(10.0 * n, 0.0, 10.0 * n, 10.0 * rows) for n in range(columns + 1)]
        across = [(0.0, 10.0 * n, 10.0 * columns, 10.0 * n) for n in range(rows + 1)]
        return down + (
            [(10.0, y, x, y) if 0 < y < 10 * rows else (0.0, y, x, y) for _, y, x, _ in across] if is_merged else across
        )

    runs = [Run("ab", 10 * x + 2, 10 * x + 8, 10 * y + 1, 10 * y + 9, 8) for x in range(99) for y in range(105)]
    assert [len(list(find_ruled_tables(runs, rulings(99, rows, is_merged=False)))) for rows in (95, 105)] == [1, 0]
    for length, rows in ((100, 150), (100, 250), (300, 50)):
        label = Run("a" * length, 1, 9, 1, 9, 8)
        cells = [Run("cd", 12, 18, 10 * n + 1, 10 * n + 9, 8) for n in range(rows)]
        [table] = find_ruled_tables([label, *cells], rulings(2, rows, is_merged=True))
        assert sum(len(cells[0]) for cells, _ in table.rows) == (
            length * rows if (length, rows) == (100, 150) else length
        )


def test_the_time_for_many_lines_is_bounded() -> None:
    rulings = [(10.0 * n, 0.0, 10.0 * n, 900.0) for n in range(99)] + [
        (0.0, 10.0 * n, 980.0, 10.0 * n) for n in range(91)
    ]
    runs = [Run("ab", 10 * x + 2, 10 * x + 8, 10 * y + 1, 10 * y + 9, 8) for x in range(98) for y in range(90)]
    [table] = find_ruled_tables(runs, rulings)
    assert (len(table.rows), len(table.rows[0][0])) == (90, 98)
    small = count_lines(lambda: list(find_ruled_tables(runs[:2000], rulings)), "loading/pdf")
    assert count_lines(lambda: list(find_ruled_tables(runs, rulings)), "loading/pdf") < 6 * small
    assert not list(find_ruled_tables(runs, [(9.0 * n, 9.0 * n, 9.0 * n + 5, 9.0 * n) for n in range(900)]))
