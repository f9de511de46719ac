"""What the loader of PDF makes of pages, columns, tables, headings, and of files without text."""

from pathlib import Path
from typing import Any

import pytest
from fpdf import FPDF

from core.errors import LoadFailed
from core.passage_context import PAGE_LABELS, find_page_label
from core.ports.indexing import LoadedDocument
from indexer.loaders import pdf
from indexer.loading.pdf.headings import find_in_sizes
from indexer.loading.pdf.layout import Line, read_lines
from indexer.loading.pdf.runs import HYPHEN, Run
from indexer.loading.running_lines import find_running_lines
from testing.contracts.loader import source_of
from tests.documents import Part, make_long_pdf, make_pdf, make_scan

LOREM = (
    "The committee met in Hamburg on a cold morning and discussed the construction of the new harbour bridge for "
    "several hours. Nobody could agree on the costs, which had doubled since the first estimate was published. "
)
CHAPTERS = [
    *(("h1", "1 Harbour"), ("p", LOREM), ("h2", "1.1 Ships"), ("p", LOREM * 2), ("page", "")),
    *(("p", LOREM), ("h1", "2 A bridge"), ("p", LOREM * 3)),
]


def load(content: bytes, *, key: str = "a/the file.pdf", title: str | None = None, **options: Any) -> LoadedDocument:
    config = pdf.Config(**options)
    document = pdf.build(config, None).load(source_of(content, key=key, title=title))
    for block in document.blocks:
        page = document.pages[(block.page or 0) - 1]
        assert page[block.start : (block.start or 0) + len(block.text)] == block.text
    return document


def headings(document: LoadedDocument) -> list[tuple[int | None, tuple[str, ...]]]:
    return [(block.page, block.heading) for block in document.blocks]


@pytest.mark.parametrize(("outline", "option"), [(True, "auto"), (False, "auto"), (True, "outline"), (True, "sizes")])
def test_headings_come_from_the_outline_or_from_sizes(outline: bool, option: str) -> None:
    document = load(make_pdf(CHAPTERS, outline=outline), headings=option)
    ships, bridge = ("1 Harbour", "1.1 Ships"), ("2 A bridge",)
    assert headings(document) == [(1, ("1 Harbour",)), (1, ships), (2, ships), (2, bridge)]
    assert document.title == "the file", "no heading is above all others"
    assert "Harbour" not in document.blocks[0].text
    assert document.pages[0].startswith("1 Harbour\nThe committee")


def test_prose_that_is_larger_than_listings_is_no_heading() -> None:
    """Of a manual that has more listings than prose."""
    sizes = [(8.0, 60), (10.0, 7), (14.0, 1), (10.0, 9), (12.0, 3), (14.0, 1), (10.0, 4)]
    lines = [
        Line(f"Line {n} of size {size}", 0.0, 0.0, size, is_first=False) for size, count in sizes for n in range(count)
    ]
    found = find_in_sizes([lines])[0]
    assert [(heading.level, heading.lines) for heading in found] == [(1, 1), (2, 3), (1, 1)]
    short = find_in_sizes([[*lines[:60], *lines[60:64], lines[67], *lines[60:64]]])[0]
    assert len(short) == 5, "eight lines are too few to tell"


REPORT = [
    *(("h1", "Norwick Mills"), ("p", LOREM), ("bold", "PART I"), ("bold", "Note 3 - Debt"), ("p", LOREM * 6)),
    *(("bold", "Term Debt"), ("p", LOREM * 6), ("italic", "Rates"), ("p", LOREM * 6), ("page", "")),
    *(("bold", "(Unaudited)"), ("bold", "Three Months Ended"), ("p", LOREM * 6), ("bold", "Leases"), ("p", "None.")),
    *(("bold", "Taxes"), ("p", "Paid."), ("bold", "Note 4 - Ships"), ("p", LOREM * 6)),
]
"""A report whose headings are as large as its text."""


def test_headings_come_from_lines_in_bold_below_larger_lines() -> None:
    document = load(make_pdf(REPORT), headings="fonts")
    debt = ("PART I", "Note 3 - Debt")
    term, rates = (*debt, "Term Debt"), (*debt, "Term Debt", "Rates")
    found = [(1, ()), (1, debt), (1, term), (1, rates), (2, rates), (2, debt), (2, ("PART I", "Note 4 - Ships"))]
    assert headings(document) == found
    short = document.blocks[5].text
    assert [line for line in short.splitlines() if line] == ["Leases", "None.", "Taxes", "Paid."]
    assert document.blocks[1].text.startswith("PART I\nNote 3 - Debt\n"), "the lines of headings stay in the text"
    assert document.title == "Norwick Mills"
    assert {block.heading for block in load(make_pdf(REPORT)).blocks} == {()}


