"""Runs: characters of a page that stand side by side in one line, with their place. Read from PDFium."""

import ctypes
import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING

from indexer.loading.assembly import clean_text

if TYPE_CHECKING:
    from pypdfium2 import PdfTextPage


HYPHEN = "\x02"
"""The character that PDFium gives for a hyphen at the end of a line inside a word."""
_CORK = {0x15: "–", 0x16: "—", 0x1B: "ff", 0x1C: "fi", 0x1D: "fl", 0x1E: "ffi", 0x1F: "ffl", 0x88: "•"}
"""TeX's encodings T1 and TS1, which PDFium returns as they are if a font does not tell its characters. Without these,
"65–85 %" is "6585 %". Of TS1, the bullet is listed: Unicode has a control character at its place.
"""

_GAP = 1.5
"""Heights of a character: a wider gap separates cells or columns. Spaces of justified lines are narrower."""

_WIDE_SPACE = 0.5
"""Heights of a character: a wider space may separate cells of a narrow table. Those between words are half as wide."""

_APART = 0.1
"""Heights of a character between two words that a line down the page may divide."""
_TOLERANCE = 2.0
"""Points by which a word may reach over such a line."""

_NO_CHARACTER = (0, 0xFFFE, 0xFFFF)
_BOLD = re.compile(r"Bold|Black|Heavy|Demi|CMBX|-Medi\b", re.IGNORECASE)
_ITALIC = re.compile(r"Ital|Obli|Slanted|CMTI", re.IGNORECASE)
"""What names of fonts have. PDFium tells a weight, too, but by the width of stems: it takes italics for bold."""
_LONGEST_FONT = 128


Box = tuple[float, float, float, float]
"""Left, bottom, right and top."""

TURN: Sequence[Callable[[float, float, float, float], Box]] = (
    lambda left, bottom, right, top: (left, bottom, right, top),
    lambda left, bottom, right, top: (-top, left, -bottom, right),
    lambda left, bottom, right, top: (-right, -top, -left, -bottom),
    lambda left, bottom, right, top: (bottom, -right, top, -left),
)
"""By quarter turns of a line: turns a box back."""


@dataclass(frozen=True, slots=True)
class Run:
    """Characters of one line. Places are in points from the lower left corner.

    `size` is the height of the median character: a raised mark of a footnote makes a run higher, but no larger. `turn`
    counts the quarter turns of the line, clockwise. Its places are on the page turned back. `gaps` are the spaces that
    are wider than between words: for each, the number of characters before it, its start and its end. A run is bold, or
    italic, if its first, its middle and its last character are.
    """

    text: str
    left: float
    right: float
    bottom: float
    top: float
    size: float
    turn: int = 0
    gaps: tuple[tuple[int, float, float], ...] = ()
    is_bold: bool = False
    is_italic: bool = False


def read_runs(page: "PdfTextPage", rulings: Sequence[Box] = (), *, fonts: bool = False) -> list[Run]:
    """Returns the runs of a page, in the order in which the page draws them. Runs of white space are left out, and a
    line of `rulings` between two words ends a run.

    Only with `fonts` it is known which are bold or italic.
    """
    growing, runs = _GrowingRun(_Fonts(page) if fonts else None, rulings), []
    for index, character, box in _characters(page):
        if box is None:
            if character == " ":
                growing.has_space = True
                continue
            runs += growing.finish()
            continue
        turned = TURN[growing.turn](*box)
        if growing.is_empty or not growing.takes(turned):
            runs += growing.finish()
            growing.turn = _read_turn(page, index)
            turned = TURN[growing.turn](*box)
        growing.add(index, character, turned)
    runs += growing.finish()
    return runs


def _read_turn(page: "PdfTextPage", index: int) -> int:
    """Returns the quarter turns of a character, clockwise."""
    from pypdfium2 import raw

    angle = float(raw.FPDFText_GetCharAngle(page.raw, index))
    return round(angle / (math.pi / 2)) % 4


def _characters(page: "PdfTextPage") -> Iterator[tuple[int, str, Box | None]]:
    """Yields characters with their index and box. White space and line ends have no box."""
    from pypdfium2 import raw

    box = raw.FS_RECTF()
    place = ctypes.byref(box)
    get_code, get_box = raw.FPDFText_GetUnicode, raw.FPDFText_GetLooseCharBox
    handle = page.raw
    for index in range(raw.FPDFText_CountChars(handle)):
        code = get_code(handle, index)
        if code in _NO_CHARACTER:
            continue
        character = _CORK.get(code) or chr(code)
        if character in "\r\n":
            yield index, character, None
        elif character.isspace():
            yield index, " ", None
        elif get_box(handle, index, place):
            yield index, character, (box.left, box.bottom, box.right, box.top)


