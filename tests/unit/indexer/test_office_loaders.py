"""What the loaders of office documents and books make of their files."""

from datetime import UTC, date, datetime
from typing import Any

import docx
import openpyxl
import pytest
from pptx import Presentation

from core.errors import LoadFailed
from core.ports.indexing import LoadedDocument
from indexer.loaders import docx as docx_loader
from indexer.loaders import epub, pptx, xlsx
from testing.contracts.loader import source_of
from tests.documents import add_member, make_docx, make_epub, make_pptx, make_xlsx, replace_member, saved

ADA = datetime(2024, 1, 31, 12, tzinfo=UTC)


def load(module: Any, content: bytes, *, title: str | None = None, **options: Any) -> LoadedDocument:
    config = module.Config(**options)
    document: LoadedDocument = module.build(config, None).load(source_of(content, key="a/the file.ext", title=title))
    for block in document.blocks:
        page = document.pages[(block.page or 1) - 1]
        assert page[block.start : (block.start or 0) + len(block.text)] == block.text
    return document


def sections(document: LoadedDocument) -> list[tuple[int | None, tuple[str, ...], str]]:
    return [(block.page, block.heading, block.text.strip()) for block in document.blocks]


# --- Word ------------------------------------------------------------------------------------------------------------


def test_a_word_document_has_blocks_under_paths_of_headings() -> None:
    content = make_docx(
        [
            *(("p", "Before."), ("h1", "Harbour"), ("p", "First."), ("h2", "Bridges"), ("p", "Second.")),
            ("table", [["City", "Bridges"], ["Hamburg", "2,500"]]),
            *(("h1", "Empty"), ("h1", "Last"), ("p", "Third.")),
        ],
        title="The Report",
        author="Ada Lovelace",
        created=ADA,
    )
    document = load(docx_loader, content)
    assert document.title == "The Report"
    assert sections(document) == [
        (None, (), "Before."),
        (None, ("Harbour",), "First."),
        (None, ("Harbour", "Bridges"), "Second.\n\nCity | Bridges\nHamburg | 2,500"),
        (None, ("Last",), "Empty\nLast\nThird."),
    ]
    assert document.metadata["author"] == "Ada Lovelace"
    assert document.metadata["created"] == "2024-01-31T12:00:00Z"


def test_a_title_alone_is_no_passage() -> None:
    content = make_docx([("h1", "Harbour report"), ("h1", "Ships"), ("p", "First.")], title="")
    assert sections(load(docx_loader, content)) == [(None, ("Ships",), "First.")]
    alone = load(docx_loader, make_docx([("h1", "Harbour report")], title=""))
    assert sections(alone) == [(None, (), "Harbour report")]
    pages = make_pptx([("Harbour report", [], ""), ("Ships", ["Ships come."], "")], title="Harbour report")
    assert [block.page for block in load(pptx, pages).blocks] == [2]


def test_what_libraries_write_for_nobody_is_no_metadata() -> None:
    document = docx.Document()
    document.add_paragraph("Text.")
    assert not load(docx_loader, saved(document)).metadata.keys() & {"author", "created", "modified"}
    slides = Presentation()
    slides.slides.add_slide(slides.slide_layouts[0]).shapes.title.text = "Harbour"
    slides.core_properties.title = "PowerPoint Presentation"
    found = load(pptx, saved(slides))
    assert found.title == "Harbour"
    assert not found.metadata.keys() & {"author", "created", "modified"}
    assert load(xlsx, make_xlsx({"One": [["x"]]}, title="Untitled Spreadsheet")).title == "the file"
    workbook = load(xlsx, make_xlsx({"One": [["x"]]}, created=ADA))
    assert "author" not in workbook.metadata
    assert workbook.metadata["created"] == "2024-01-31T12:00:00Z"


def test_tables_can_be_left_out() -> None:
    document = load(docx_loader, make_docx([("p", "Text."), ("table", [["a", "b"]])]), tables=False)
    assert sections(document) == [(None, (), "Text.")]


def test_the_title_of_a_word_document() -> None:
    with_style = docx.Document()
    with_style.add_paragraph("Shown as title", style="Title")
    with_style.core_properties.title = "Of the properties"
    with_style.add_paragraph("Text.")
    assert load(docx_loader, saved(with_style)).title == "Shown as title"
    assert load(docx_loader, make_docx([("h1", "Harbour"), ("p", "x")], title="")).title == "Harbour"
    assert load(docx_loader, make_docx([("p", "x")], title="")).title == "the file"
    assert load(docx_loader, make_docx([("p", "x")], title="T"), title="The sender's").title == "The sender's"


