"""Tables in text: where they are, and which rows name their columns."""

import pytest

from core.passage_context.tables import find_tables, goes_on, is_row, split_units

PERIODS = "Quarter | Year\nJune 24, 2023 | 2022 | 2021"
REPORT = """Three Months Ended | Six Months Ended
April 1, | March 26, | April 1, | March 26,
2023 | 2022 | 2023 | 2022

Net sales:
Products | $ | 73,929 $ | 77,457 $ | 170,317 $ | 181,886
Services | 20,907 | 19,821 | 41,673 | 39,337

Operating expenses:
Research | 7,457 | 6,387 | 15,166 | 12,693
"""
RATES = "Name | Hourly rate\nTomas Okeke | 345\nBo Lind | 290\n"


def headers(text: str) -> list[tuple[str, str]]:
    """Returns the header of each table, and its first row below that."""
    return [(table.header, text[table.body : table.end].partition("\n")[0]) for table in find_tables(text)]


@pytest.mark.parametrize(
    ("text", "header", "first"),
    [
        (RATES, "Name | Hourly rate", "Tomas Okeke | 345"),
        ("| Name | Rate |\n|:-----|-----:|\n| Bo | 290 |", "Name | Rate", "| Bo | 290 |"),
        ("|Name|Rate|\n|-|-|\n|a\\|b|290|", "Name | Rate", "|a\\|b|290|"),
        ("2023 | 2022\nNet sales | $ 81,797 | $ 82,959\nCost | 45,384 | 47,074", "2023 | 2022", "Net sales"),
        (" | 2023 | 2022\nNorth | 3 | 4\nSouth | – | 5", "2023 | 2022", "North"),
        (f"{PERIODS}\nNet | 1 | 2 | 3\nCost | 1 | 2 | 3", PERIODS.replace("\n", " / "), "Net"),
        ("Stadt | Fluss\nKöln | Rhein\nWien | Donau", "Stadt | Fluss", "Köln | Rhein"),
    ],
)  # fmt: skip
def test_the_rows_that_name_columns_are_the_header(text: str, header: str, first: str) -> None:
    [(found, row)] = headers(text)
    assert found == header
    assert row.startswith(first)


RULE, STRONG = "+------+-----+\n", "+======+=====+\n"
ROWS = ("| Bo   | Ulm |\n", "| Li   | Rom |\n", "| Al   | Bun |\n")
NAMES = "| Name | City|\n"


@pytest.mark.parametrize(
    ("text", "header"),
    [
        (RULE + NAMES + RULE + RULE.join(ROWS) + RULE, "Name | City"),
        (RULE + NAMES + STRONG + "".join(ROWS) + RULE, "Name | City"),
        (NAMES + STRONG + "".join(ROWS), "Name | City"),
        (RULE + "| 1 | 2 |\n" + STRONG + "".join(ROWS), "1 | 2"),
        (RULE + NAMES + "| of  | of |\n|     | birth |\n" + RULE + "".join(ROWS) + RULE, "Name of | City of birth"),
        (NAMES + RULE + "| Bo | 5 |\n| Li | 7 |\n", "Name | City"),
        (" Name | City\n------+-----\n Bo   | Ulm\n Li   | Rom\n", "Name | City"),
        (NAMES + "|------+-----|\n" + "".join(ROWS), "Name | City"),
        (RULE.join(ROWS) + RULE, ""),
        ("".join(ROWS[:2]) + RULE, ""),
        (RULE + "| 1 | 2 |\n" + RULE + "| 3 | 4 |\n" + RULE, ""),
        (RULE + RULE + "".join(ROWS), "Bo | Ulm"),
    ],
)  # fmt: skip
def test_the_header_of_a_drawn_table_is_above_its_first_rule(text: str, header: str) -> None:
    [(found, row)] = headers(text)
    assert found == header
    assert not header or not row.startswith(("+", "-", "|-"))


