"""Tables of PDF files: cells in their columns, names above several columns, and lines that are one row."""

import math
from collections.abc import Sequence

from fpdf import FPDF
from hypothesis import given
from hypothesis import strategies as st

from core.passage_context import read_grids
from indexer.loaders import pdf
from indexer.loading.pdf.layout import read_lines
from indexer.loading.pdf.runs import HYPHEN, Run, _split_hyphens
from indexer.loading.pdf.table_rows import read_row
from indexer.loading.pdf.tables import align_rows
from testing.contracts.loader import source_of
from tests.counted_lines import count_lines

Cell = tuple[str, float, str]
"""Text, where its box begins, and its alignment."""
_BOX = 70.0


def draw(*rows: tuple[float, Sequence[Cell]]) -> str:
    """Returns the text of a page whose rows begin at a height, from the top."""
    document = FPDF(format="A4", unit="pt")
    document.add_page()
    document.set_font("Helvetica", size=9)
    document.text(60, 60, "A line of prose that stands above the table and is as wide as all of it.")
    for y, cells in rows:
        for text, x, align in cells:
            document.set_xy(x, y)
            document.cell(_BOX * (2 if align == "C2" else 1), 11, text, align=align[0])
    content = bytes(document.output())
    return pdf.build(pdf.Config(), None).load(source_of(content, key="a.pdf", title=None)).pages[0]


def figures(label: str, *values: str) -> list[Cell]:
    return [(label, 60.0, "L"), *((value, 200 + n * _BOX, "R") for n, value in enumerate(values) if value)]


HEADER = (
    (100.0, [("First half", 200.0, "C2"), ("Second half", 340.0, "C2")]),
    (112.5, [("Gross", 270.0, "R"), ("Gross", 410.0, "R")]),
    (121.5, figures("", "Sales", "loss", "Sales", "loss")),
)
BODY = (
    (140.0, figures("Machines", "1,200", "(16)", "3,400", "(20)")),
    (155.0, figures("Spare parts and repairs", "", "(5)", "900")),
    (170.0, [("Debt securities that are issued", 60.0, "L")]),
    (179.0, figures("by agencies", "77", "-", "", "8")),
    (195.0, figures("Total", "1,277", "(21)", "4,300", "(28)")),
)


def test_each_cell_stands_in_its_column() -> None:
    text = draw(*HEADER, *BODY)
    assert [line for line in text.split("\n") if line][-6:] == [
        " | First half |  | Second half",
        " | Sales | Gross loss | Sales | Gross loss",
        "Machines | 1,200 | (16) | 3,400 | (20)",
        "Spare parts and repairs |  | (5) | 900",
        "Debt securities that are issued by agencies | 77 | - |  | 8",
        "Total | 1,277 | (21) | 4,300 | (28)",
    ]
    [grid] = read_grids(text)
    assert list(grid.columns[1:]) == [f"{half} half › {name}" for half in ("First", "Second") for name in NAMES]


NAMES = ("Sales", "Gross loss")


def test_signs_of_currency_belong_to_their_amounts() -> None:
    sales: list[Cell] = [("Sales", 60, "L"), ("$", 210, "L"), ("81,797", 200, "R"), ("$", 280, "L"), ("9", 270, "R")]
    text = draw((100.0, sales), (115.0, figures("Cost", "45,384", "7")))
    assert text.split("\n")[-2:] == ["Sales | $81,797 | $9", "Cost | 45,384 | 7"]


def test_a_day_and_year_below_their_month_are_of_the_name_above() -> None:
    text = draw(
        (100.0, figures("", "Year to October", "Year to October")),
        (109.0, figures("", "31, 2024", "31, 2023")),
        (124.0, figures("Sales", "81,797", "9")),
        (139.0, figures("Cost", "45,384", "31")),
    )
    assert text.split("\n")[-3] == " | Year to October 31, 2024 | Year to October 31, 2023"


def words(y: float, *cells: tuple[str, float]) -> tuple[float, Sequence[Cell]]:
    """Returns a row whose cells begin at places, as close to one another as a reader can still tell them apart."""
    return y, [(text, x, "L") for text, x in cells]


def lines_of(*rows: tuple[float, Sequence[Cell]]) -> list[str]:
    """Returns the lines of a page, without the empty ones and the prose above."""
    return [line for line in draw(*rows).split("\n") if line][1:]


