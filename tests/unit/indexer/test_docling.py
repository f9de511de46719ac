"""What docling has read: recorded replies of docling-serve become documents of the form that our own loaders give."""

import importlib.util
import json
from typing import Any

import pytest

from core.documents import Span
from core.errors import LoadFailed
from core.passage_context import name_cell
from core.ports.indexing import LoadedDocument, Source
from indexer.loading.docling.reply import MOST_PAGES, Config, build, pack
from tests.documents import make_docx, make_pdf, make_pptx, make_xlsx
from tests.twins.docling_server import RECORDED, read_recorded

_FILES = {
    "cranes.docx": make_docx([("p", "x")], author="Ada Breit", title=""),
    "berths.xlsx": make_xlsx({"a": [["x"]]}),
    "tides.pptx": make_pptx([("a", ["b"], "")]),
    "locks.html": b"<p>x</p>",
    "report.pdf": make_pdf([("p", "x")], author="Ida Holm"),
}


def load(name: str, reply: bytes | None = None) -> LoadedDocument:
    content = pack(_FILES[name], read_recorded(name) if reply is None else reply)
    source = Source(key=name, content=content, media_type="application/octet-stream", title=None, metadata={})
    return build(Config(format=name.rpartition(".")[2]), None).load(source)


def shown(document: LoadedDocument) -> list[tuple[int | None, tuple[str, ...], str]]:
    return [(block.page, block.heading, block.text.strip("\n")) for block in document.blocks]


def changed(name: str, change: Any) -> bytes:
    reply = json.loads(read_recorded(name))
    change(reply)
    return json.dumps(reply).encode()


def test_a_word_document_has_sections_lists_and_tables() -> None:
    document = load("cranes.docx")
    assert document.title == "Cranes of the harbour"
    assert document.metadata["author"] == "Ada Breit"
    assert document.metadata["read_by"] == "docling"
    lists = "1. Check the brakes.\n2. Lift by a hand first.\n- Ropes\n- Hooks"
    table = "Quay | Load in tonnes | Load in tonnes\nQuay | 2023 | 2024\nNorth | 80 | 120\nSouth | 40"
    assert shown(document) == [
        (None, (), "The harbour has four cranes."),
        (None, ("Loads",), f"The largest crane lifts 120 tonnes.\n\n{lists}"),
        (None, ("Loads", "Cranes by quay"), table),
        (None, ("Contact",), "Ask Ida Holm."),
    ]


def test_each_sheet_is_a_page_under_its_name_and_each_slide_with_its_notes() -> None:
    assert shown(load("berths.xlsx")) == [
        (1, ("Berths",), "Berth | Length | Ship\nA1 | 120 | Elbe\nA2 | 95 | Oste"),
        (2, ("Fees",), "Class | Fee\nsmall | 40.5\nlarge | 90"),
    ]
    slides = load("tides.pptx")
    assert slides.title == "Tides"
    assert shown(slides) == [
        (1, (), "- High water at six.\n- Low water at noon.\n\nMention the flood of 1962."),
        (2, ("Levels",), "Mark | Metres\nRed | 4.1\nBlue | 3.2"),
    ]


def test_a_web_page_keeps_its_code_and_joins_what_a_link_parts() -> None:
    document = load("locks.html")
    [before, (_, heading, text)] = shown(document)
    assert before == (None, (), "A lock lifts ships, slowly.")
    assert heading == ("Times",)
    assert "Lock | Minutes\nWest | 25\n\nopen(gate)\n  wait()\n\n- Bring fenders\n- two at least\n- Wait" in text
    assert "Imprint" not in text


def test_a_pdf_has_pages_levels_by_numbers_and_no_furniture() -> None:
    document = load("report.pdf")
    assert document.title == "Interim report of Elbe Harbour"
    assert document.metadata["author"] == "Ida Holm"
    results = "1 Results"
    assert [(page, heading) for page, heading, _ in shown(document)] == [
        *((1, ()), (1, (results, "1.1 Revenue")), (2, (results, "1.1 Revenue"))),
        *((2, (results, "1.2 Costs")), (3, ("2 Method",))),
    ]
    for block in document.blocks:
        assert block.page
        assert block.start is not None
        assert document.pages[block.page - 1][block.start :].startswith(block.text)
    text = "\n".join(document.pages)
    assert "The harbour handled 4.1 million tonnes." in text, "spaces of justified lines are one"
    assert "Elbe Harbour AG" not in text
    assert "page 2" not in text
    assert "r = \\frac{a}{b}\n\nq = 2 r\n\nfor quay in quays:\n    count(quay)\n\nFigure 1: the quays" in text
    assert "North quay" not in text, "a word within a figure"
    assert "[x] audited" in text


