"""Drawing a page of a PDF as an image in PNG, with the words of a text highlighted. Runs in the parser process.

First come PNG files of pixels in red, green and blue, and the words of a text on a page, although page and loaded text
differ in their characters.
"""

import ctypes
import math
import struct
import unicodedata
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from core.errors import LoadFailed
from indexer.loading.pdf.properties import open_pdf

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_RGB_OF_8_BITS = (8, 2, 0, 0, 0)
_NO_FILTER = b"\x00"


def _write_png(width: int, height: int, rows: Iterable[bytes | bytearray]) -> bytes:
    """Returns the file. A row has three bytes for each pixel; there are `height` rows, from the top."""
    packer = zlib.compressobj(6)
    packed = [packer.compress(_NO_FILTER + row) for row in rows]
    return b"".join(
        [
            _SIGNATURE,
            _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, *_RGB_OF_8_BITS)),
            _chunk(b"IDAT", b"".join(packed) + packer.flush()),
            _chunk(b"IEND", b""),
        ]
    )


def is_png(content: bytes) -> bool:
    """Returns whether a file begins and ends as PNG files do."""
    return content.startswith(_SIGNATURE) and content.endswith(_chunk(b"IEND", b""))


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


_MIN_LETTERS = 8
_MIN_IDEOGRAPHS = 3
_FIRST_IDEOGRAPH = "\u2e80"
_TRIES = 50


@dataclass
class Letters:
    """The letters and digits of a text, normalised.

    `places` has for each of them the place of its character in the text, and `starts` whether a word begins with it.
    """

    places: list[int] = field(default_factory=list)
    starts: list[bool] = field(default_factory=list)
    text: str = ""

    @classmethod
    def of(cls, characters: Iterable[tuple[int, str]]) -> "Letters":
        """Takes characters with their places."""
        letters, found, is_start = cls(), list[str](), True
        for place, character in characters:
            plain = [one for one in unicodedata.normalize("NFKD", character).casefold() if one.isalnum()]
            for one in plain:
                found.append(one)
                letters.places.append(place)
                letters.starts.append(is_start or _is_ideograph(one))
                is_start = False
            if not plain:
                is_start = is_start or not unicodedata.category(character).startswith("M")
        letters.text = "".join(found)
        return letters

    def is_end(self, at: int) -> bool:
        """Whether a word ends before the letter `at`."""
        return at >= len(self.starts) or self.starts[at]


@dataclass(frozen=True, kw_only=True)
class Piece:
    """Letters of the mark from `start` to `end` that stand on the page from its letter `place` on."""

    start: int
    end: int
    place: int


def find_pieces(mark: Letters, page: Letters) -> Iterator[Piece]:
    """Yields the longest pieces of the mark that the page has, in the order of the mark.

    A piece consists of whole words. Unless it is the whole mark, it has at least eight letters, or three ideographs.
    """
    at = near = 0
    while at < len(mark.text):
        piece = _find_longest(mark, at, page, near)
        if piece is None:
            at += 1
            while at < len(mark.text) and not mark.starts[at]:
                at += 1
            continue
        yield piece
        at, near = piece.end, piece.place + piece.end - piece.start


def _find_longest(mark: Letters, at: int, page: Letters, near: int) -> Piece | None:
    """Returns the longest piece that begins at `at`. Of several places, the first place after `near` is taken."""
    low, high = 0, len(mark.text) - at
    if mark.text[at:] in page.text:
        low = high
    while low < high:
        middle = (low + high + 1) // 2
        if mark.text[at : at + middle] in page.text:
            low = middle
        else:
            high = middle - 1
        if high < _MIN_IDEOGRAPHS and high < len(mark.text):
            return None
    end = at + low
    while end > at and not mark.is_end(end):
        end -= 1
    piece = mark.text[at:end]
    if not piece or not (_is_long(piece) or len(piece) == len(mark.text)):
        return None
    place = _find_words(piece, page, near)
    return None if place is None else Piece(start=at, end=end, place=place)


def _find_words(piece: str, page: Letters, near: int) -> int | None:
    """Returns the place of a piece where words begin and end. Pages without spaces have it anywhere."""
    for begin in (near, 0):
        place = page.text.find(piece, begin)
        for _ in range(_TRIES):
            if place < 0:
                break
            if page.starts[place] and page.is_end(place + len(piece)):
                return place
            place = page.text.find(piece, place + 1)
    anywhere = page.text.find(piece, near)
    anywhere = anywhere if anywhere >= 0 else page.text.find(piece)
    return anywhere if anywhere >= 0 and _is_long(piece) else None