PRINTED = [
    *(("bold", "Note 1 - Looms"), ("p", LOREM * 6), ("bold", "Note 2 - Debt"), ("p", LOREM * 6), ("page", "")),
    *(("bold", "Term Debt"), ("p", LOREM * 6)),
]


def test_lines_in_bold_are_headings_where_nothing_else_divides_a_document() -> None:
    bold = {("Note 1 - Looms",), ("Note 2 - Debt",), ("Note 2 - Debt", "Term Debt")}
    assert {block.heading for block in load(make_pdf(PRINTED), headings="fonts").blocks} == bold
    assert {block.heading for block in load(make_pdf(PRINTED)).blocks} == {()}
    assert {block.heading for block in load(make_pdf(PRINTED[:5]), headings="fonts").blocks} == {()}, "too few headings"
    cover = load(make_pdf([("h1", "Norwick Mills"), *PRINTED, *[("page", ""), ("p", LOREM)] * 2]), headings="fonts")
    assert cover.title == "Norwick Mills"
    assert bold <= {block.heading for block in cover.blocks}


@pytest.mark.parametrize(
    "lines",
    [
        [("bold", "Our lease ends in 2031.")] * 3,
        [("bold", f"Term {n}") for n in range(4)],
        [("table", [["Costs", "10", "20", "30"], ["Debt", "11", "21", "31"]] * 3)],
        [("italic", "No heading stands here in bold, and a long line in italics is a sentence that somebody quoted")],
    ],
)
def test_lines_in_bold_that_are_no_headings(lines: list[Part]) -> None:
    parts = [("p", LOREM), *lines, ("p", LOREM)]
    assert {heading for block in load(make_pdf(parts), headings="fonts").blocks for heading in block.heading} == set()


def test_characters_of_tex_without_a_table_of_unicode() -> None:
    """fpdf2 has no such font, so the codes are put into the string of a page."""
    document = FPDF()
    document.set_compression(False)
    document.add_page()
    document.set_font("Helvetica", size=12)
    document.text(20, 20, "65#85 per cent, e@cient, to %nish, the &oor, o~")
    content = bytes(document.output())
    codes = {b"65#": b"65\x15", b"e@c": b"e\x1ec", b"%nish": b"\x1cnish", b"&oor": b"\x1door", b"o~": b"o\x1b"}
    for mark, code in codes.items():
        content = content.replace(mark, code)
    assert load(content).pages[0].strip() == "65–85 per cent, efficient, to finish, the floor, off"


def write(document: FPDF, y: float, *parts: tuple[float, str, float]) -> None:
    """Writes parts of one line: size, text, and how far it is raised."""
    x = 20.0
    for size, text, raised in parts:
        document.set_font("Helvetica", size=size)
        document.text(x, y - raised, text)
        x += document.get_string_width(text)


def test_raised_numbers_of_footnotes_make_no_headings() -> None:
    document = FPDF()
    document.add_page()
    write(document, 20, (20, "3.7 Configuration", 0))
    write(document, 30, (11, "The hierarchy contains files of configuration, which control the", 0))
    write(document, 35, (11, "operation of a program; none of them is an executable binary.", 0), (8, "2", 1.5))
    write(document, 45, (16, "3.7.2 Requirements", 0))
    write(document, 55, (11, "No binaries may be located there, and nothing else that is not listed here.", 0))
    write(document, 60, (11, "If a subsystem is installed, the following files or directories are required.", 0))
    write(document, 65, (14, "Each of them must be there. 3", 0))
    found = load(bytes(document.output()), title="T")
    assert headings(found) == [(1, ("3.7 Configuration",)), (1, ("3.7 Configuration", "3.7.2 Requirements"))]
    assert "binary.2" in found.blocks[0].text.replace(" ", "")


