"""ODS: cells as they are shown, sheets, merged and repeated cells, what is left out, and which files are refused."""

import io
import zipfile

import pytest

from core.errors import LoadFailed
from core.ports.indexing import LoadedDocument
from indexer.loaders import ods, xlsx
from indexer.loading.examples import pack
from indexer.loading.sheets import MOST_MERGED
from testing.contracts.loader import source_of
from tests.documents import make_xlsx

_NAMES = "urn:oasis:names:tc:opendocument:xmlns"
_SPACES = " ".join(f'xmlns:{name}="{_NAMES}:{name}:1.0"' for name in ("office", "text", "table", "style"))
_HIDDEN = (
    '<style:style style:name="ta2" style:family="table"><style:table-properties table:display="false"/></style:style>'
)


def load(content: bytes, **options: bool) -> LoadedDocument:
    return ods.build(ods.Config(**options), None).load(source_of(content, key="a/the file.ext"))


def text_of(*rows: str, **options: bool) -> str:
    return load(make_ods({"One": "".join(rows)}), **options).pages[0]


def make_ods(sheets: dict[str, str], *, styles: str = "", style: str = "ta1", **parts: str) -> bytes:
    """`style` is the style of the last sheet."""
    *_, last = sheets
    tables = "".join(
        f'<table:table table:name="{name}" table:style-name="{style if name == last else "ta1"}">{rows}</table:table>'
        for name, rows in sheets.items()
    )
    content = (
        f"<office:document-content {_SPACES}><office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:spreadsheet>{tables}</office:spreadsheet></office:body></office:document-content>"
    )
    return pack({"content.xml": content, **parts})


def row(*cells: str, attributes: str = "") -> str:
    return f"<table:table-row {attributes}>{''.join(cells)}</table:table-row>"


def cell(shown: str = "", attributes: str = "", kind: str = "string") -> str:
    inner = f"<text:p>{shown}</text:p>" if shown else ""
    return f'<table:table-cell office:value-type="{kind}" {attributes}>{inner}</table:table-cell>'


def _wide(count: int) -> str:
    return f'table:number-columns-repeated="{count}"'


def test_a_spreadsheet_is_read_as_the_same_workbook() -> None:
    rows = [["City", "River"], ["Ulm", "Danube"], ["", "Rhine"], ["Bonn"]]
    towns = "".join(row(*map(cell, cells)) for cells in rows)
    written = make_ods({"Towns": towns, "Empty": "", "More": row(cell("x"))})
    workbook = make_xlsx({"Towns": rows, "Empty": [], "More": [["x"]]})
    expected = xlsx.build(xlsx.Config(), None).load(source_of(workbook, key="a/the file.ext"))
    found = load(written)
    assert (found.title, found.pages, found.blocks) == (expected.title, expected.pages, expected.blocks)
    assert found.pages[0] == "City | River\nCity: Ulm | River: Danube\nRiver: Rhine\nCity: Bonn"


def test_values_are_read_as_they_are_shown_else_as_they_are_stored() -> None:
    shares = (
        cell("12,5 %", 'office:value="0.125"', "percentage"),
        cell("1.234,50 €", 'office:value="1234.5"', "currency"),
    )
    day = 'office:date-value="2024-01-31"'
    text = text_of(
        row(*shares),
        row(cell("31.01.24", day, "date"), cell("WAHR", kind="boolean")),
        row(cell("7", 'table:formula="of:=[.A1]*2" office:value="7"', "float"), cell("#DIV/0!")),
        row(cell("", day, "date"), cell("", 'office:value="0.5"', "float")),
        row(cell("a<text:s text:c='2'/>b\n <text:span>c</text:span></text:p><text:p>d")),
        row(cell("", "><office:annotation><text:p>gone</text:p></office:annotation"), cell("next")),
    )
    shown = ["12,5 % | 1.234,50 €", "31.01.24 | WAHR", "7 | #DIV/0!", "2024-01-31 | 0.5", "a b c d", " | next"]
    assert text.split("\n") == shown