def _is_long(piece: str) -> bool:
    return len(piece) >= _MIN_LETTERS or sum(map(_is_ideograph, piece)) >= _MIN_IDEOGRAPHS


def _is_ideograph(character: str) -> bool:
    """Whether a character belongs to a script that puts no spaces between words."""
    return character >= _FIRST_IDEOGRAPH


if TYPE_CHECKING:
    from pypdfium2 import PdfBitmap, PdfDocument, PdfPage, PdfTextPage

_MAX_PIXELS = 8_000_000
_MAX_SIDE = 8_000
_MAX_CHARACTERS = 200_000
_JOINED = 1.5
"""Heights of a character: boxes of one line that are nearer than this are joined."""

_ON_LIGHT = (255, 224, 102)
_ON_DARK = (120, 92, 0)
"""Red, green, blue. A mark makes no point of a light page lighter than this, and no point of a dark page darker: the
characters stay as they are, and marks that overlap look like one mark."""

_CLOSING = frozenset(".!?\u2026\u3002\uff0e\uff01\uff1f\uff61\u061f\u06d4\u0964\u2019\u201d\u00bb")

_Box = tuple[int, int, int, int]
"""Left, top, right and bottom, in pixels."""


@dataclass(frozen=True, kw_only=True)
class DrawnPage:
    """`png` is empty if the document, which has `pages`, has no such page. `marked` counts characters of the mark."""

    pages: int
    png: bytes = b""
    marked: int = 0


def draw_page(key: str, content: bytes, number: int, *, width: int, mark: str) -> DrawnPage:
    """Draws page `number`, counted from 1, `width` pixels wide, or less if it has too many pixels then.

    Raises `LoadFailed`, which names the document by its key.
    """
    document = open_pdf(key, content)
    try:
        pages = len(document)
        if not 1 <= number <= pages:
            return DrawnPage(pages=pages)
        png, marked = _draw(document, key, number, width, mark)
        return DrawnPage(pages=pages, png=png, marked=marked)
    finally:
        document.close()


def _draw(document: "PdfDocument", key: str, number: int, width: int, mark: str) -> tuple[bytes, int]:
    from pypdfium2 import PdfiumError

    try:
        document.init_forms()
        page = document[number - 1]
        bitmap = page.render(scale=_scale(page, key, number, width), rev_byteorder=True)
        boxes, marked = _find_boxes(page, bitmap, mark)
    except PdfiumError as error:
        raise LoadFailed(f"{key!r} is damaged: its page {number} cannot be drawn") from error
    size, stride = 3 * bitmap.width, bitmap.stride
    pixels = memoryview(bitmap.buffer).cast("B")
    rows = [bytearray(pixels[start : start + size]) for start in range(0, stride * bitmap.height, stride)]
    for box in boxes:
        _highlight(rows, box)
    return _write_png(bitmap.width, bitmap.height, rows), marked


def _scale(page: "PdfPage", key: str, number: int, width: int) -> float:
    """Returns the pixels of a point. Raises `LoadFailed` if the page has no size."""
    across, down = map(float, page.get_size())
    if not (math.isfinite(across) and math.isfinite(down) and across > 0 and down > 0):
        raise LoadFailed(f"{key!r} is damaged: its page {number} has no size")
    scale = (width - 0.5) / across  # sizes are rounded up
    return min(scale, math.sqrt(_MAX_PIXELS / across / down), _MAX_SIDE / across, _MAX_SIDE / down)


def _find_boxes(page: "PdfPage", bitmap: "PdfBitmap", mark: str) -> tuple[list[_Box], int]:
    """Returns the boxes of the words of the mark, line by line, and how many of its characters were found."""
    wanted = Letters.of(enumerate(mark))
    if not wanted.text:
        return [], 0
    text = page.get_textpage()
    try:
        present = Letters.of(_read_characters(text))
        boxes: list[_Box] = []
        marked = letters = 0
        for piece in find_pieces(wanted, present):
            length = piece.end - piece.start
            letters += length
            marked += wanted.places[piece.end - 1] + 1 - wanted.places[piece.start]
            first, last = present.places[piece.place], present.places[piece.place + length - 1]
            if piece.end == len(wanted.text):
                last = _find_sentence_end(text, last)
            boxes += _join(_place_characters(page, text, bitmap, first, last), _is_sideways(page, text, first))
        return boxes, len(mark) if letters == len(wanted.text) else marked
    finally:
        text.close()