@pytest.mark.parametrize(
    ("above", "text", "expected"),
    [
        (RULE + NAMES + RULE + ROWS[0] + RULE, ROWS[1] + RULE + ROWS[2], True),
        (RULE + NAMES + RULE + ROWS[0], RULE + ROWS[1] + RULE, True),
        (NAMES + "|---|---|\n" + ROWS[0], ROWS[1] + ROWS[2], True),
        (RULE + NAMES + RULE + ROWS[0] + RULE, RULE + NAMES + RULE + ROWS[1], False),
        (RULE + NAMES + RULE + ROWS[0] + RULE, NAMES + STRONG + ROWS[1], False),
        (NAMES + "|---|---|\n" + ROWS[0], NAMES + "|---|---|\n" + ROWS[1], False),
        (RULE + NAMES + RULE + ROWS[0] + RULE, "| a | b | c |\n+---+---+---+\n| d | e | f |\n", False),
        (RULE + NAMES + RULE + ROWS[0] + RULE + "\nProse.", ROWS[1] + RULE, False),
        ("Name | City\nBo | Ulm", "Li | Rom", False),
        ("", ROWS[0], False),
        (ROWS[0], "", False),
    ],
)
def test_a_text_goes_on_with_the_typed_table_above(above: str, text: str, expected: bool) -> None:
    assert goes_on(above, text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Net sales | $ 81,797 | $ 82,959\nCost of sales | 45,384 | 47,074\nMargin | 36,413 | 35,885",
        "Fee | EUR 4,500 | 3 %\nFee | EUR 300 | 4 %\nFee | EUR 200 | 5 %",
        "Name | Rate\nBo | 290",
        "Rate | Name\nRate: 345 | Name: Tomas\nRate: 290 | Name: Bo",
        "2024-01-05 | open\n2024-01-06 | closed\n2024-01-07 | open",
        "Yes | Yes\nBo | 3\nJo | 4",
        "2021 | 2022\n2022 | 2023\n2023 | 2024",
        "| |\n| |\n| |",
        "Cash and | Current\nAdjusted | Unrealized | Fair\nFunds | 1,656 | 1,656\nBonds | 20 | 30",
        " | | \n | | \n | | ",
        f"{'A long clause of the contract, which is no name ' * 3} | x\nBo | 3\nJo | 4",
    ],
)
def test_rows_of_values_are_no_header(text: str) -> None:
    assert [table.header for table in find_tables(text)] == [""]


def test_the_header_of_a_report_has_several_rows_and_its_table_has_labels() -> None:
    text = f"{REPORT}\nSee the notes.\nName | City\nBo | Oslo\nLi | Rome"
    report, cities = find_tables(text)
    names = REPORT.partition("\n\n")[0].replace("\n", " / ")
    assert report.header == names
    assert text[report.body :].startswith("Products")
    assert text[: report.end] == REPORT
    assert cities.header == "Name | City"


def test_a_table_ends_where_another_may_begin() -> None:
    born = f"{RATES}\nName | Born\nBo | 1990\nLi | 1991"
    unnamed = "| a | b |\n|---|---|\n| 1 | 2 |\n\n| 3 | 4 |\n| 5 | 6 |"
    for text, expected in ((born, ["Name | Hourly rate", "Name | Born"]), (unnamed, ["a | b", ""])):
        assert [header for header, _ in headers(text)] == expected
    prose = "A line of text that is longer than a label of a table would be, so that it ends the table above it"
    assert len(headers(f"{RATES}{prose}\nAda | 300")) == 2


def test_tables_have_their_places() -> None:
    text = f"Before.\n{RATES}\nThis is prose.\nBetween | alone\nAfter."
    rates, alone = find_tables(text)
    assert text[rates.start : rates.end] == RATES
    assert text[rates.body :].startswith("Tomas")
    assert text[alone.start : alone.end] == "Between | alone\n"
    assert (alone.header, alone.body) == ("", alone.start)
    assert not list(find_tables("No table, a|b, a ||  c.\n\n"))


def test_a_header_is_one_bounded_line() -> None:
    names = " | ".join(f"column {n}" for n in range(100))
    [table] = find_tables(f"{names}\n{'1 | ' * 99}1\n{'2 | ' * 99}2\n")
    assert len(table.header) <= 120
    assert table.header.startswith("column 0 | column 1 |")


def test_a_line_of_any_length_is_no_row() -> None:
    assert is_row("a | b")
    assert not is_row("a | " + "b" * 2000)


def test_rows_and_the_sentences_between_them_are_units() -> None:
    text = f"These are rates. They hold.\n{RATES}That is all."
    units = [text[slice(*unit)].strip() for unit in split_units(text)]
    assert units == ["These are rates.", "They hold.", *RATES.splitlines(), "That is all."]
    assert split_units("") == []


def test_a_row_above_rows_of_its_kind_is_no_header() -> None:
    rows = "x128a1 | ATxmega128A1\nx128a4 | ATxmega128A4\n"
    assert headers(f"uc3a0512 | AT32UC3A0512\n{rows}") == [("", "uc3a0512 | AT32UC3A0512")]
    assert headers(f"Part | Name\n{rows}")[0][0] == "Part | Name"


def test_a_broken_cell_does_not_end_its_table() -> None:
    rows = "R1 | Travel of at least | must\n400 mm\nR2 | Speed | must\nR3 | Energy | may\n"
    assert headers(f"No. | Requirement | Class\n{rows}") == [("No. | Requirement | Class", rows.splitlines()[0])]
    assert len(headers(f"No. | Requirement | Class\n{rows}Costs\nItem | Price | Unit\nA | 3 | kg\nB | 4 | kg\n")) == 2
    assert len(headers(f"No. | Requirement | Class\n{rows}\nItem | Price | may\nA | 3 | kg\nB | 4 | kg\n")) == 2