def test_cells_that_stand_close_to_one_another_are_told_apart() -> None:
    assert lines_of(
        words(100, ("Symbol", 60), ("Condition", 110), ("Min", 190), ("Typ", 220), ("Max", 250), ("Unit", 288)),
        words(115, ("Dropout", 60), ("IOUT = 100 mA", 110), ("55", 220), ("90", 250), ("mV", 288)),
        words(130, ("IQ", 60), ("IOUT = 0", 110), ("0.33", 220), ("0.60", 250), ("mA", 288)),
        words(145, ("VREF", 60), ("25 °C", 110), ("1.188", 190), ("1.200", 220), ("1.212", 250), ("V", 288)),
        words(160, ("Long name of a value", 60), ("-40", 190), ("150", 250), ("°C", 288)),
    ) == [
        "Symbol | Condition | Min | Typ | Max | Unit",
        "Dropout | IOUT = 100 mA |  | 55 | 90 | mV",
        "IQ | IOUT = 0 |  | 0.33 | 0.60 | mA",
        "VREF | 25 °C | 1.188 | 1.200 | 1.212 | V",
        "Long name of a value |  | -40 |  | 150 | °C",
    ]


def test_signs_of_currency_within_figures_that_stand_close() -> None:
    assert lines_of(
        words(100, ("Networking", 60), ("$", 180), ("10,402", 192), ("166 %", 231), ("$", 262), ("14,862", 274)),
        words(115, ("Graphics", 60), ("3,105", 197), ("11 %", 236), ("5,837", 279)),
    ) == ["Networking | $10,402 | 166 % | $14,862", "Graphics | 3,105 | 11 % | 5,837"]


def test_a_heading_between_two_tables_is_of_neither() -> None:
    document = FPDF(format="A4", unit="pt")
    document.add_page()
    rows = [("EUR thousand", "2024", "2023"), ("Revenue", "15,874", "14,210"), ("Personnel", "(5,411)", "(5,034)")]
    below = [("Segment", "Revenue", "Margin %"), ("Marine", "9,960", "12.4"), ("Services", "4,404", "9.0")]

    def write(y: float, table: Sequence[Sequence[str]], starts: Sequence[float]) -> None:
        document.set_font("Helvetica", size=10)
        for n, row in enumerate(table):
            for text, x in zip(row, starts, strict=True):
                document.text(x, y + 18 * n, text)

    write(100, rows, (200, 290, 340))
    document.set_font("Helvetica", "B", 16)
    document.text(60, 156, "4 Segments")
    write(176, below, (220, 280, 330))
    text = pdf.build(pdf.Config(), None).load(source_of(bytes(document.output()), key="a.pdf", title=None)).pages[0]
    lines = [line for line in text.split("\n") if line]
    assert lines == [*(" | ".join(row) for row in rows), "4 Segments", *(" | ".join(row) for row in below)]


def test_dates_in_labels_and_figures_in_prose_are_no_cells() -> None:
    text = draw(
        words(100, ("October  1,  2014", 60), ("247,830", 190), ("5.1", 250)),
        words(115, ("December  31,  2014", 60), ("205,193", 190), ("4.7", 250)),
        words(145, ("10-Q  and  is  not  filed  as  in  Releases  33-8212,  34-4751  and  others  of  June", 60)),
        words(157, ("30,  2003.  It  is  also  not  filed  as  in  Releases  33-8213,  34-4752  and  others", 60)),
    )
    assert " ".join(text.split()).endswith(
        "October 1, 2014 | 247,830 | 5.1 December 31, 2014 | 205,193 | 4.7 "
        "10-Q and is not filed as in Releases 33-8212, 34-4751 and others of June "
        "30, 2003. It is also not filed as in Releases 33-8213, 34-4752 and others"
    )


def test_prose_and_a_row_alone_stay_as_they_are() -> None:
    assert lines_of((100.0, figures("Signed in", "1999"))) == ["Signed in | 1999"]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["a", "1,200", "$", "12 $", "$ 3", "—", "(5)", "%", "x $ y"]), *[st.integers(0, 600)] * 2
        ),
        min_size=1,
        max_size=40,
    )
)
def test_no_word_of_any_page_is_lost(places: list[tuple[str, int, int]]) -> None:
    rows: dict[int, list[Run]] = {}
    for text, x, y in places:
        top = float(y - y % 10)
        rows.setdefault(int(top), []).append(Run(text, float(x), x + 5.0 * len(text), top - 9, top, 9.0))
    ordered = [rows[top] for top in sorted(rows, reverse=True)]
    seen = [run for row, _ in align_rows(ordered) for run in row]
    assert sorted(map(id, seen)) == sorted(id(run) for row in ordered for run in row)
    for row, cells in align_rows(ordered):
        if any(cells):
            assert sorted("".join(cells).replace(" ", "")) == sorted("".join(run.text for run in row).replace(" ", ""))