def _find_sentence_end(text: "PdfTextPage", last: int) -> int:
    """Returns the index of the mark that ends the sentence after the character `last`; `last` without such a mark."""
    from pypdfium2 import raw

    end, count = last, raw.FPDFText_CountChars(text.raw)
    while end + 1 < count and chr(raw.FPDFText_GetUnicode(text.raw, end + 1)) in _CLOSING:
        end += 1
    goes_on = end + 1 < count and chr(raw.FPDFText_GetUnicode(text.raw, end + 1)).isalnum()  # 3.5, example.org
    return last if goes_on else end


def _read_characters(text: "PdfTextPage") -> Iterator[tuple[int, str]]:
    """Yields characters with their index. PDFium gives UTF-16: a surrogate pair has the index of its first half."""
    from pypdfium2 import raw

    high = 0
    for index in range(min(raw.FPDFText_CountChars(text.raw), _MAX_CHARACTERS)):
        code = raw.FPDFText_GetUnicode(text.raw, index)
        if 0xD800 <= code < 0xDC00:
            high = code
        elif 0xDC00 <= code < 0xE000:
            if high:
                yield index - 1, chr(0x10000 + ((high - 0xD800) << 10) + (code - 0xDC00))
            high = 0
        elif code <= 0x10FFFF:
            yield index, chr(code)


def _place_characters(
    page: "PdfPage", text: "PdfTextPage", bitmap: "PdfBitmap", first: int, last: int
) -> Iterator[_Box]:
    """Yields the boxes of the characters that are no white space, in pixels."""
    from pypdfium2 import raw

    box, across, down = raw.FS_RECTF(), ctypes.c_int(), ctypes.c_int()
    size = (0, 0, bitmap.width, bitmap.height, 0)
    for index in range(first, last + 1):
        if chr(raw.FPDFText_GetUnicode(text.raw, index)).isspace():
            continue
        if not raw.FPDFText_GetLooseCharBox(text.raw, index, box):
            continue
        corners = []
        for x, y in ((box.left, box.top), (box.right, box.bottom)):
            raw.FPDF_PageToDevice(page.raw, *size, x, y, across, down)
            corners.append((across.value, down.value))
        (left, right), (top, bottom) = (sorted(values) for values in zip(*corners, strict=True))
        yield left, top, right, bottom


def _is_sideways(page: "PdfPage", text: "PdfTextPage", index: int) -> bool:
    """Whether the line of a character runs from the top to the bottom of the image, or upwards."""
    from pypdfium2 import raw

    turns = round(float(raw.FPDFText_GetCharAngle(text.raw, index)) / (math.pi / 2))
    return bool((turns + page.get_rotation() // 90) % 2)


def _join(boxes: Iterable[_Box], is_sideways: bool) -> list[_Box]:
    """Joins the boxes of characters that are near to one another in one line."""
    joined: list[_Box] = []
    for box in boxes:
        if joined and _is_one_line(joined[-1], box, 1 if is_sideways else 0):
            last = joined[-1]
            joined[-1] = (min(last[0], box[0]), min(last[1], box[1]), max(last[2], box[2]), max(last[3], box[3]))
        else:
            joined.append(box)
    return joined


def _is_one_line(one: _Box, two: _Box, along: int) -> bool:
    """`along` is the direction of the line: 0 across, 1 down."""
    over = 1 - along
    heights = one[over + 2] - one[over], two[over + 2] - two[over]
    shared = min(one[over + 2], two[over + 2]) - max(one[over], two[over])
    gap = max(two[along] - one[along + 2], one[along] - two[along + 2])
    return shared > min(heights) / 2 and gap <= _JOINED * max(heights)


def _highlight(rows: Sequence[bytearray], box: _Box) -> None:
    """Colours a box of the image in place."""
    width = len(rows[0]) // 3
    left, right = max(box[0], 0), min(max(box[2], box[0] + 1), width)
    inside = rows[max(box[1], 0) : max(box[3], box[1] + 1)]
    greens = b"".join(row[3 * left + 1 : 3 * right : 3] for row in inside)
    if not greens:
        return
    is_dark = sum(greens) < 128 * len(greens)
    for channel, most in enumerate(_ON_DARK if is_dark else _ON_LIGHT):
        table = bytes(max(value, most) if is_dark else min(value, most) for value in range(256))
        for row in inside:
            row[3 * left + channel : 3 * right : 3] = row[3 * left + channel : 3 * right : 3].translate(table)
