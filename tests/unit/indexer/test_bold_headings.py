"""Which lines in bold or italics are headings of a PDF, and which are captions, rows and terms."""

import pytest

from indexer.loading.pdf.bold import find_in_fonts, find_repeated
from indexer.loading.pdf.headings import Heading
from indexer.loading.pdf.layout import Line

PROSE = "The committee met in Hamburg on a cold morning, and discussed the bridge."


def line(text: str, style: str = "", size: float = 10.0) -> Line:
    """Returns a line of a page. `style` has `b` for bold, `i` for italics, and `+` if the line goes on a paragraph."""
    return Line(text, 0.0, 0.0, size, is_first="+" not in style, is_bold="b" in style, is_italic="i" in style)


REST = [[line(f"Rest {n}", "b"), *[line(PROSE)] * 20] for n in range(3)]


def titles(*pages: list[Line]) -> list[str]:
    """Returns the headings of the pages, which stand before pages with other headings."""
    filled = [[line(PROSE)] * 20, *pages, *REST]
    found = find_in_fonts(filled, {}, find_repeated(filled)) or {}
    return [heading.title for page in sorted(found)[: -len(REST)] for heading in found[page]]


def test_a_caption_and_names_of_columns_below_a_heading_are_no_part_of_it() -> None:
    page = [
        *(line("Norwick Mills and subsidiaries", "b"), line("Statements of Income", "b+")),
        *(line("(In millions, except per share data)", "b+"), line("(Unaudited)", "b+")),
        *(line(" | Three Months Ended", "b+"), line(" | May 2023 | May 2022", "b+"), line("Sales | 5 | 6", "+")),
    ]
    others = [[line("Norwick Mills and subsidiaries", "b"), line(f"Note {n} - Looms", "b"), line(PROSE)] for n in "12"]
    assert titles(page, *others) == ["Statements of Income", "Note 1 - Looms", "Note 2 - Looms"]


def test_a_line_between_rows_of_a_table_is_no_heading_and_one_above_another_table_is() -> None:
    table = [line(" | May 2023 | May 2022", "b"), line("ASSETS", "b+"), line("Current assets:", "+")]
    table += [line("Cash | 5 | 6", "+"), line("Total assets | 9 | 8", "+"), line("LIABILITIES AND EQUITY", "b")]
    table += [line("Current liabilities:", "+"), line("Debt | 3 | 2", "+")]
    other = [line("Inventories", "b"), line(" | May 2023 | May 2022", "b"), line("Looms | 1 | 2", "+")]
    assert titles([*table, *other]) == ["Inventories"]


@pytest.mark.parametrize(
    ("text", "style"),
    [
        ("Three Months Ended", "b"),
        ("Year ended December 31, 2023", "b"),
        ("in millions of euros", "b"),
        ("31.12.2024", "b"),
        ("(Unaudited)", "b"),
        ("Notes to the Statements (Continued)", "b"),
        ("Revenue | 5", "b"),
        ("Total:", "b"),
        ("--verbose", "b"),
        ("M_FATAL", "b"),
        ("is wrong?", "b"),
        ("R?", "b"),
        ("Introduction . . . . . . . . 5", "b"),
        ("Filing Date/", "b"),
        ("Available since the second version.", "i"),
        (PROSE + " " + PROSE, "i"),
    ],
)
def test_lines_that_are_no_headings(text: str, style: str) -> None:
    assert titles([line(PROSE), line(text, style), line(PROSE)]) == []


@pytest.mark.parametrize(
    "text",
    [
        "Second Quarter Summary",
        "iPhone",
        "R&D",
        "“Looms”",
        "第三章 織機",
        "Note 6",
        "We depend on few suppliers.",
        "§ 5 Haftung",
    ],
)
def test_lines_that_are_headings(text: str) -> None:
    assert titles([line(PROSE), line(text, "b"), line(PROSE)]) == [text]


def test_what_a_form_says_of_the_line_above_it() -> None:
    assert titles([line("Norwick Mills", "b"), line("(Exact name as in the charter)", "b+"), line(PROSE)]) == []


def test_lines_of_one_heading_are_joined_and_another_size_or_item_begins_another() -> None:
    page = [line("Item 2. Discussion of Financial Condition", "b", 11), line("and Results", "b+", 11)]
    page += [line("Forward-Looking Statements", "b+"), line(PROSE), line("PART II", "b"), line("Item 1. Claims", "b+")]
    assert titles([*page, line(PROSE)]) == [
        "Item 2. Discussion of Financial Condition and Results",
        "Forward-Looking Statements",
        "PART II",
        "Item 1. Claims",
    ]


def test_levels_are_of_parts_items_numbers_sizes_and_italics() -> None:
    texts = [("PART I", "b", 10), ("Note 3 - Debt", "b", 10), ("2. Terms", "b", 10), ("2.1 Rates", "b", 10)]
    texts += [("Looms", "b", 11), ("Wages", "b", 10), ("Rest", "i", 10)]
    page = [part for text in texts for part in (line(*text), line(PROSE))]
    found = find_in_fonts([page, *REST], {}, ()) or {}
    assert [heading.level for heading in found[0]] == [1, 2, 3, 4, 5, 6, 7]


def test_headings_with_much_below_them_are_wide_and_so_are_those_of_a_cover() -> None:
    pages = [[line("Norwick Mills", size=20)], [line("PART I", "b"), line("Looms", "b"), *[line(PROSE)] * 30]]
    pages += [[line(f"Mill {n}", "b"), *[line(PROSE)] * 40] for n in range(6)]
    found = find_in_fonts(pages, {0: [Heading(1, "Norwick Mills", 0, 1)]}, ()) or {}
    wide = {heading.title: heading.is_wide for page in found.values() for heading in page}
    assert wide == {"Norwick Mills": True, "PART I": True, "Looms": False} | {f"Mill {n}": False for n in range(6)}


def test_a_text_most_of_which_is_bold_has_no_headings() -> None:
    pages = [[line(f"Term {n}", "b"), line(PROSE)] for n in range(20)]
    assert find_in_fonts(pages, {}, ()) is None


def test_few_headings_and_headings_of_one_page_do_not_divide_a_document() -> None:
    few = [[line("Looms", "b"), *[line(PROSE)] * 9], [line("Wages", "b"), *[line(PROSE)] * 9]]
    assert find_in_fonts(few, {}, ()) is None
    of_one_page = [[part for n in range(5) for part in (line(f"Mill {n}", "b"), *[line(PROSE)] * 9)], [line(PROSE)]]
    assert find_in_fonts(of_one_page, {}, ()) is None