def test_numbers_are_no_names_of_columns_and_merged_names_have_a_row_below() -> None:
    assert text_of(row(cell("a"), cell("1", kind="float")), row(cell("b"), cell("2"))) == "a | 1\nb | 2"
    header = row(cell("City"), cell("Beds", 'table:number-columns-spanned="2"'), "<table:covered-table-cell/>")
    below = row(cell(), cell("2023", kind="float"), cell("2024", kind="float"))
    text = text_of(header, below, row(cell("Ulm"), cell("5", kind="float"), cell("6", kind="float")))
    assert text.split("\n")[-1] == "City: Ulm | Beds 2023: 5 | Beds 2024: 6"


def test_a_merged_cell_is_in_each_row_that_it_covers() -> None:
    tall = cell("Ulm", 'table:number-rows-spanned="2"')
    covered = "<table:covered-table-cell><text:p>hidden by it</text:p></table:covered-table-cell>"
    text = text_of(row(cell("City"), cell("Year")), row(tall, cell("2023")), row(covered, cell("2024")))
    assert text.split("\n")[1:] == ["City: Ulm | Year: 2023", "City: Ulm | Year: 2024"]


def test_repeated_cells_and_rows_keep_their_places_and_are_bounded() -> None:
    gap = cell("", 'table:number-columns-repeated="2"')
    twice = row(cell("0", 'table:number-columns-repeated="3"'), cell("x"), attributes='table:number-rows-repeated="2"')
    header = row(*(cell(name) for name in "abcd"))
    lines = text_of(header, twice, row(cell("1"), gap, cell("2"))).split("\n")[1:]
    assert lines == [*["a: 0 | b: 0 | c: 0 | d: x"] * 2, "a: 1 | d: 2"]
    million, width = 'table:number-rows-repeated="1048576"', 'table:number-columns-repeated="16384"'
    assert text_of(row(cell("", width), attributes=million), row(cell("end"))) == "end"
    wide = text_of(*[row(cell("x", width), attributes=million)] * 50, row(cell("end")))
    assert len(wide) < 600_000
    assert wide.endswith("end")


def test_rows_and_cells_that_one_element_stands_for_are_bounded() -> None:
    many, wide = 'table:number-rows-repeated="1048576"', 'table:number-columns-repeated="16384"'
    assert text_of(row(cell("0"), cell("1"), attributes=many)).count("0 | 1") == 1024
    assert text_of(row(cell("0", wide))).count("0") == 1024
    assert len(text_of(*[row(cell("x" * 90), attributes=many)] * 50)) < 300_000, "all together"


def test_each_bound_of_merged_cells_holds() -> None:
    def merge(rows: int, words: str) -> str:
        tall = cell(words, f'table:number-rows-spanned="{rows}"')
        return row(tall, cell("1", kind="float")) + row(cell(), cell("z")) * (rows - 1)

    assert text_of(merge(1000, "Ulm")).count("Ulm") == 1000
    assert text_of(merge(1001, "Ulm")).count("Ulm") == 1, "a merged cell of too many places"
    assert text_of(merge(999, "x" * 200)).count("x") == 200, "its text would be repeated too often"
    assert text_of(merge(2, "Ulm") * 10_010).count("Ulm") == 20_000 + 10, "a further one is read where it begins"


def test_merged_cells_of_a_sheet_are_bounded() -> None:
    tall = row(cell("x" * 50, 'table:number-rows-spanned="900"'), cell("y")) + row(cell(), cell("z")) * 3
    assert len(text_of(tall * (MOST_MERGED + 5), row(cell("end")))) < 4_000_000


def test_hidden_sheets_and_copies_of_other_files_are_left_out() -> None:
    sheets = {"Shown": row(cell("one")), "Hidden": row(cell("two"))}
    content = make_ods(sheets, styles=_HIDDEN, style="ta2")
    assert [(block.page, block.heading) for block in load(content).blocks] == [(1, ("Shown",))]
    assert [(block.page, block.text) for block in load(content, hidden=True).blocks] == [(1, "one"), (2, "two")]
    assert "two" not in "".join(load(make_ods(sheets, style="ta_extref"), hidden=True).pages)


