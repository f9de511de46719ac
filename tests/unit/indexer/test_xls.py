"""XLS: values, dates, merged cells and sheets as in XLSX, exports of other kinds by this name, and files refused."""

import random
import struct
from collections.abc import Iterable, Sequence

import pytest

from core.errors import LoadFailed
from core.ports.indexing import LoadedDocument
from indexer.loaders import xls, xlsx
from indexer.loading.examples import make_record, make_xls, pack_compound
from testing.contracts.loader import source_of
from tests.documents import make_xlsx

_DATE, _DAY_AND_TIME, _DURATION = 14, 22, 46
_FONT = make_record(0x31, struct.pack("<HHHHHBBBxBB", 200, 0, 0x7FFF, 400, 0, 0, 0, 0, 5, 0) + b"Arial")
_SHEET_END = make_record(0x0A)


def load(content: bytes, **options: bool) -> LoadedDocument:
    return xls.build(xls.Config(**options), None).load(source_of(content, key="a/the file.ext"))


def text_of(*rows: Sequence[str | float], formats: Iterable[int] = (), more: bytes = b"") -> str:
    return load(make_xls({"One": rows}, formats=formats, more=more)).pages[0]


def merge(*ranges: tuple[int, int, int, int]) -> bytes:
    """Returns the record of merged cells: first row, last row, first column, last column of each, from 0."""
    return make_record(0xE5, struct.pack("<H", len(ranges)) + b"".join(struct.pack("<4H", *cells) for cells in ranges))


def test_a_workbook_is_read_as_the_same_in_xlsx() -> None:
    sheets = {
        "Städte": [["City", "River", "Bridges"], ["Köln", "Rhein", 8.0], ["Ulm", "", 2.5], ["很老", "Donau", -1e21]],
        "Notes": [["One note."], [""], ["Rate", "Since"], [0.5, 1999.0]],
    }
    read = load(make_xls(sheets))
    same = xlsx.build(xlsx.Config(), None).load(source_of(make_xlsx(sheets), key="a/the file.ext"))
    assert read.pages == same.pages
    assert read.blocks == same.blocks
    assert "City: Ulm | Bridges: 2.5" in read.pages[0]


def test_dates_are_dates() -> None:
    formats = (_DATE, _DAY_AND_TIME, _DURATION, _DATE)
    row = (45322.0, 45322.75, 1.5, 0.25)
    assert text_of(row, formats=formats) == "2024-01-31 | 2024-01-31T18:00:00 | 1 day, 12:00:00 | 06:00:00"
    epoch = make_record(0x22, b"\1".ljust(len(_FONT) - 4, b"\0"))
    since_1904 = make_xls({"One": [row]}, formats=formats).replace(_FONT, epoch, 1)
    assert load(since_1904).pages[0].startswith("2028-02-01 | 2028-02-01T18:00:00")
    assert text_of((9e9,), formats=formats) == "9000000000", "no date is so late"


def test_logical_values_and_errors_are_written_as_in_xlsx() -> None:
    cells = b"".join(make_record(0x205, struct.pack("<HHHBB", 0, n, 0, *one)) for n, one in enumerate(((1, 0), (7, 1))))
    assert text_of(more=cells) == "True | #DIV/0!"


def test_a_merged_cell_has_its_value_in_each_place() -> None:
    table = (["Region", "2023", ""], ["", "Q1", "Q2"], ["North", 1.0, 2.0], ["", 3.0, 4.0])
    text = text_of(*table, more=merge((0, 0, 1, 2), (2, 3, 0, 0)))
    rows = text.split("\n")[2:]
    assert rows == ["Region: North | 2023 Q1: 1 | 2023 Q2: 2", "Region: North | 2023 Q1: 3 | 2023 Q2: 4"]


def test_ranges_of_merged_cells_that_are_none_are_left_out() -> None:
    assert text_of(["a", "b"], ["c", "d"], more=merge((1, 0, 0, 1), (0, 1, 1, 0), (0, 0, 0, 0))) == "a | b\na: c | b: d"


