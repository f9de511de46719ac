"""What each loader makes of its own kind of content."""

import codecs
from pathlib import Path

import pytest

from core.documents import loader_notes
from core.errors import LoadFailed, UnsupportedMedia
from core.graph import Triple
from core.ports.indexing import LoadedDocument, Source
from indexer.selection.loaders import Loaders, loader_for, media_type_of, media_type_of_file
from testing.contracts.loader import source_of

TEXT, MARKDOWN, JSON = "text/plain", "text/markdown", "application/vnd.hopweave.document+json"


def load(media_type: str, content: str | bytes, *, key: str = "a/b.c.ext", title: str | None = None) -> LoadedDocument:
    raw = content.encode() if isinstance(content, str) else content
    return loader_for(media_type).load(source_of(raw, key=key, title=title))


def sections(document: LoadedDocument, text: str) -> list[tuple[tuple[str, ...], str]]:
    """Heading path and text of each block, having checked that it stands where it says."""
    for block in document.blocks:
        assert block.start is not None
        assert text[block.start : block.start + len(block.text)] == block.text
    return [(block.heading, block.text.strip()) for block in document.blocks]


# --- which loader ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("path", "expected"), [("x/y.TXT", TEXT), ("y.markdown", MARKDOWN), ("y.json", JSON)])
def test_the_suffix_gives_the_media_type(path: str, expected: str) -> None:
    assert media_type_of(path) == expected


@pytest.mark.parametrize(("path", "named"), [("x.docy", r"\.docy files"), ("Makefile", "files without a suffix")])
def test_an_unknown_suffix_is_refused_with_one_of_each_loader(path: str, named: str) -> None:
    with pytest.raises(UnsupportedMedia, match=rf"no loader reads {named}; there are loaders for \.csv, .*\.md, "):
        media_type_of(path)


