"""RTF, ODT and DOC: what is text, heading, table and note, what is left out, and which files are refused."""

from typing import Any

import pytest

from core.documents import LOADER_NOTES
from core.errors import LoadFailed
from core.ports.indexing import LoadedDocument
from indexer.loaders import doc, odt, rtf
from indexer.loading.examples import make_doc, pack
from testing.contracts.loader import source_of

_NAMES = "urn:oasis:names:tc:opendocument:xmlns"
_SPACES = " ".join(f'xmlns:{name}="{_NAMES}:{name}:1.0"' for name in ("office", "text", "table", "style"))


def load(module: Any, content: bytes, **options: object) -> LoadedDocument:
    loaded: LoadedDocument = module.build(module.Config(**options), None).load(source_of(content, key="a/the file.ext"))
    return loaded


def text_of(module: Any, content: bytes, **options: object) -> str:
    return "\n".join(load(module, content, **options).pages)


def make_odt(body: str, *, styles: str = "", **parts: str) -> bytes:
    content = (
        f"<office:document-content {_SPACES}><office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:text>{body}</office:text></office:body></office:document-content>"
    )
    return pack({"content.xml": content, **parts})


# --- RTF -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (rb"\ansicpg1251 \'cf\'f0\'e8\'e2\'e5\'f2", "Привет"),
        (rb"{\fonttbl{\f0\fcharset0 A;}{\f1\fcharset161 B;}}\f1\'e1\f0\'e1", "αá"),
        (rb"{\fonttbl{\f1\fcharset128 B;}}\f1\'93\'fa\'96\{", "日本"),
        (rb"\uc1\u8364?5 \uc2\u24456\'a1\'b2\uc0\u32769", "€5 很老"),
        (rb"\u-10179?\u-8704?", "😀"),
        (rb"a\~b\_c\-d\emdash e\tab f", "a b-cd—e\tf"),
        (rb"one {\deleted gone }two{\*\unknown gone}{\pict 00ff}{\header gone}", "one two"),
        (rb"{\field{\*\fldinst HYPERLINK gone}{\fldrslt shown}} {\xe gone}", "shown"),
        (rb"{\shp{\*\shpinst{\sp{\sn gone}{\sv gone}}{\shptxt in a box}}{\shprslt gone}}", "in a box"),
        (rb"a\bin5 {{{{{b", "ab"),
        (rb"one\column two", "one\n\ntwo"),
        (rb"\u1605?\zwnj \u1606?", "\u0645\u200c\u0646"),
        (rb"{\upr{a?b}{\*\ud{a\u24456?b}}} c", "a很b c"),
        (rb"a{\footnote note \u-10179?\u-8704?}", "a\n\nnote 😀"),
        (rb"\ansicpg1251\deff0{\fonttbl{\f0\fcharset0 A;}{\f1\fcharset204 B;}}\f0 caf\'e9 \f1\'e9", "café й"),
    ],
)
def test_characters_and_groups_of_rtf(written: bytes, read: str) -> None:
    assert text_of(rtf, rb"{\rtf1\ansi " + written + rb"\par}").strip() == read


def test_headings_tables_and_notes_of_rtf() -> None:
    content = (
        rb"{\rtf1{\stylesheet{\s0 Normal;}{\s1 heading 1;}{\s2\outlinelevel1 Part;}{\*\cs1 Other;}}"
        rb"{\info{\title Title}{\author Ada}{\creatim\yr2024\mo1\dy31\hr12\min0}}"
        rb"\pard\s1 One\par\pard\s2 Two\par\pard Text{\footnote A note.} on.\par"
        rb"\trowd\pard\intbl City\cell River\par of it\cell\row\pard\intbl Ulm\cell\cell\row\pard After.\par}"
    )
    found = load(rtf, content)
    assert (found.title, found.metadata) == ("Title", {"author": "Ada", "created": "2024-01-31T12:00:00Z"})
    [block] = found.blocks
    assert block.heading == ("One", "Two")
    assert block.text == "Text on.\n\nA note.\n\nCity | River of it\nUlm\n\nAfter.\n"
    assert "note" not in text_of(rtf, content, notes=False)
    assert "Ulm" not in text_of(rtf, content, tables=False)


def test_characters_of_two_units_in_properties_and_packed_pages_of_rtf() -> None:
    assert load(rtf, rb"{\rtf1{\info{\title T \u-10179?\u-8704?x}}text\par}").title == "T 😀x"
    packed = rb"{\rtf1\ansi\fromhtml1 {\*\htmltag64 <p>}Hi \u-10179?\u-8704?x{\*\htmltag64 </p>}}"
    assert text_of(rtf, packed).strip() == "Hi 😀x"


def test_rtf_that_is_cut_off_or_in_a_wrong_code_page_is_read_with_a_note() -> None:
    assert load(rtf, rb"{\rtf1 text").metadata[LOADER_NOTES] == ["the file is cut off: a group of it has no end"]
    found = load(rtf, rb"{\rtf1\ansicpg932 caf\'e9}")
    assert "none of the code page" in found.metadata[LOADER_NOTES][0]
    assert found.blocks[0].text.strip() == "café"


def test_html_that_is_packed_in_rtf_is_read_as_html() -> None:
    packed = (
        rb"{\rtf1\ansi\fromhtml1 {\*\htmltag <html><body><p>}\htmlrtf {\b \htmlrtf0 Hello \u246?\htmlrtf }\htmlrtf0 "
        rb"{\*\htmltag </p><ul><li>}one{\*\htmltag </li></ul>}}"
    )
    assert text_of(rtf, packed).split() == ["Hello", "ö", "-", "one"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [(b"", "is empty"), (b"plain", "is no RTF file"), (rb"{\rtf1" + b"{" * 3000, "nested more than 2,000 deep")],
)
def test_what_is_no_rtf_is_refused(content: bytes, reason: str) -> None:
    with pytest.raises(LoadFailed, match=f"'a/the file.ext' .*{reason}"):
        load(rtf, content)