_WORDS = st.lists(st.sampled_from(["a", "1,200", "$", "of", "(5)", "—", "2024", "%"]), min_size=1, max_size=8)


@given(st.lists(st.tuples(_WORDS, st.integers(0, 600), st.integers(0, 60), st.integers(-9, 30)), max_size=30))
def test_no_word_of_runs_with_wide_spaces_is_lost(places: list[tuple[list[str], int, int, int]]) -> None:
    """Some of the spaces, and of the runs, overlap or have a negative width."""
    runs = [_spaced(words, float(x), 10.0 * (y // 10), float(gap)) for words, x, y, gap in places]
    tops = sorted({run.top for run in runs}, reverse=True)
    for row, cells in align_rows([[run for run in runs if run.top == top] for top in tops]):
        if any(cells):
            assert sorted("".join(cells).replace(" ", "")) == sorted("".join(run.text for run in row).replace(" ", ""))
    written = "".join(line.text for line in read_lines(runs))
    assert sorted(c for c in written if c not in " |") == sorted(c for run in runs for c in run.text if c != " ")


def _spaced(words: Sequence[str], left: float, top: float, gap: float) -> Run:
    at, right, gaps = len(words[0]), left + 5 * len(words[0]), []
    for word in words[1:]:
        gaps.append((at, right, right + gap))
        at, right = at + 1 + len(word), right + gap + 5 * len(word)
    return Run(" ".join(words), left, right, top - 9, top, 9.0, gaps=tuple(gaps))


def test_a_run_of_thousands_of_words_far_apart_is_one_cell() -> None:
    long = _spaced(["a", "1", "2"] * 20_000, 0.0, 100.0, 20.0)
    assert [piece.parts for piece in read_row([long]).pieces] == [()]
    several = [_spaced(["a", "1", "2"] * 20, 9000.0 * number, 100.0, 20.0) for number in range(100)]
    assert [piece.parts for piece in read_row(several).pieces] == [()]


def test_a_paragraph_close_above_a_table_is_no_label() -> None:
    prose = [Run(f"Line {n} of a paragraph", 0, 150, 491 - 10 * n, 500 - 10.0 * n, 9) for n in range(20)]
    rows = [
        Run(text, x, x + 30, 291 - 20 * n, 300 - 20 * n, 9)
        for n in range(4)
        for text, x in (("Label", 0), ("1,200", 200), ("1,300", 300))
    ]
    lines = [line.text for line in read_lines([*prose, *rows])]
    assert lines == [*(run.text for run in prose), *["Label | 1,200 | 1,300"] * 4]


def test_the_columns_of_a_page_take_time_by_its_size() -> None:
    def count(size: int) -> int:
        runs = [
            Run("words of a line of prose in a column", left, left + 250, 10.0 * -n, 10.0 * -n + 9, 9)
            for n in range(size)
            for left in (0, 300)
        ]
        runs += [Run("a line across both columns", 0, 550, -40.0 * n + 4, -40.0 * n + 9, 4) for n in range(size // 4)]
        return count_lines(lambda: read_lines(runs), "loading/pdf")

    assert count(400) < 2.6 * count(200)


def test_letters_of_any_height_and_places_that_are_none_are_read() -> None:
    wide = [Run("ab cd", 0, 3e12, 700.0 - n, 709.0 - n, 9, gaps=((2, 1.0, 2e12),)) for n in range(20)]
    assert "".join(line.text for line in read_lines(wide)).count("ab cd") == 20
    endless = [Run("ab cd", 0, math.inf, 700.0, 709.0, 9, gaps=((2, 1.0, math.inf),))] * 20
    assert "".join(line.text for line in read_lines(endless)).count("ab cd") == 20
    assert _split_hyphens(HYPHEN * 5000).count(HYPHEN) == 5000


def test_a_row_of_thousands_of_runs_is_one_cell() -> None:
    def row(bottom: float, count: int) -> list[Run]:
        return [
            Run(text=f"{n}" if n else "Row", left=20.0 * n, right=20.0 * n + 9, bottom=bottom, top=bottom + 9, size=9)
            for n in range(count)
        ]

    rows = [row(700 - 12 * n, 4) for n in range(6)] + [row(600, 50_000)]
    found = list(align_rows(rows))
    assert [runs for runs, _ in found] == rows, "nothing is lost"
    assert not found[-1][1]
    assert all(cells for _, cells in found[:-1])


def test_a_sign_behind_its_amount_stays_there_in_a_cell_of_its_own() -> None:
    amounts = [("410.200,00 £", "395.100,00 £", "372.800,00 £"), ("61.000,00 £", "62.300,00 £", "63.950,00 £")]
    years = (100.0, figures("Kostenart", "2024", "2025", "2026"))
    lines = lines_of(years, (115.0, figures("Strom", *amounts[0])), (130.0, figures("Wasser", *amounts[1])))
    assert lines[-2:] == [" | ".join(("Strom", *amounts[0])), " | ".join(("Wasser", *amounts[1]))]


def test_lines_above_a_table_that_begin_where_its_labels_do_name_no_columns() -> None:
    lines = lines_of(
        words(100, ("Medisupply Ltd, 14 Canal Street, Leeds", 60)),
        words(113, ("Invoice date: 12 March 2026", 60)),
        words(140, ("Pos", 63), ("Description", 90), ("Qty", 330), ("Amount", 400)),
        words(155, ("1", 63), ("Nitrile gloves size M", 90), ("400", 330), ("2,740.00", 400)),
        words(170, ("2", 63), ("Infusion set with filter", 90), ("120", 330), ("2,304.00", 400)),
    )
    rows = ["1 | Nitrile gloves size M | 400 | 2,740.00", "2 | Infusion set with filter | 120 | 2,304.00"]
    assert lines[-3:] == ["Pos | Description | Qty | Amount", *rows]


def test_labels_of_two_columns_of_words_have_both_names() -> None:
    header, *rows = lines_of(
        words(100, ("Project", 60), ("Site", 168), ("2026", 220), ("2027", 256), ("Total", 292)),
        words(115, ("Electronic patient record", 60), ("Group", 168), ("1,200", 217), ("900", 260), ("2,100", 290)),
        words(130, ("Sterile supply department", 60), ("South", 168), ("640", 224), ("410", 260), ("1,050", 290)),
    )
    assert header == "Project Site | 2026 | 2027 | Total"
    assert [row.split(" | ")[1:] for row in rows] == [["1,200", "900", "2,100"], ["640", "410", "1,050"]]


def test_a_number_close_to_the_words_before_it_has_a_column_of_its_own() -> None:
    header, *rows = lines_of(
        words(100, ("Project", 60), ("Site", 200), ("2026", 250), ("2027", 286), ("Total", 322)),
        words(115, ("Scanner", 60), ("Northgate", 200), ("1,850", 250), ("0", 291), ("1,850", 322)),
        words(130, ("Records", 60), ("Group", 200), ("1,200", 250), ("900", 288), ("2,100", 322)),
    )
    assert header == "Project | Site | 2026 | 2027 | Total"
    assert rows == ["Scanner | Northgate | 1,850 | 0 | 1,850", "Records | Group | 1,200 | 900 | 2,100"]


def test_words_of_a_cell_that_are_broken_over_lines_are_of_the_row_above() -> None:
    def row(y: float, *cells: str) -> tuple[float, list[Cell]]:
        return y, [(cell, x, "L") for cell, x in zip(cells, (60.0, 180.0, 250.0, 360.0), strict=False) if cell]

    header = row(100, "Model", "Flow", "Filter", "Mass")
    upper = [row(120, "CU-20", "12", "50", "62"), row(138, "CU-40", "16", "25", "95")]
    text = draw(
        header, *upper, row(156, "CU-70 of the series", "20", "10 (band", "171"), row(165, "of 2026", "", "filter)"),
        row(183, "CU-90", "24", "8", "180"),
    )  # fmt: skip
    assert text.split("\n")[-2:] == [
        "CU-70 of the series of 2026 | 20 | 10 (band filter) | 171",
        "CU-90 | 24 | 8 | 180",
    ]
    apart = draw(header, *upper, row(156, "CU-70", "20", "", "171"), row(165, "", "", "Special offers"))
    assert apart.split("\n")[-2] == "CU-70 | 20 |  | 171", "no words of the row above stand there"