@pytest.mark.parametrize("name", ["GPL-2.0", "Apache-2.0", "mount.8", "README"])
def test_a_number_is_no_suffix(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("Größe")
    assert media_type_of_file(tmp_path / name, name) == TEXT


def test_parameters_and_case_of_a_media_type_do_not_matter() -> None:
    assert load("Text/Plain; charset=utf-8", "x").blocks[0].text == "x"
    with pytest.raises(UnsupportedMedia, match="image/png"):
        loader_for("image/png")


# --- text ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_text_in_any_script_with_or_without_a_mark(encoding: str) -> None:
    text = "Straße\r\nмир 世界 القاهرة"
    document = load(TEXT, text.encode(encoding))
    assert (document.title, document.blocks[0].text, document.blocks[0].start) == ("b.c", text, 0)


@pytest.mark.parametrize(("mark", "offset"), [("", 6), (codecs.BOM_UTF8.decode(), 9)])
def test_broken_utf8_is_refused_with_the_offset_and_the_remedy(mark: str, offset: int) -> None:
    with pytest.raises(LoadFailed, match=f"not UTF-8 text: byte 0xdf at offset {offset} .*save the file as UTF-8"):
        load(TEXT, (mark + "мир").encode() + b"\xdfe")


def test_a_zero_byte_is_not_text() -> None:
    with pytest.raises(LoadFailed, match="zero byte at character 1"):
        load(TEXT, b"a\0b")


# --- markdown --------------------------------------------------------------------------------------------------------


def test_headings_of_both_kinds_make_the_path() -> None:
    text = "Before.\n\n# The *Title*\n\nIntro.\n\nHistory\n-------\nOld.\n\n"
    text += "### Very `old` [link](x)\n\nOlder.\n\n## 现在 ##\nNew.\r\n"
    document = load(MARKDOWN, text)
    assert document.title == "The Title"
    headed = [(("History",), "Old."), (("History", "Very old link"), "Older."), (("现在",), "New.")]
    assert sections(document, text) == [((), "Before."), ((), "Intro."), *headed]


def test_fences_quotations_and_lists_hold_no_headings() -> None:
    text = "# T\n```sh\n# not a heading\n```\n~~~\n## nor this\n~~~\n> # quoted\n\n- # listed\n\n    # indented code\n"
    [(path, body)] = sections(load(MARKDOWN, text), text)
    assert path == ()
    assert body.startswith("```sh\n# not a heading")
    assert body.endswith("# indented code")


def test_the_title_stays_in_the_path_where_the_sender_gives_another() -> None:
    text = "# Own\n\n## Part\n\nText."
    assert sections(load(MARKDOWN, text, title="Given"), text) == [(("Own", "Part"), "Text.")]
    assert load(MARKDOWN, "## Only second level\n\nText.").title == "b.c"


def test_a_heading_with_nothing_below_begins_the_next_text() -> None:
    text = "# T\n\n## Empty\n\n## Parent\n\n### Child\n\nText.\n\n## Last"
    assert sections(load(MARKDOWN, text), text) == [
        (("Parent", "Child"), "## Empty\n\n## Parent\n\n### Child\n\nText."),
        ((), "## Last"),
    ]
    text = "# T\n\n# First\n\nText."
    assert sections(load(MARKDOWN, text), text) == [(("First",), "Text.")], "the title precedes every passage"
    assert sections(load(MARKDOWN, "# T"), "# T") == [((), "# T")]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_front_matter_is_no_text(end: str) -> None:
    text = end.join(["---", "title: T", "tags: [a]", "---", "# T", "", "Text."])
    document = load(MARKDOWN, text)
    assert sections(document, text) == [((), "Text.")]
    assert (document.title, document.metadata) == ("T", {"title": "T", "tags": ["a"]})


@pytest.mark.parametrize(
    "text", ["---\n\nA rule.\n\n---\n\nMore.", "---\nkey: value\nnever closed", "----\na: b\n---\n"]
)
def test_what_only_looks_like_front_matter_is_text(text: str) -> None:
    assert "".join(body for _, body in sections(load(MARKDOWN, text), text)).startswith("---")


# --- JSON documents --------------------------------------------------------------------------------------------------


def test_a_json_document_with_chunks() -> None:
    one = '{"text": "One.", "page": 3, "entities": ["One"], "triples": [["a", "", "c"], ["x", "y", "z"]]}'
    given = '"entities": ["Köln", " "], "triples": [["Köln", "in", "Germany"], ["a", "b"]]'
    chunks = f'"chunks": [{one}, {{"text": "二。", "page": null}}]'
    document = load(JSON, f'{{"title": " Köln \\n Dom ", {given}, {chunks}, "other": 1}}')
    assert (document.title, document.entities, document.malformed) == ("Köln Dom", ("Köln",), 2)
    assert document.triples == (Triple(subject="Köln", predicate="in", object="Germany"),)
    first, second = document.blocks
    assert (first.text, first.page, first.start, first.entities) == ("One.", 3, None, ("One",))
    assert first.triples == (Triple(subject="x", predicate="y", object="z"),)
    assert (second.text, second.page) == ("二。", None)
    assert load(JSON, '{"text": "x"}').title == ""


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("[]", "a document is a JSON object, not a list"),
        ('{"text": 5}', "`text` must be a string, not a number"),
        ('{"title": "T"}', "either `text` or `chunks`; this one has neither"),
        ('{"text": "", "chunks": []}', "this one has both"),
        ('{"chunks": {}}', "`chunks` must be a list, not an object"),
        ('{"chunks": ["x"]}', r"`chunks\[0\]` must be an object, not a string"),
        ('{"chunks": [{"text": "x"}, {"page": 1}]}', r"`chunks\[1\]\.text` is missing"),
        ('{"chunks": [{"text": "x", "page": true}]}', r"`chunks\[0\]\.page` must be a whole number"),
        ('{"chunks": [{"text": "x", "page": -1}]}', r"`chunks\[0\]\.page` must be a page number"),
        ('{"text": "", "entities": ["a", 1]}', r"`entities\[1\]` must be a string"),
        ('{"text": "", "triples": "abc"}', "`triples` must be a list, not a string"),
        ('{"text": "", "metadata": []}', "`metadata` must be an object"),
        ('{"text": "", "metadata": {"a": NaN}}', "NaN is not a JSON value"),
        ('{"text": "\\ud800"}', "`text` holds half of a surrogate pair"),
        ('{"text": "", "triples": [["a", "b", "\\ud800"]]}', r"`triples\[0\]\[2\]` holds half of a surrogate pair"),
        ('{"text": ', "not valid JSON: .* at character 9"),
        ("[" * 100_000, "nested too deeply"),
        ("1" * 10_000, "not usable JSON"),
    ],
)
def test_a_wrong_json_document_is_refused_with_its_place(content: str, named: str) -> None:
    with pytest.raises(LoadFailed, match=f"'a/b.c.ext'.*{named}"):
        load(JSON, content)


@pytest.mark.parametrize(("comment", "is_noted"), [(40_000, True), (10_000, False)])
def test_a_large_file_of_almost_no_text_has_a_note(comment: int, is_noted: bool) -> None:
    page = b'.TH A 1\n.\\" ' + b"x" * comment + b"\n.SH NAME\nkept\n"
    source = Source(key="a.1", content=page, media_type=TEXT, title=None, metadata={})
    document = Loaders().load(source)
    assert any("almost no text was found" in note for note in loader_notes(document.metadata)) == is_noted


def test_an_info_file_is_read_without_its_signs() -> None:
    content = b"This is a.info.\n\x1f\nFile: a.info,  Node: Top\n\x00\x08[index\x00\x08]\n* Menu:\n\x1f\nTag Table\n"
    text = load(TEXT, content, key="a.info").pages[0]
    assert text.split() == ["This", "is", "a.info.", "File:", "a.info,", "Node:", "Top", "*", "Menu:", "Tag", "Table"]
    with pytest.raises(LoadFailed, match="zero byte"):
        load(TEXT, content, key="a.txt")
