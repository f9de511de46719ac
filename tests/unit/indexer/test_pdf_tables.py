"""Tables of PDF files: cells in their columns, names above several columns, and lines that are one row."""

from collections.abc import Sequence

from fpdf import FPDF
from hypothesis import given
from hypothesis import strategies as st

from core.passage_context import read_grids
from indexer.loaders import pdf
from indexer.loading.pdf.runs import Run
from indexer.loading.pdf.tables import align_rows
from testing.contracts.loader import source_of

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
    assert grid.columns[1:] == (
        "First half › Sales",
        "First half › Gross loss",
        "Second half › Sales",
        "Second half › Gross loss",
    )


def test_signs_of_currency_belong_to_their_amounts() -> None:
    rows = [[("Sales", 60.0, "L"), ("$", 210.0, "L"), ("81,797", 200.0, "R"), ("$", 280.0, "L"), ("9", 270.0, "R")]]
    text = draw((100.0, rows[0]), (115.0, figures("Cost", "45,384", "7")))
    assert text.split("\n")[-2:] == ["Sales | $81,797 | $9", "Cost | 45,384 | 7"]


def test_prose_and_a_row_alone_stay_as_they_are() -> None:
    text = draw((100.0, figures("Signed in", "1999")))
    assert text.split("\n")[-1] == "Signed in | 1999"


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