@pytest.mark.parametrize(
    ("largest", "title"),
    [("Harbour Standard", "Harbour Standard"), ("Chapter 1", "the file"), ("1 Harbour", "the file")],
)
def test_the_largest_heading_of_a_title_page_is_the_title(largest: str, title: str) -> None:
    document = FPDF()
    document.add_page()
    write(document, 60, (28, largest, 0))
    write(document, 90, (20, "The Working Group", 0))
    for name in ("Ships", "Bridges"):
        document.add_page()
        write(document, 20, (28, name, 0))
        for n in range(8):
            write(document, 30 + 5 * n, (11, "The committee met in Hamburg on a cold morning, and nobody agreed.", 0))
    assert load(bytes(document.output())).title == title


@pytest.mark.parametrize("option", ["none", "outline"])
def test_headings_can_be_left_out(option: str) -> None:
    assert headings(load(make_pdf(CHAPTERS), headings=option)) == [(1, ()), (2, ())]


def test_an_outline_whose_titles_are_not_in_the_text_begins_sections_where_it_points() -> None:
    document = FPDF()
    document.add_page()
    document.set_font("Helvetica", size=10)
    document.multi_cell(0, 5, LOREM, new_x="LMARGIN", new_y="NEXT")
    document.start_section("Of the outline only")
    document.multi_cell(0, 5, "The second part.", new_x="LMARGIN", new_y="NEXT")
    found = load(bytes(document.output()), title="T")
    assert headings(found) == [(1, ()), (1, ("Of the outline only",))]
    assert found.blocks[1].text == "The second part."


def test_title_and_metadata_come_from_the_properties() -> None:
    content = make_pdf(CHAPTERS, title="A study of bridges", author="Ada  Lovelace", subject="Bridges", lang="en-GB")
    document = load(content)
    assert document.title == "A study of bridges"
    found = dict(document.metadata)
    assert found.pop("created").endswith("Z")
    assert found == {"author": "Ada Lovelace", "subject": "Bridges", "language": "en-GB"}
    assert load(content, title="The sender's").title == "The sender's"


@pytest.mark.parametrize(
    "title",
    [
        "Microsoft Word - report.doc",
        "untitled",
        "(anonymous)",
        "paper.tex",
        "bashref",
        "0000320193-23-000077",
        "Exhibit 10.31",
    ],
)
def test_a_title_that_a_program_made_of_a_file_is_none(title: str) -> None:
    parts = [("h1", "Bridges of the North"), ("p", LOREM)]
    assert load(make_pdf(parts, title=title)).title == "Bridges of the North"


@pytest.mark.parametrize(("author", "subject"), [("(anonymous)", "(unspecified)"), ("anonymous", "unspecified")])
def test_what_a_library_writes_for_nobody_is_no_metadata(author: str, subject: str) -> None:
    assert not {"author", "subject"} & load(make_pdf(CHAPTERS, author=author, subject=subject)).metadata.keys()


@pytest.mark.parametrize(
    ("key", "own", "title"),
    [
        ("reports/2023 Q3 APL.pdf", "Apple Inc.", "Apple Inc. (2023 Q3 APL)"),
        ("report_2023.pdf", "Report of 2023", "Report of 2023"),
        ("policy-v4.6.2.pdf", "Policy 4.6.2", "Policy 4.6.2"),
        ("policy-4.6.2.pdf", "The Policy", "The Policy (policy-4.6.2)"),
        ("2401.18059v1.pdf", "Trees", "Trees"),
        ("2401.18059.pdf", "Trees", "Trees"),
        ("IMG_20230405.pdf", "Trees", "Trees"),
        ("2023 Q3 APL.pdf", "", "2023 Q3 APL"),
    ],
)
def test_files_that_a_period_or_a_version_tells_apart_have_titles_that_do(key: str, own: str, title: str) -> None:
    assert load(make_pdf([("p", LOREM)], title=own), key=key).title == title
    assert load(make_pdf([("p", LOREM)]), key=key, title="The sender's").title == "The sender's"