def test_hidden_sheets_are_read_if_they_are_asked_for() -> None:
    content = make_xls({"Shown": [["one"]], "Hidden": [["two"]]}, hidden=["Hidden"])
    assert load(content).pages == ("one", "")
    assert load(content, hidden=True).pages == ("one", "two")


def test_rows_may_be_without_names() -> None:
    assert load(make_xls({"One": [["a", "b"], ["c", 1.0]]}), column_names=False).pages[0] == "a | b\nc | 1"


def test_exports_of_other_kinds_are_read_by_their_content() -> None:
    rows = [["City", "River"], ["Ulm", "Danube"]]
    assert load(make_xlsx({"One": rows})).pages == load(make_xls({"One": rows})).pages
    table = "<table><tr><th>City<th>River<tr><td>Ulm<td>Danube</table>"
    for content in (f"<html xmlns:x='urn:x'><body>{table}", f"\ufeff\n{table}"):
        assert "Danube" in load(content.encode()).pages[0]


def test_records_of_names_and_comments_refuse_no_workbook() -> None:
    """`xlrd` refuses a workbook for a formula of a name that it does not know, and for a comment without an object."""
    broken = make_record(0x1C, bytes(4)) + make_record(0x1B8, b"\1")
    assert text_of(["one"], more=broken) == "one"


def test_records_without_a_compound_file_are_read() -> None:
    """As Excel 2 to 4 wrote them."""
    cell = make_record(0x04, struct.pack("<HH3xB", 0, 0, 3) + b"Ulm")
    assert load(make_record(0x09, struct.pack("<HH", 2, 0x10)) + cell + _SHEET_END).pages == ("Ulm",)


def test_xls_that_cannot_be_read_is_refused_with_the_reason() -> None:
    good = make_xls({"One": [["x"] * 200] * 5})
    bof = make_record(0x809, struct.pack("<HHHHII", 0x600, 5, 0, 0, 0, 0))
    encrypted = pack_compound({"Workbook": (bof + make_record(0x2F, bytes(6))).ljust(4096, b"\0")})
    xml = b'<?xml version="1.0"?><Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet"/>'
    for content, reason in (
        (encrypted, "is encrypted with a password"),
        (pack_compound({"EncryptedPackage": b"x", "EncryptionInfo": b"y"}), "is encrypted with a password"),
        (pack_compound({"PowerPoint Document": b"x"}), "is no XLS file: it has no workbook"),
        (good[: len(good) // 2], "is damaged: .*it may be cut off"),
        (good[:600], "is damaged: .*it may be cut off"),
        (pack_compound({"Workbook": bof}), "is damaged: .*it may be cut off"),
        (pack_compound({"Workbook": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" * 600}), "is damaged"),
        (make_xls({"One": [[]]}), "has no text"),
        (b"", "is empty"),
        (b"City\tRiver\nUlm\tDanube\n", r"is no XLS file: it is text; .* suffix \.csv or \.tsv"),
        (xml, r"save it as \.xlsx"),
        (b"\x89PNG\r\n\x1a\n\0\0", "does not begin as one does"),
    ):
        with pytest.raises(LoadFailed, match=f"'a/the file.ext' .*{reason}"):
            load(content)


def test_bytes_that_are_changed_anywhere_are_read_or_refused() -> None:
    rows = [["City", "Day", 1.0], ["Ulm", 45322.0, 2.5], ["Köln", 45323.0, 3.0]]
    whole = make_xls({"One": rows, "Two": rows}, formats=[0, _DATE], more=merge((0, 1, 2, 2)))
    random_ = random.Random(7)
    read, reasons = 0, list[str]()
    for _ in range(300):
        content = bytearray(whole)
        for _ in range(random_.choice((1, 2, 8))):
            place = random_.randrange(512, 1600) if random_.random() < 0.9 else random_.randrange(512, len(content))
            content[place] = random_.choice((0, 1, 0x7F, 0xFF, random_.randrange(256)))
        try:
            load(bytes(content))
            read += 1
        except LoadFailed as error:
            reasons.append(str(error))
    assert read > 20
    assert len(reasons) > 20
    assert all(reason.startswith("'a/the file.ext' ") for reason in reasons)