# --- ODT -------------------------------------------------------------------------------------------------------------


def test_headings_lists_tables_and_notes_of_odt() -> None:
    body = (
        "<text:tracked-changes><text:changed-region><text:deletion><text:p>gone</text:p></text:deletion>"
        '</text:changed-region></text:tracked-changes><text:p text:style-name="P1">The title</text:p>'
        '<text:h text:outline-level="1">One</text:h><text:h text:outline-level="2">Two</text:h>'
        '<text:p>a<text:s text:c="2"/>b\n   c<text:tab/><text:span>d</text:span><text:line-break/>e'
        "<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>A note.</text:p>"
        "</text:note-body></text:note></text:p><text:list><text:list-item><text:p>item</text:p></text:list-item>"
        "</text:list><table:table><table:table-header-rows><table:table-row><table:table-cell><text:p>City</text:p>"
        '</table:table-cell><table:table-cell table:number-columns-repeated="999999999"><text:p>x</text:p>'
        "</table:table-cell></table:table-row></table:table-header-rows><table:table-row><table:table-cell><text:p>Ulm"
        "</text:p><text:p>old</text:p></table:table-cell></table:table-row></table:table>"
    )
    content = make_odt(body, styles='<style:style style:name="P1" style:parent-style-name="Title"/>')
    found = load(odt, content)
    assert found.title == "The title"
    assert found.blocks[-1].heading == ("One", "Two")
    text = found.blocks[-1].text
    assert text.startswith("a  b c\td\ne\n\nA note.\n\nitem\n\nCity | x | x")
    assert text.endswith("| x\nUlm old\n")
    assert text.count("x") == 64
    assert "gone" not in "".join(found.pages)


def test_odt_that_cannot_be_read_is_refused_with_the_reason() -> None:
    manifest = "<manifest><encryption-data/></manifest>"
    with pytest.raises(LoadFailed, match="encrypted with a password"):
        load(odt, make_odt("<text:p>x</text:p>", **{"META-INF/manifest.xml": manifest}))
    with pytest.raises(LoadFailed, match="has no text document"):
        load(odt, pack({"content.xml": "<a/>"}))
    with pytest.raises(LoadFailed, match="defines a document type or entities"):
        load(odt, pack({"content.xml": "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>"}))
    old = make_odt("<text:p>x</text:p>", **{"META-INF/manifest.xml": "<!DOCTYPE a SYSTEM 'Manifest.dtd'><a/>"})
    assert text_of(odt, old).strip() == "x"


# --- DOC -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("One\rTwo\x0bthree\rpage\x0cnext\r", "One\n\nTwo\nthree\n\npage\n\nnext\n"),
        ("a \x13 HYPERLINK gone \x14shown\x15 b\r", "a shown b\n"),
        ("a\x13gone\x13gone\x14gone\x15gone\x14 shown\x15 b\x14\x15\r", "a shown b\n"),
        ("\x13 TOC \x14one\x13 PAGEREF \x142\x15\rtwo\x15\r", "one2\n\ntwo\n"),
        ("a\x07b c\x07\rafter\r", "a | b c\n\nafter\n"),
        ("no\x1ebreak op\x1ftional 😀\x01\x08\r", "no-break optional 😀\n"),
    ],
)
def test_characters_and_fields_of_doc(written: str, read: str) -> None:
    assert text_of(doc, make_doc(written)) == read


def test_doc_that_is_rtf_or_docx_is_read_as_such() -> None:
    from indexer.loaders import docx

    assert text_of(doc, rtf.EXAMPLE) == text_of(rtf, rtf.EXAMPLE)
    assert text_of(doc, docx.EXAMPLE) == text_of(docx, docx.EXAMPLE)


ORDER = b"\x02\x10\0\0\0\0\0\0\0\2"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is empty"),
        (b"plain", "is no DOC file"),
        (make_doc("x\r", flags=0x0100), "encrypted with a password"),
        (make_doc("x\r", version=101), "Word 95 or older; save it as DOCX"),
        (make_doc("x\r")[:700], "is damaged"),
        (make_doc("x\r").replace(ORDER, ORDER.replace(b"\0\0\0\0\0\0\0\2", b"\0\0\0\5\0\0\0\2")), "order"),
        (make_doc(""), "has no text"),
    ],
)
def test_doc_that_cannot_be_read_is_refused_with_the_reason(content: bytes, reason: str) -> None:
    with pytest.raises(LoadFailed, match=f"'a/the file.ext' .*{reason}"):
        load(doc, content)


def test_each_cut_of_a_doc_is_refused_or_read() -> None:
    """Nothing but `LoadFailed` comes out of a file that ends anywhere."""
    whole = make_doc("Some text of a letter.\r" * 50)
    outcomes = set()
    for end in range(0, len(whole), 211):
        try:
            load(doc, whole[:end])
            outcomes.add("read")
        except LoadFailed:
            outcomes.add("refused")
    assert "refused" in outcomes


def test_tables_in_repeated_cells_are_bounded() -> None:
    inner = "<text:p>abcdefgh</text:p>"
    for _ in range(4):
        cell = f'<table:table-cell table:number-columns-repeated="64">{inner}</table:table-cell>'
        inner = f"<table:table><table:table-row>{cell}</table:table-row></table:table>"
    assert len(text_of(odt, make_odt(inner))) < 100_000