@pytest.mark.parametrize(
    ("key", "below", "title"),
    [
        ("a.pdf", [("h2", "Invoice RE-2024-017")], "Invoice RE-2024-017, Bridge & Sons Ltd"),
        ("a.pdf", [("p", "Rechnungsnummer: 2024/017")], "Rechnungsnummer: 2024/017, Bridge & Sons Ltd"),
        ("a.pdf", [("p", "Facture n° 4711 du 12 mai")], "Facture n° 4711, Bridge & Sons Ltd"),
        ("s/LZ-88123.pdf", [("p", "Ref.: LZ-88123")], "Ref.: LZ-88123, Bridge & Sons Ltd"),
        ("a.pdf", [("p", "Invoice date: 2024-03-01"), ("p", "Invoice 2024")], "Bridge & Sons Ltd"),
        ("a.pdf", [("h2", "Springfield, IL 62701"), ("p", "Phone 040-123456")], "Bridge & Sons Ltd"),
    ],
)
def test_letters_of_one_firm_have_titles_of_their_own(key: str, below: list[Part], title: str) -> None:
    found = load(make_pdf([("h1", "Bridge & Sons Ltd"), *below, *[("p", LOREM)] * 4]), key=key)
    assert found.title == title
    assert len(found.blocks) == 1 or title == "Bridge & Sons Ltd", "a letter is one passage if it is short"


def test_a_title_of_a_work_stays_beside_numbers() -> None:
    for name in ("Form 10-Q of the bridges", "A long study of the bridges of the north"):
        assert load(make_pdf([("h1", name), ("h2", "Report TR-2019-113"), *[("p", LOREM)] * 4])).title == name


def test_two_columns_are_read_one_after_the_other_however_they_are_drawn() -> None:
    document = FPDF()
    document.add_page()
    document.set_font("Helvetica", size=16)
    document.text(15, 15, "A title over both of the columns of this page, as papers have")
    document.set_font("Helvetica", size=10)
    left = [f"Left line {n} tells of the old harbour town and its ships" for n in range(20)]
    right = [f"Right line {n} tells of the new railway and its bridges" for n in range(20)]
    for n, (one, other) in enumerate(zip(left, right, strict=True)):
        document.text(15, 30 + 5 * n, one)
        document.text(110, 30 + 5 * n, other)
    document.text(15, 140, "A line below that goes over both columns again, from the left margin to the right one")
    content = bytes(document.output())
    lines = [line for line in load(content).pages[0].split("\n") if line]
    assert lines[1:-1] == [*left, *right]
    assert lines[0].startswith("A title")
    assert lines[-1].startswith("A line below")
    across = load(content, columns=False).pages[0]
    assert f"{left[0]} | {right[0]}" in across


def test_columns_with_a_table_are_read_one_after_the_other() -> None:
    document = FPDF(unit="pt", format=(600, 800))
    document.add_page()
    document.set_font("Helvetica", size=9)
    left = [f"Left line {n:02} tells of regulators and of their noise" for n in range(18)]
    right = [f"Right line {n:02} tells of packages and of their pins" for n in range(30)]
    rows = [("Parameter", "Min", "Max", "Unit"), ("IN to GND", "-0.3", "22", "V"), ("EN to GND", "-0.5", "20", "V")]
    rows += [(f"Pin {n}", f"-{n}", f"{n}0", "mA") for n in range(1, 9)]
    for n, line in enumerate(left):
        document.text(40, 60 + 12 * n, line)
    for n, row in enumerate(rows):
        for text, x in zip(row, (70, 140, 180, 220), strict=True):
            document.text(x, 290 + 14 * n, text)
    for n, line in enumerate(right):
        document.text(320, 63 + 12.5 * n, line)
    lines = load(bytes(document.output())).pages[0].split("\n")
    assert [line for line in lines if line] == [*left, *(" | ".join(row) for row in rows), *right]


def test_a_word_that_is_cut_at_the_end_of_a_line_is_joined() -> None:
    texts = (f"the exam{HYPHEN}", 100), ("ple of a line", 88), ("A paragraph", 60), (f"ends with a{HYPHEN}", 48)
    lines = read_lines([Run(text, 10, 90, bottom, bottom + 10, 10) for text, bottom in texts])
    assert [line.text for line in lines] == ["the example of a line", "A paragraph", "ends with a-"]
    assert [line.is_first for line in lines] == [True, True, False]


def test_a_line_from_right_to_left_keeps_the_order_of_its_cells() -> None:
    runs = [Run("שלום", 300, 340, 100, 110, 10), Run("עולם", 100, 140, 100, 110, 10)]
    assert [line.text for line in read_lines(runs)] == ["שלום | עולם"]


# --- files that have no text, or cannot be opened --------------------------------------------------------------------


