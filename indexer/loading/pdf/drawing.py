"""Drawing a page of a PDF as an image in PNG, with the words of a text highlighted. Runs in the parser process."""

import ctypes
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from core.errors import LoadFailed
from indexer.loading.pdf.marking import Letters, find_pieces
from indexer.loading.pdf.opening import open_pdf
from indexer.loading.pdf.png import write_png

if TYPE_CHECKING:
    from pypdfium2 import PdfBitmap, PdfDocument, PdfPage, PdfTextPage

__all__ = ["DrawnPage", "draw_page"]

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
    return write_png(bitmap.width, bitmap.height, rows), marked


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
