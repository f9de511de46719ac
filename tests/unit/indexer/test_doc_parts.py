"""Word files of 1997 to 2003: fields, notes, properties and pieces, and what is read where a part is damaged."""

import random
import struct
from collections.abc import Mapping, Sequence

import pytest

from core.errors import LoadFailed
from core.ports.indexing import LoadedDocument
from indexer.loaders import doc
from indexer.loading.examples import make_doc, pack_compound
from testing.contracts.loader import source_of

_TEXT = 1536
"""The offset of the text in the stream."""
_STYLES, _CHPX, _PAPX, _CLX = 1, 12, 13, 33
_NOTES, _NOTE_TEXTS, _ENDNOTES, _ENDNOTE_TEXTS = 2, 3, 46, 47
Runs = Sequence[tuple[int, int, bytes]]
"""From and to which character of the text properties hold, and their bytes."""


def make_word(
    text: str,
    *,
    lengths: Mapping[int, int] = {},
    paragraphs: Runs = (),
    characters: Runs = (),
    parts: Mapping[int, bytes] = {},
    pieces: Sequence[tuple[bytes, bool]] = (),
) -> bytes:
    """Returns a Word file. `lengths` are the ones of the parts behind the body by their numbers: 1 footnotes, 5
    endnotes, 6 text boxes. `parts` are of the table stream, by index. `pieces` have the bytes of the text, and whether
    a character is a byte; without them, the text is one piece in UTF-16.
    """
    main = bytearray(_TEXT)
    body = len(text) - sum(lengths.values())
    struct.pack_into("<HH6xH", main, 0, 0xA5EC, 0xC1, 0)
    for number, length in {0: body, **lengths}.items():
        struct.pack_into("<i", main, 76 + 4 * number, length)
    bounds, places = [0], []
    for raw, is_bytes in pieces or [(text.encode("utf-16-le"), False)]:
        bounds.append(bounds[-1] + len(raw) // (1 if is_bytes else 2))
        places.append(2 * len(main) | 0x40000000 if is_bytes else len(main))
        main += raw
    table = struct.pack(f"<{len(bounds)}I", *bounds)
    table += b"".join(struct.pack("<HIH", 0, place, 0) for place in places)
    written = {_CLX: b"\x02" + struct.pack("<I", len(table)) + table}
    for index, runs, width in ((_PAPX, paragraphs, 13), (_CHPX, characters, 1)):
        if runs:
            main += bytes(-len(main) % 512)
            written[index] = struct.pack("<III", _TEXT, _TEXT + 2 * len(text), len(main) // 512)
            main += _make_page(runs, width)
    stream = b""
    for index, content in {**written, **parts}.items():
        struct.pack_into("<II", main, 154 + 8 * index, len(stream), len(content))
        stream += content
    return pack_compound({"WordDocument": bytes(main).ljust(4096, b"\0"), "0Table": stream})


def _make_page(runs: Runs, width: int) -> bytes:
    """Returns a page of properties (FKP): offsets, places of the properties by words, and these from the end on."""
    page, at = bytearray(512), 511
    page[511] = len(runs)
    for n, (start, stop, properties) in enumerate(runs):
        struct.pack_into("<II", page, 4 * n, _TEXT + 2 * start, _TEXT + 2 * stop)
        size = len(properties)
        own = bytes((size,)) + properties if width == 1 else bytes((size // 2 + 1,)) + properties + bytes(1 - size % 2)
        at = (at - len(own)) // 2 * 2
        page[at : at + len(own)] = own
        page[4 * (len(runs) + 1) + width * n] = at // 2
    return bytes(page)


def make_style(sti: int, base: int = 0xFFF) -> bytes:
    return struct.pack("<HHHHH", sti, base << 4, 0, 0, 0)


def make_sheet(*styles: bytes) -> bytes:
    head = struct.pack("<HH", len(styles), 10)
    return struct.pack("<H", len(head)) + head + b"".join(struct.pack("<H", len(one)) + one for one in styles)


def make_notes(references: Sequence[int], bounds: Sequence[int]) -> tuple[bytes, bytes]:
    where = struct.pack(f"<{len(references) + 1}I", *references, 9999) + bytes(2 * len(references))
    return where, struct.pack(f"<{len(bounds)}I", *bounds)


def load(content: bytes, **options: bool) -> LoadedDocument:
    return doc.build(doc.Config(**options), None).load(source_of(content, key="a/letter.doc"))


def text_of(content: bytes, **options: bool) -> str:
    return load(content, **options).pages[0].strip()


# --- fields ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ('See \x13 HYPERLINK "http://x" \x14the plan\x15.\r', "See the plan."),
        ("\x13 PAGE \x15of it\r", "of it"),
        ("\x13 IF \x13 REF a \x14 1\x15 = 1 \x14yes\x15 it is\r", "yes it is"),
        ("\x13 TOC \x14One\t1\rTwo\t2\r\x15After\r", "One\t1\n\nTwo\t2\n\nAfter"),
        ("\x13 code\rover lines\r\x14result\x15 end\r", "result end"),
        ("a\x15b\x14c\r", "abc"),
        ("Before \x13 REF x\rThe next.\rThe last.\r", "Before  REF x\n\nThe next.\n\nThe last."),
        ("\x13 A \x14shown\r\x13 B \x14 and\x15 more\rend\r", "shown\n\nand more\n\nend"),
        ("\x13" * 3000 + "text\r", "text"),
    ],
)
def test_of_a_field_the_result_is_read_and_one_without_end_hides_nothing(written: str, read: str) -> None:
    assert text_of(make_doc(written)) == read


# --- properties, notes and pieces ------------------------------------------------------------------------------------


def test_headings_by_style_by_base_and_by_outline_level() -> None:
    text = "Plan\rPart\rBelow\rSaid.\r"
    sheet = make_sheet(make_style(0), make_style(1), make_style(0x0FFE, 1), make_style(0x0FFE, 3))
    level = struct.pack("<HB", 0x2640, 1)
    runs = [(0, 5, struct.pack("<H", 1)), (5, 10, struct.pack("<H", 2)), (10, 16, struct.pack("<H", 3) + level)]
    document = load(make_word(text, parts={_STYLES: sheet}, paragraphs=[*runs, (16, 22, struct.pack("<H", 0))]))
    assert [(block.heading, block.text.strip()) for block in document.blocks][-1] == (("Part", "Below"), "Said.")


def test_rows_of_a_table_and_what_was_deleted_in_it() -> None:
    text = "Name\x07Rate\x07\x07Bo\x07290 345\x07\x07after\r"
    row = struct.pack("<HHBHB", 0, 0x2416, 1, 0x2417, 1)
    cell = struct.pack("<HHB", 0, 0x2416, 1)
    ends = [n for n, character in enumerate(text) if character in "\x07\r"]
    kinds = [cell, cell, row, cell, cell, row, struct.pack("<H", 0)]
    runs = [(start + 1, end + 1, kind) for start, end, kind in zip([-1, *ends], ends, kinds, strict=False)]
    at = text.index("290 ")
    deleted = [(at, at + 4, struct.pack("<HB", 0x0800, 1))]
    content = make_word(text, paragraphs=runs, characters=deleted)
    assert text_of(content) == "Name | Rate\nBo | 345\n\nafter"
    assert text_of(content, tables=False) == "after"


def test_notes_follow_their_paragraphs_and_text_boxes_the_body() -> None:
    body, footnotes = "One\x02 here.\rTwo\x02 there.\r", "\x02 First.\r"
    endnotes, boxes = "\x02 Second.\r", "In a box.\r"
    where, bounds = make_notes([3], [0, len(footnotes)])
    where_end, bounds_end = make_notes([body.index("Two") + 3], [0, len(endnotes)])
    parts = {_NOTES: where, _NOTE_TEXTS: bounds, _ENDNOTES: where_end, _ENDNOTE_TEXTS: bounds_end}
    lengths = {1: len(footnotes), 5: len(endnotes), 6: len(boxes)}
    content = make_word(body + footnotes + endnotes + boxes, lengths=lengths, parts=parts)
    assert text_of(content) == "One here.\n\nFirst.\n\nTwo there.\n\nSecond.\n\nIn a box."
    assert text_of(content, notes=False) == "One here.\n\nTwo there.\n\nIn a box."


def test_a_note_whose_text_is_stated_twice_is_read_once() -> None:
    body, note = "One\x02 here.\rTwo\x02 there.\r", "\x02 First.\r"
    where, bounds = make_notes([3, 5, body.index("Two") + 3], [0, len(note), 0, len(note)])
    content = make_word(body + note, lengths={1: len(note)}, parts={_NOTES: where, _NOTE_TEXTS: bounds})
    assert text_of(content) == "One here.\n\nFirst.\n\nTwo there."


def test_a_file_that_was_saved_fast_is_read_in_the_order_of_its_pieces() -> None:
    pieces = [("Grüße\r".encode("cp1252"), True), ("很老\r".encode("utf-16-le"), False), (b"\x80 5\r", True)]
    assert text_of(make_word("Grüße\r很老\r€ 5\r", pieces=pieces)) == "Grüße\n\n很老\n\n€ 5"


# --- damaged parts ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("index", [_STYLES, _CHPX, _PAPX, _NOTES, _NOTE_TEXTS, _ENDNOTES, _ENDNOTE_TEXTS])
@pytest.mark.parametrize(
    "part", [b"", b"\xff" * 3, b"\xff" * 400, bytes(400), struct.pack("<4I", 5, 4, 3, 2), bytes(range(256))]
)
def test_a_damaged_part_beside_the_text_costs_no_word(index: int, part: bytes) -> None:
    body, note = "One\x02 here.\rTwo there.\r", "\x02 First.\r"
    where, bounds = make_notes([3], [0, len(note)])
    parts = {_NOTES: where, _NOTE_TEXTS: bounds, index: part}
    text = text_of(make_word(body + note, lengths={1: len(note)}, parts=parts))
    assert [line for line in text.split("\n") if line and line != "First."] == ["One here.", "Two there."]


@pytest.mark.parametrize(
    ("clx", "reason"),
    [
        (b"", "it has no table of the pieces of its text"),
        (b"\x01\xff\xff", "it has no table of the pieces of its text"),
        (b"\x02\xff", "a part of it is cut off"),
        (b"\x02" + struct.pack("<IIIHIH", 16, 0, 9_000_000, 0, 9_000_000, 0), "a piece of its text is cut off"),
        (b"\x02" + struct.pack("<IIIIHIHHIH", 28, 0, 5, 3, 0, _TEXT, 0, 0, _TEXT, 0), "the pieces .* are not in order"),
        (b"\x02" + struct.pack("<IIIHIH", 16, 3, 9, 0, _TEXT, 0), "the pieces of its text are not in order"),
    ],
)
def test_a_file_whose_pieces_are_damaged_is_refused_with_the_reason(clx: bytes, reason: str) -> None:
    with pytest.raises(LoadFailed, match=f"'a/letter.doc' is damaged: ({reason})"):
        load(make_word("One here.\r" * 200, parts={_CLX: clx}))


def test_pages_of_properties_that_are_damaged_are_left_out() -> None:
    whole = make_word("Plan\rSaid.\r", paragraphs=[(0, 5, struct.pack("<H", 1)), (5, 11, struct.pack("<H", 0))])
    page = _make_page([(0, 5, struct.pack("<H", 1)), (5, 11, struct.pack("<H", 0))], 13)
    assert load(whole).title == "Plan"
    for broken in (bytes((255,)) * 512, page[:511] + b"\xff", page[:12] + b"\xff" + page[13:]):
        assert text_of(whole.replace(page, broken)).split() == ["Plan", "Said."]


def test_styles_that_are_based_on_one_another_have_no_level() -> None:
    sheet = make_sheet(make_style(0x0FFE, 1), make_style(0x0FFE, 0))
    content = make_word("Plan\r", parts={_STYLES: sheet}, paragraphs=[(0, 5, struct.pack("<H", 0))])
    assert [block.heading for block in load(content).blocks] == [()]


def test_bytes_that_are_changed_anywhere_are_read_or_refused() -> None:
    body, note = "One\x02 here \x13 REF \x14there\x15.\rTwo\x07cells\x07\x07", "\x02 First.\r"
    where, bounds = make_notes([3], [0, len(note)])
    sheet = make_sheet(make_style(0), make_style(1), make_style(2, 1))
    runs = [(0, 20, struct.pack("<H", 1)), (20, 40, struct.pack("<HHBHB", 2, 0x2416, 1, 0x2417, 1))]
    parts = {_NOTES: where, _NOTE_TEXTS: bounds, _STYLES: sheet}
    marks = [(3, 5, struct.pack("<HB", 0x0800, 1))]
    whole = make_word(body + note, lengths={1: len(note)}, paragraphs=runs, characters=marks, parts=parts)
    random_ = random.Random(7)
    read, reasons = 0, list[str]()
    for _ in range(1500):
        content = bytearray(whole)
        for _ in range(random_.choice((1, 2, 8))):
            content[random_.randrange(512, len(content))] = random_.choice((0, 1, 0x7F, 0xFF, random_.randrange(256)))
        try:
            load(bytes(content))
            read += 1
        except LoadFailed as error:
            reasons.append(str(error))
    assert read > 50
    assert len(reasons) > 50
    assert all(reason.startswith("'a/letter.doc' ") for reason in reasons)