def test_what_was_deleted_in_word_is_not_read_and_what_was_inserted_is() -> None:
    body = (
        "<w:p><w:r><w:t>One</w:t><w:tab/><w:t>two</w:t></w:r><w:del><w:r><w:delText> gone</w:delText></w:r></w:del>"
        "<w:ins><w:r><w:t> three</w:t></w:r></w:ins></w:p>"
        "<w:sdt><w:sdtContent><w:p><w:r><w:t>In a control.</w:t></w:r></w:p></w:sdtContent></w:sdt>"
    )
    document = load(docx_loader, with_body(body))
    assert document.pages[0].split() == ["One", "two", "three", "In", "a", "control."]


W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def with_body(body: str) -> bytes:
    xml = f"<w:document {W}><w:body>{body}</w:body></w:document>"
    return replace_member(docx_loader.EXAMPLE, "word/document.xml", xml)


def test_notes_of_word_follow_their_paragraph() -> None:
    reference = '<w:r><w:footnoteReference w:id="2"/></w:r>'
    body = f"<w:p><w:r><w:t>One.</w:t></w:r>{reference}</w:p><w:p><w:r><w:t>Two.</w:t></w:r></w:p>"
    note = '<w:footnote w:id="2"><w:p><w:r><w:t>The note.</w:t></w:r></w:p></w:footnote>'
    content = add_member(with_body(body), "word/footnotes.xml", f"<w:footnotes {W}>{note}</w:footnotes>")
    assert load(docx_loader, content).pages[0].strip().split("\n\n") == ["One.", "The note.", "Two."]
    assert "note" not in load(docx_loader, content, notes=False).pages[0]


# --- presentations ---------------------------------------------------------------------------------------------------


def test_a_presentation_has_a_page_a_slide() -> None:
    slides = [("Harbour", ["Ships come.", "Ships go."], "Say hello."), ("", ["No title."], ""), ("Last", [], "")]
    content = make_pptx(slides, title="Talk", author="Ada")
    document = load(pptx, content)
    assert (document.title, document.metadata["author"], len(document.pages)) == ("Talk", "Ada", 3)
    assert sections(document) == [
        (1, ("Harbour",), "Ships come.\nShips go.\n\nSay hello."),
        (2, (), "No title."),
        (3, (), "Last"),
    ]
    assert sections(load(pptx, content, notes=False))[0] == (1, ("Harbour",), "Ships come.\nShips go.")


# --- workbooks -------------------------------------------------------------------------------------------------------


def test_a_workbook_has_a_page_a_sheet_and_rows_with_names() -> None:
    content = make_xlsx(
        {
            "Cities": [["Bridges of 2024"], [], ["City", "Bridges", "Built"], ["Hamburg", 2500, date(1888, 1, 2)]],
            "Numbers": [[1, 2.5], [3.0, None]],
            "Empty": [],
        },
        title="Bridges",
        creator="Ada",
    )
    document = load(xlsx, content)
    assert (document.title, document.metadata["author"]) == ("Bridges", "Ada")
    assert sections(document) == [
        (1, ("Cities",), "Bridges of 2024\nCity | Bridges | Built\nCity: Hamburg | Bridges: 2500 | Built: 1888-01-02"),
        (2, ("Numbers",), "1 | 2.5\n3"),
    ]
    plain = load(xlsx, content, column_names=False)
    assert plain.blocks[0].text.endswith("Hamburg | 2500 | 1888-01-02")


def test_a_row_below_an_empty_row_names_no_columns_if_it_lacks_a_value_or_has_one_in_common() -> None:
    def lines(*rows: list[object]) -> list[str]:
        names = ["Product", "Status", "Price"]
        content = make_xlsx({"One": [names, ["Desk", "sold", 120], [], *rows, ["Lamp", "sold", 20]]})
        return load(xlsx, content).blocks[0].text.strip().split("\n")[2:]

    lamp = "Product: Lamp | Status: sold | Price: 20"
    for blank in ("n/a", "TBD", "-", "t.b.d.", "#N/A", "auf Anfrage"):
        assert lines(["Table", "reserved", blank]) == [f"Product: Table | Status: reserved | Price: {blank}", lamp]
    assert lines(["Table", "n/a"]) == ["Product: Table | Status: n/a", lamp]
    assert lines(["Table", "sold", "a lot"]) == ["Product: Table | Status: sold | Price: a lot", lamp]
    assert lines(["Product", "Status", "Price"]) == ["Product | Status | Price", lamp]
    assert lines(["Item", "State", "Cost"]) == ["Item | State | Cost", "Item: Lamp | State: sold | Cost: 20"]
    words = make_xlsx({"One": [["Term", "Note"], ["hen", "bird"], [], ["Term", "Note"], ["age", "years"]]})
    assert load(xlsx, words).blocks[0].text.strip().split("\n")[2:] == ["Term | Note", "Term: age | Note: years"]