BROKEN = (b"%PDF-1.7\n", b"no PDF at all", make_pdf(CHAPTERS)[:300])


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        *((content, "is no PDF file, or it is damaged") for content in BROKEN),
        (make_pdf([("page", "")]), "has no text: its 2 pages are empty, or drawn without characters"),
        (make_pdf(CHAPTERS, is_encrypted=True), r"'a/the file.pdf' is encrypted: it needs a password"),
    ],
)
def test_a_file_that_is_broken_empty_or_encrypted_is_told_apart(content: bytes, reason: str) -> None:
    with pytest.raises(LoadFailed, match=reason):
        load(content)


def test_a_file_of_images_needs_ocr(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(LoadFailed, match="has no text: it needs OCR, since 2 of its 2 pages are images; install tess"):
        load(make_scan())


@pytest.mark.parametrize("angle", [0, 90, 180, 270])
def test_turned_pages_are_read_like_upright_ones(angle: int) -> None:
    document = FPDF(unit="pt", format=(800, 800))
    document.add_page()
    document.set_font("Helvetica", size=10)
    with document.rotation(angle, 400, 400):
        for n in range(5):
            document.text(200, 300 + 14 * n, f"The line of number {n} on this page.")
    page = load(bytes(document.output())).pages[0]
    assert page.split("\n") == [f"The line of number {n} on this page." for n in range(5)]


def test_a_note_at_the_margin_comes_after_the_text() -> None:
    document = FPDF()
    document.add_page()
    document.set_font("Helvetica", size=10)
    with document.rotation(90, 10, 200):
        document.text(10, 200, "arXiv:1234.5678v1 [cs.XY] 1 Jan 2030")
    document.multi_cell(0, 5, LOREM * 4)
    assert load(bytes(document.output())).pages[0].split("\n")[-1] == "arXiv:1234.5678v1 [cs.XY] 1 Jan 2030"


def test_running_lines_are_left_out_after_their_first_page() -> None:
    pages = [["The Journal of Bridges", f"Text of {n}.", "More text.", f"End of {n}.", f"{n + 3}"] for n in range(1, 7)]
    content = make_long_pdf(pages)
    document = load(content)
    assert document.pages[0].split("\n")[0] == "The Journal of Bridges"
    assert [page.split("\n") for page in document.pages[1:]] == [page[1:-1] for page in pages[1:]]
    kept = load(content, running_lines=True)
    assert [page.split("\n") for page in kept.pages] == pages


def test_lines_that_two_pages_share_and_numbers_that_do_not_grow_stay() -> None:
    pages = [["Total", "1", "text", "more", "again", str(7 * n % 5)] for n in range(2)]
    assert [page.split("\n") for page in load(make_long_pdf(pages)).pages] == pages


@pytest.mark.parametrize("gutter", [8, 18])
@pytest.mark.parametrize("across", [False, True])
def test_three_columns_are_read_one_after_the_other(gutter: int, across: bool) -> None:
    """Also where they stand near to one another and are drawn across the page."""
    document = FPDF(unit="pt", format=(600, 800))
    document.add_page()
    document.set_font("Helvetica", size=9)
    columns: list[list[tuple[float, float, str]]] = []
    x = 30.0
    for name in ("left", "middle", "right"):
        texts = [f"{name} line {n:02} of ships, bridges and a port" for n in range(30)]
        columns.append([(x, 60 + 12 * n, text) for n, text in enumerate(texts)])
        x += max(document.get_string_width(text) for text in texts) + gutter
    drawn = [one for column in columns for one in column]
    for left, top, text in sorted(drawn, key=lambda one: one[1]) if across else drawn:
        document.text(left, top, text)
    lines = load(bytes(document.output())).pages[0].split("\n")
    assert [line for line in lines if line] == [text for _, _, text in drawn]


def test_rows_of_a_table_are_lines_also_where_its_columns_are_narrow() -> None:
    wide = [("City", "Bridges", "Year"), ("Hamburg", "2,500", "1888"), ("Venice", "435", "1591"), ("Leeds", "12", "17")]
    narrow = [("Grade", "Hourly", "Monthly", "Yearly"), *((f"E{n}", f"{n}.50", f"{n}00", f"{n}0") for n in range(20))]
    for rows, prose in ((wide, [("p", LOREM)]), (narrow, [])):
        page = load(make_pdf([*prose, ("table", rows), *prose])).pages[0]
        assert {" | ".join(row) for row in rows} <= set(page.split("\n"))


def test_running_lines_with_a_number_or_a_label_are_left_out() -> None:
    roman = ("iv", "v", "vi", "vii", "viii", "ix")
    pages = [[f"Bridges | {n + 3}", f"Text of {n}.", "More text.", f"The End of {n}.", roman[n]] for n in range(6)]
    lines = find_running_lines(pages)
    assert lines == [{0}] * 6
    assert find_running_lines(pages, [*roman]) == [{0, 4}] * 6


def test_numbers_within_sentences_and_rows_are_no_numbers_of_pages() -> None:
    pages = [
        [f"Total | {n} | {n + 1}.", f"text {n}!", f"more {n}!", f"again {n}!", f"In year {n} of the plan it ends"]
        for n in range(9)
    ]
    assert find_running_lines(pages) == [set[int]()] * 9


def test_numbers_of_pages_are_told_from_headings_and_from_texts() -> None:
    words = ("One", "Two", "Three", "Four")
    prose = [[f"{word} goes on.", f"{word} is long.", f"{word} ends.", f"{word} has ended."] for word in words]
    for heading in ("Chapter {}", "Exhibit {}", "Teil {}"):
        pages = [[heading.format(n), *lines] for n, lines in enumerate(prose, 1)]
        assert find_running_lines(pages) == [set[int]()] * 4
    assert find_running_lines([[f"Page {n} begins."] for n in range(1, 5)]) == [set[int]()] * 4, "nothing is left"
    assert find_running_lines([[f"Report, page {n}", *lines] for n, lines in enumerate(prose, 1)]) == [{0}] * 4


def test_a_document_of_two_pages_loses_only_what_says_that_it_counts_pages() -> None:
    def pages(line: str) -> list[list[str]]:
        return [[f"Begin of {word}.", "A text.", f"End of {word}.", line.format(n)] for n, word in ((1, "a"), (2, "b"))]

    for line in ("Tender | Page {}", "Tender - Seite {} von 2", "Policy, p. {}"):
        assert find_running_lines(pages(line)) == [{3}] * 2
    for line in ("Tender | {}", "Machine {}", "See page {}0", "Homepage {}"):
        assert find_running_lines(pages(line)) == [set[int]()] * 2


def test_labels_of_pages_are_metadata() -> None:
    pages = [[f"Sheet {n} of the report."] for n in range(1, 9)]
    document = load(make_long_pdf(pages, b"0<</S/r>>4<</S/D>>6<</S/D/P(F-)/St 3>>"))
    assert document.metadata[PAGE_LABELS] == {"1": "i", "5": "1", "7": "F-3"}
    assert [block.page for block in document.blocks] == list(range(1, 9))
    assert find_page_label(document.metadata, 8) == "F-4"
    assert PAGE_LABELS not in load(make_long_pdf(pages)).metadata
    assert PAGE_LABELS not in load(make_long_pdf(pages, b"0<</S/D>>")).metadata


@pytest.mark.parametrize(
    "labels",
    [
        b"0<</P(%s)>>" % (b"x" * 60_000),
        b"".join(b"%d<</S/D/P(x%d)/St %d>>" % (n, n, 900 - 3 * n) for n in range(250)),
        b"0<</S/r/St 2147483647>>1<</S/A/St -5>>2<</S/Z>>3 4 5<<",
        b"0<</P<FEFFD800>/S/D>>",
        b"0<</P<FEFF00000007>>>",
    ],
)
def test_labels_of_pages_that_are_none_are_left_out(labels: bytes) -> None:
    document = load(make_long_pdf([[f"Sheet {n}."] for n in range(1, 251)], labels))
    assert len(document.pages) == 250
    assert not find_page_label(document.metadata, 1).strip("1\ufffd")
    assert len(document.metadata.get(PAGE_LABELS, {})) <= 5


@pytest.mark.parametrize(
    ("line", "is_annex"),
    [
        *((line, True) for line in ("Exhibit 31(a)", "CERTIFICATIONS | Exhibit 31.1")),
        *((line, False) for line in ("See Exhibit 31", "Exhibit of art")),
    ],
)
def test_an_annex_ends_the_headings_that_sizes_tell(line: str, is_annex: bool) -> None:
    prose = "The officers have signed what is said here about the year. " * 20
    begin = [("h1", "Results"), ("p", prose), ("page", ""), ("h1", "Controls"), ("p", prose)]
    parts = [*begin, ("page", ""), ("p", line), ("p", prose)]
    last = load(make_pdf(parts), headings="sizes").blocks[-1]
    assert (last.page, last.heading) == (3, () if is_annex else ("Controls",))