def test_a_paragraph_that_goes_on_at_the_next_page_stands_on_both() -> None:
    pages = load("report.pdf").pages
    assert "Revenue grew in both halves,\n" in pages[0]
    assert pages[1].startswith("and the quays were full until the autumn storms.\n")


def test_cells_of_a_table_have_row_and_both_names_of_their_column() -> None:
    text = load("report.pdf").pages[1]
    start = text.index("13.1")
    cell = name_cell(text, Span(start=start, end=start + 4))
    assert cell is not None
    assert (cell.row, cell.column, cell.value) == ("Bulk", "Second half › 2024", "13.1")


def test_a_page_whose_text_is_all_in_a_picture_has_that_text() -> None:
    def empty(reply: Any) -> None:
        document = reply["document"]["json_content"]
        kept = [{"$ref": f"#/pictures/{n}"} for n in range(len(document["pictures"]))]
        document["pictures"][0]["captions"] = []
        document["body"]["children"] = kept

    assert shown(load("report.pdf", changed("report.pdf", empty))) == [(3, (), "North quay")]


def test_pages_that_were_not_read_are_noted() -> None:
    def cut(reply: Any) -> None:
        reply["status"] = "partial_success"
        reply["errors"] = [{"component_type": "pipeline", "module_name": "x", "error_message": "page 2\nfailed"}]
        del reply["document"]["json_content"]["pages"]["2"]

    notes = load("report.pdf", changed("report.pdf", cut)).metadata["loader_notes"]
    assert notes == ["docling did not read all of it: pages 2 (page 2 failed)"]


def test_a_failure_is_told_with_its_reason() -> None:
    def fail(reply: Any) -> None:
        reply["status"], reply["errors"] = "failure", [{"error_message": "no backend"}]

    with pytest.raises(LoadFailed, match=r"'report.pdf' cannot be read by docling: no backend"):
        load("report.pdf", changed("report.pdf", fail))


@pytest.mark.parametrize("reply", [b"", b"[]", b"{}", b'{"status": "success", "document": {}}', b"[" * 5000])
def test_a_reply_without_a_document_is_refused(reply: bytes) -> None:
    with pytest.raises(LoadFailed, match=r"'report.pdf' cannot be read"):
        load("report.pdf", reply)


def test_items_that_name_one_another_are_read_once() -> None:
    def circle(reply: Any) -> None:
        document = reply["document"]["json_content"]
        for item in document["texts"]:
            item["children"] = [{"$ref": "#/texts/0"}, {"$ref": "#/body"}, {"$ref": "#/texts/999"}, {"$ref": "x"}]

    assert load("report.pdf", changed("report.pdf", circle)).pages[0].count("1.1 Revenue") == 1


@pytest.mark.parametrize("page", [MOST_PAGES + 1, 10**12, 0, -5])
def test_page_numbers_are_bounded(page: int) -> None:
    def far(reply: Any) -> None:
        document = reply["document"]["json_content"]
        document["pages"] = {str(page): document["pages"]["1"]}
        for item in [*document["texts"], *document["tables"], *document["pictures"]]:
            item["prov"] = [{**place, "page_no": page} for place in item["prov"]]

    with pytest.raises(LoadFailed, match=r"(more than 10,000 pages|no valid document .*page_no)"):
        load("report.pdf", changed("report.pdf", far))


def test_cells_far_away_make_no_long_rows() -> None:
    def far(reply: Any) -> None:
        for cell in reply["document"]["json_content"]["tables"][0]["data"]["table_cells"]:
            cell["start_col_offset_idx"] = cell["col_span"] = cell["row_span"] = 10**9

    assert len("".join(load("report.pdf", changed("report.pdf", far)).pages)) < 200_000


@pytest.mark.skipif(not importlib.util.find_spec("docling_core"), reason="docling is not installed")
@pytest.mark.parametrize("name", sorted(path.stem for path in RECORDED.glob("*.json")))
def test_the_recorded_replies_are_valid_documents_of_docling(name: str) -> None:
    from docling_core.types.doc import DoclingDocument

    DoclingDocument.model_validate(json.loads(read_recorded(name))["document"]["json_content"])
