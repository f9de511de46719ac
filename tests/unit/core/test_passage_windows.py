"""Passages shortened to the sentences that matter."""

from dataclasses import replace

from core.passage_context.windows import shorten_hits
from testing.word_search import hit

MILL = hit(
    "mill",
    "Ravelin Mills",
    "Ravelin Mills is a mill. It had three looms. Its roof was red. It was sold to Ines Corvo. It is quiet.",
)
CORVO = hit("corvo", "Ines Corvo", "Ines Corvo was an engineer.")


def test_the_first_sentence_words_of_the_question_and_bridges_are_kept() -> None:
    short = shorten_hits("How many looms had Ravelin Mills?", [MILL, CORVO], 2)
    assert [one.chunk.text for one in short] == ["Ravelin Mills is a mill. It had three looms.", CORVO.chunk.text]
    bridged = shorten_hits("Who?", [MILL, CORVO], 2)
    assert bridged[0].chunk.text == "Ravelin Mills is a mill. It was sold to Ines Corvo."
    assert [one.chunk.id for one in short] == [MILL.chunk.id, CORVO.chunk.id]


REPORT = hit(
    "report",
    "Halden Group",
    "Sales of looms fell.\n\nName | 2023 | 2022\nSpindles | 12 | 19\nLooms | 345 | 401\nBelts | 7 | 3\n\n"
    "Sales of looms in the north fell, too. The board is content.",
)


def test_of_a_row_the_cell_is_kept_that_is_asked_for() -> None:
    (short,) = shorten_hits("How many looms were sold in 2022?", [REPORT], 1)
    assert short.chunk.text == "Looms: 2022: 401"


CUT = "Looms | 345 | 401\nBelts | 7 | 3\nSpins | 1 | 2"


def test_a_row_of_a_passage_within_a_table_has_the_columns_of_its_heading() -> None:
    for heading, text in (("Sales › Name | 2023 | 2022", CUT), ("| 2023 | 2022", f"Goods sold:\n{CUT}")):
        cut = replace(REPORT.chunk, text=text, heading=heading)
        (short,) = shorten_hits("How many looms were sold in 2022?", [replace(REPORT, chunk=cut)], 1)
        assert short.chunk.text.endswith("Looms: 2022: 401")


def test_a_row_without_known_columns_has_what_is_known_above() -> None:
    cut = replace(REPORT.chunk, text=CUT, heading="Sales › Sold | 2023 / 2022")
    (short,) = shorten_hits("How many looms were sold?", [replace(REPORT, chunk=cut)], 1)
    assert short.chunk.text == "Sold | 2023 / 2022\nLooms | 345 | 401"


def test_rows_that_name_their_cells_are_told_apart() -> None:
    rows = "Item: Looms; Sold: 345; Price: 12.5\nItem: Belts; Sold: 7; Price: 3.5\nItem: Spindles; Sold: 9; Price: 1.5"
    hit_of_rows = replace(REPORT, chunk=replace(REPORT.chunk, text=rows))
    (short,) = shorten_hits("What is the price of belts?", [hit_of_rows], 1)
    assert short.chunk.text == "Belts: Price: 3.5"


def test_a_row_that_says_the_question_in_other_words_is_kept() -> None:
    rows = "Quarter: Q3; Net income: 8.2\nQuarter: Q4; Net income: 9.1\nQuarter: Q1; Net income: 6.6"
    (short,) = shorten_hits("What was the profit in the fourth quarter?", [hit("report", "Report", rows)], 1)
    assert "9.1" in short.chunk.text