def test_sheets_of_many_rows_follow_one_another() -> None:
    sheets = {f"S{n}": "".join(row(cell(f"{n} {k}")) for k in range(2000)) for n in range(4)}
    pages = load(make_ods(sheets, styles=_HIDDEN, style="ta2")).pages
    assert [len(page.splitlines()) for page in pages] == [2000, 2000, 2000, 0]
    assert pages[2].endswith("2 1999")


def test_tracked_changes_and_drawings_are_no_rows() -> None:
    changes = "<table:tracked-changes><table:deletion><text:p>gone</text:p></table:deletion></table:tracked-changes>"
    drawing = f"<table:shapes><text:p>gone</text:p></table:shapes>{row(cell('kept'))}"
    frame = row(f"<table:table-cell><x><text:p>gone</text:p>{row(cell('gone'))}</x></table:table-cell>", cell("last"))
    content = make_ods({"One": drawing + frame})
    content = pack({"content.xml": _part(content).replace("<office:spreadsheet>", f"<office:spreadsheet>{changes}")})
    assert load(content).pages[0].split("\n") == ["kept", " | last"]


def _part(content: bytes) -> str:
    return zipfile.ZipFile(io.BytesIO(content)).read("content.xml").decode()


def test_ods_that_cannot_be_read_is_refused_with_the_reason() -> None:
    manifest = {"META-INF/manifest.xml": "<manifest><encryption-data/></manifest>"}
    good = make_ods({"One": row(cell("x"))})
    for content, reason in (
        (make_ods({"One": row(cell("x"))}, **manifest), "is encrypted with a password"),
        (pack({"mimetype": "", "encrypted-package": "x"}), "is encrypted with a password"),
        (pack({"content.xml": "<a/>"}), "has no spreadsheet"),
        (pack({"content.xml": ""}), "content.xml.* is no XML"),
        (make_ods({"One": row(cell())}), "has no text"),
        (good[: len(good) // 2], "may be damaged or cut off"),
        (b"", "is empty"),
        (b"plain", "is no ODS file"),
    ):
        with pytest.raises(LoadFailed, match=f"'a/the file.ext' .*{reason}"):
            load(content)


def test_xml_that_is_cut_off_is_read_up_to_there() -> None:
    whole = _part(make_ods({"One": row(cell("one")) + row(cell("two"))}))
    assert load(pack({"content.xml": whole[: whole.index("two")]})).pages[0] == "one"


def test_a_table_in_a_drawing_ends_no_sheet() -> None:
    drawn = f'<table:table table:name="Drawn">{row(cell("of the drawing"))}</table:table>'
    above = f"<table:shapes><text:p>{drawn}</text:p></table:shapes>"
    inside = f"<table:table-cell>{drawn}<text:p>Ulm</text:p></table:table-cell>"
    towns = row(cell("City"), cell("River")), row(inside, cell("Danube")), row(cell("Bonn"), cell("Rhine"))
    text = text_of(above, *towns)
    assert text == "City | River\nCity: Ulm | River: Danube\nCity: Bonn | River: Rhine"
    hidden = make_ods({"Shown": row(cell("x")), "Hidden": above}, styles=_HIDDEN, style="ta2")
    assert "of the drawing" not in "".join(load(hidden).pages)


@pytest.mark.parametrize("many", [row(cell("x"), cell("y")), row(cell(attributes=_wide(60)), cell("x"))])
def test_what_repeated_rows_are_written_as_is_bounded(many: str) -> None:
    """Each of them is written with the names of its columns, or the empty cells before it."""
    names = row(cell("N" * 190), cell("M" * 190))
    repeated = many.replace("<table:table-row ", '<table:table-row table:number-rows-repeated="1048576"')
    assert len(text_of(names, *[repeated] * 200)) < 300_000