def test_columns_of_a_sheet_are_named_by_the_row_above_the_values() -> None:
    def lines(*rows: list[object]) -> list[str]:
        return load(xlsx, make_xlsx({"One": list(rows)})).blocks[0].text.strip().split("\n")

    people = [["Name", "Job", "Age"], ["Ann", "vet", 40], ["Bo", "cook", 51]]
    named = ["Name | Job | Age", "Name: Ann | Job: vet | Age: 40", "Name: Bo | Job: cook | Age: 51"]
    assert lines(["notes", None, "here"], *people)[-3:] == named, "notes stand above"
    costs = [["Item", "Cost"], ["Rent", 800], ["Paid", "not yet"], ["Gas", 50]]
    own = ["Item | Cost", "Item: Rent | Cost: 800", "Item: Paid | Cost: not yet", "Item: Gas | Cost: 50"]
    told = lines(*people, [], *costs)
    assert told == [*named, *own], "a second table has its names, and a row of texts among values is a row"
    spanned = lines(["Big", None, "Small", None], ["City", "Size", "City", "Size"], ["Rome", 9, "Ulm", 1])[-1]
    assert spanned == "Big City: Rome | Big Size: 9 | Small City: Ulm | Small Size: 1", "names that are not merged"
    broken = [["Job", "Share", "Least", "Most"], [None, "of hires", "a", "a"], [None, None, "month", "month"]]
    told = lines(*broken, ["Vet", 0.2, 900, 999])[-1:]
    assert told == ["Job: Vet | Share of hires: 0.2 | Least a month: 900 | Most a month: 999"], "of several lines"
    notes = [["Term", "Meaning", "Note"], [None, "a bird", "small"], ["hen", "x", "y"]]
    assert lines(*notes)[1:] == ["Meaning: a bird | Note: small", "Term: hen | Meaning: x | Note: y"]
    born = [["Name", "Born"], ["Ann", 1984], ["Bo", 1990]]
    assert lines(*born) == ["Name | Born", "Name: Ann | Born: 1984", "Name: Bo | Born: 1990"]
    words = [["Term", "Meaning"], ["hen", "a bird"], ["age", "in years"], ["ten", 10]]
    defined = ["Term: hen | Meaning: a bird", "Term: age | Meaning: in years", "Term: ten | Meaning: 10"]
    assert lines(*words)[1:] == defined
    groups = [["Land", "2001", "2002"], ["Japan", 5, 6], [], ["Europe", "estimated"], ["Spain", 7, 8]]
    assert lines(*groups)[-1] == "Land: Spain | 2001: 7 | 2002: 8", "rows below an empty row have more columns"


def test_hidden_sheets_are_read_on_request() -> None:
    workbook = openpyxl.Workbook()
    workbook.active.append(["shown"])
    sheet = workbook.create_sheet("Hidden")
    sheet.append(["not shown"])
    sheet.sheet_state = "hidden"
    hidden = saved(workbook)
    assert [page for page, _, _ in sections(load(xlsx, hidden))] == [1]
    assert [page for page, _, _ in sections(load(xlsx, hidden, hidden=True))] == [1, 2]


# --- books -----------------------------------------------------------------------------------------------------------


def test_a_book_has_its_chapters_as_headings() -> None:
    content = make_epub(
        {
            "one.xhtml": "<h1>One</h1><p>It&nbsp;was <em>cold</em>.</p><h2>Dawn</h2><p>The ships<br/>came.</p>",
            "two.xhtml": "<div><p>No heading here.</p><table><tr><th>a</th><td>b</td></tr></table></div>",
            "three.xhtml": "<h1>Three</h1><script>steal()</script><p>End &amp; out.</p>",
        },
        names={"one.xhtml": "The first", "two.xhtml": "The second"},
    )
    document = load(epub, content)
    assert document.title == "The Harbour"
    assert document.metadata == {"author": "Ada Lovelace", "created": "1843-09-01", "language": "en"}
    assert sections(document) == [
        (None, ("One",), "It was cold."),
        (None, ("One", "Dawn"), "The ships\ncame."),
        (None, ("The second",), "No heading here.\n\na | b"),
        (None, ("Three",), "End & out."),
    ]


def test_a_book_with_drm_is_told_apart() -> None:
    uri = "OPS/text/one.xhtml"
    reference = f'<EncryptedData><CipherData><CipherReference URI="{uri}"/></CipherData></EncryptedData>'
    encryption = f"<encryption>{reference}</encryption>"
    content = make_epub({"one.xhtml": "<p>x</p>"}, more={"META-INF/encryption.xml": encryption})
    with pytest.raises(LoadFailed, match=r"is encrypted \(DRM\)"):
        load(epub, content)


def test_a_document_without_text_is_refused() -> None:
    with pytest.raises(LoadFailed, match=r"'a/the file.ext' has no text"):
        load(docx_loader, make_docx([]))