class _Fonts:
    """The names of the fonts of the characters of a page, by their index."""

    def __init__(self, page: "PdfTextPage") -> None:
        self._handle = page.raw
        self._name = ctypes.create_string_buffer(_LONGEST_FONT)
        self._flags = ctypes.c_int()

    def name_of(self, index: int) -> str:
        from pypdfium2 import raw

        length = raw.FPDFText_GetFontInfo(self._handle, index, self._name, _LONGEST_FONT, self._flags)
        return self._name.value.decode("ascii", "replace") if 0 < length <= _LONGEST_FONT else ""


class _GrowingRun:
    """Collects the characters of one run, up to a line down the page between two words."""

    def __init__(self, fonts: _Fonts | None, rulings: Sequence[Box]) -> None:
        self._fonts = fonts
        turned = [[turn(*ruling) for ruling in rulings] for turn in TURN]
        self._walls = [sorted((box[0], box[1], box[3]) for box in boxes if box[0] == box[2]) for boxes in turned]
        self.turn = 0
        self._clear()

    def _clear(self) -> None:
        self.has_space = False
        self._characters: list[str] = []
        self._indexes: list[int] = []
        self._heights: list[float] = []
        self._gaps: list[tuple[int, float, float]] = []
        self._left = self._bottom = self._right = self._top = 0.0

    @property
    def is_empty(self) -> bool:
        return not self._characters

    def takes(self, box: Box) -> bool:
        """Whether a character belongs to the run: it is in the same line, and near one of its ends."""
        left, bottom, right, top = box
        height = max(self._top - self._bottom, top - bottom, 1.0)
        overlap = min(self._top, top) - max(self._bottom, bottom)
        gap = max(left - self._right, self._left - right, 0.0)
        if overlap <= 0.3 * min(self._top - self._bottom, top - bottom) or gap > _GAP * height:
            return False
        is_apart = self.has_space or gap > _APART * height
        return not (is_apart and self._has_wall(min(self._right, right), max(self._left, left), (bottom + top) / 2))

    def _has_wall(self, left: float, right: float, height: float) -> bool:
        """Whether a line runs down between two places in a line of text."""
        walls = self._walls[self.turn]
        between = walls[bisect_left(walls, (left - _TOLERANCE,)) : bisect_right(walls, (right + _TOLERANCE, math.inf))]
        return any(bottom <= height <= top for _, bottom, top in between)

    def add(self, index: int, character: str, box: Box) -> None:
        left, bottom, right, top = box
        if not self._characters:
            self._left, self._bottom, self._right, self._top = box
        else:
            is_wide = left - self._right > _WIDE_SPACE * (top - bottom)
            if is_wide:
                self._gaps.append((len(self._characters), self._right, left))
            if is_wide or self.has_space:
                self._characters.append(" ")
        self.has_space = False
        self._characters.append(character)
        self._indexes.append(index)
        self._heights.append(top - bottom)
        self._left, self._right = min(self._left, left), max(self._right, right)
        self._bottom, self._top = min(self._bottom, bottom), max(self._top, top)

    def finish(self) -> list[Run]:
        """Returns the run, if it has text, and begins the next run."""
        text = "".join(self._characters)
        if any("\ud800" <= c <= "\udfff" for c in text):  # PDFium gives UTF-16
            text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        text = "".join(part if part == HYPHEN else clean_text(part) for part in _split_hyphens(text))
        size = median(self._heights) if self._heights else 0.0
        gaps = tuple(self._gaps) if len(text) == len(self._characters) else ()
        names = self._name_fonts()
        run = Run(
            text=text,
            left=self._left,
            right=self._right,
            bottom=self._bottom,
            top=self._top,
            size=size,
            turn=self.turn,
            gaps=gaps,
            is_bold=bool(names) and all(map(_BOLD.search, names)),
            is_italic=bool(names) and all(map(_ITALIC.search, names)),
        )
        self._clear()
        return [run] if text.strip() else []

    def _name_fonts(self) -> list[str]:
        """Returns the names of the fonts of the first, the middle and the last character; [] if they are not read."""
        indexes = self._indexes
        if self._fonts is None or not indexes:
            return []
        return [self._fonts.name_of(indexes[at]) for at in {0, len(indexes) // 2, len(indexes) - 1}]


def _split_hyphens(text: str) -> list[str]:
    return re.split(f"({HYPHEN})", text)
