"""What loaders bound: names of columns, gaps in rows, headers of mails, lines with headings."""

import pytest

from core.errors import LoadFailed
from core.ports.indexing import LoadedDocument, Source
from indexer.loading.texts import markdown
from indexer.selection.loaders import module_of
from tests.hostile_files import make_workbook


def _load(content: bytes, media_type: str) -> LoadedDocument:
    source = Source(key="a", content=content, media_type=media_type, title=None, metadata={})
    module = module_of(media_type)  # without its process
    loaded: LoadedDocument = module.build(module.Config(), None).load(source)
    return loaded


def _load_sheet(rows: str) -> str:
    media_type = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    return "\n".join(block.text for block in _load(make_workbook(f"<sheetData>{rows}</sheetData>"), media_type).blocks)


def _cell(place: str, value: str) -> str:
    return f'<c r="{place}" t="str"><v>{value}</v></c>'


def test_a_first_row_of_long_texts_names_no_columns() -> None:
    text = _load(f"{'x' * 201},b\none,two\n".encode(), "text/csv").pages[0]
    assert "column 1: one; column 2: two" in text
    text = _load(f"{'x' * 200},b\none,two\n".encode(), "text/csv").pages[0]
    assert f"{'x' * 200}: one; b: two" in text


def test_a_table_whose_names_make_it_many_times_longer_is_refused() -> None:
    names = b",".join(b"%0200d" % n for n in range(1, 3)).replace(b"0", b"x")
    with pytest.raises(LoadFailed, match=r"'a' is refused: its rows.*more than 20 times the size of the file"):
        _load(names + b"\n" + b"1,2\n" * 60_000, "text/csv")


def test_long_gaps_between_cells_are_short_in_the_text() -> None:
    assert _load_sheet(f"<row>{_cell('A1', 'one')}{_cell('D1', 'four')}</row>").count(" |") <= 3
    gap = _load_sheet(f"<row>{_cell('A1', 'one')}</row><row r='2'>{_cell('A2', '5')}{_cell('XFD2', 'last')}</row>")
    assert "last" in gap
    assert len(gap) < 1000
    rows = f"<row r='1'>{_cell('A1', 'city')}{_cell('XFD1', 'river')}</row>"
    rows += f"<row r='2'>{_cell('A2', 'Ulm')}{_cell('C2', 'x')}{_cell('XFD2', 'Danube')}</row>"
    named = _load_sheet(rows)
    assert "city: Ulm" in named
    assert "river: Danube" in named, "a value far to the right has the name of its column"


def test_a_long_header_of_a_mail_is_cut() -> None:
    loaded = _load(b"From: a@example.org\r\nSubject: " + b"word " * 100_000 + b"\r\n\r\nThe body.", "message/rfc822")
    assert "The body." in loaded.blocks[0].text
    assert loaded.title.startswith("word word")


def test_headings_are_found_in_the_first_lines_and_no_text_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(markdown, "_MOST_LINES", 2_000)
    text = "# One\n" + "text\n" * 2_000 + "# Two\n\nlast"
    assert [heading.title for heading in markdown.find_headings(text)] == ["One"]
    assert "last" in _load(text.encode(), "text/markdown").blocks[-1].text
