"""The text of a Word file of 1997 to 2003 (DOC): its streams, its piece table and the properties of its paragraphs.

Source: [MS-DOC], the open specification of Word's binary format. Fields have the names of the specification.
Open this module to see what is read of the binary form; `indexer.loaders.doc` makes a document of it.
"""

import array
import re
import struct
import sys
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from core.errors import LoadFailed
from indexer.loading.compound import CompoundFile
from indexer.loading.paragraphs import BODY, TITLE, Paragraph

_MAGIC = 0xA5EC
_OLD_MAGICS = frozenset((0xA5DB, 0xA5DC, 0xA59B, 0xA59C, 0xA697, 0xA698, 0xA699))
_ENCRYPTED, _TABLE_1 = 0x0100, 0x0200
_LENGTHS, _PLACES = 64, 154  # offsets in the FIB: FibRgLw97 and FibRgFcLcb97
_STYLES, _CHPX, _PAPX, _CLX = 1, 12, 13, 33  # indexes in FibRgFcLcb97
_NOTES = ((2, 3), (46, 47))  # references and texts: of footnotes, and of endnotes
_PAGE = 512
_STI_TITLE, _STI_HEADINGS = 62, range(1, 10)
_NO_STYLE = 0x0FFF
_MOST_BASES = 20
_LEVEL, _END_OF_ROW, _IN_TABLE = 0x2640, 0x2417, 0x2416
_DELETED, _SYMBOL = 0x0800, 0x6A09
_OPERANDS = (1, 1, 2, 4, 2, 2, 0, 3)
"""Bytes of the operand of a property, by the highest three bits of its number; 0: its first byte tells."""

_DEFINES_TABLE = 0xD608  # two bytes tell the length
_WINDOWS_1252 = {n: bytes((n,)).decode("cp1252", "ignore") or chr(n) for n in range(0x80, 0xA0)}
_MARKS = re.compile(r"[\r\x07\x0c\x13\x14\x15]|[^\r\x07\x0c\x13\x14\x15]++")
_FIELD_MARKS = re.compile(r"[\x13-\x15]")
_CHARACTERS = {0x0B: "\n", 0x0E: "\n", 0x1E: "-", 0x1F: "", 0xA0: " ", 1: "", 2: "", 5: "", 8: "", 0: ""}


@dataclass(frozen=True, slots=True)
class _Properties:
    """What is read of the properties of a paragraph."""

    level: int = BODY
    ends_row: bool = False
    is_in_table: bool = False


class WordFile:
    """The text of a file, in the order of reading. Headers, footers and comments are left out.

    Deleted text of tracked changes and the codes of fields are left out; the results of fields are read. A file that
    was saved fast is read as any other, since the piece table tells the order of its text.
    """

    def __init__(self, file: CompoundFile, key: str) -> None:
        """Raises `LoadFailed` for a file that is damaged, encrypted, or of Word 95 or older."""
        self._key = key
        self._main = file.read("WordDocument")
        magic = self._number(self._main, 0, "H")
        if magic in _OLD_MAGICS or (magic == _MAGIC and self._number(self._main, 2, "H") < 0xC1):
            raise LoadFailed(f"{key!r} is a file of Word 95 or older; save it as DOCX")
        if magic != _MAGIC:
            raise self._damaged("it does not begin as a Word file does")
        flags = self._number(self._main, 10, "H")
        if flags & _ENCRYPTED:
            raise LoadFailed(f"{key!r} is encrypted with a password; save it without one")
        self._table = file.read("1Table" if flags & _TABLE_1 else "0Table")
        lengths = [self._number(self._main, _LENGTHS + 4 * n, "i") for n in range(3, 11)]
        if min(lengths) < 0 or sum(lengths) > len(self._main):
            raise self._damaged("it states more text than it has")
        self._body, self._footnotes, headers, macros, comments, self._endnotes, boxes, _ = lengths
        self._after_comments = self._body + self._footnotes + headers + macros + comments
        self._boxes = range(self._after_comments + self._endnotes, self._after_comments + self._endnotes + boxes)
        self._pieces = self._read_pieces(sum(lengths))
        self._styles = self._read_styles()
        self._starts, self._properties = self._read_properties()
        self._text = self._read_text(self._find_deleted())

    def paragraphs(self) -> Iterator[Paragraph]:
        """Yields the paragraphs of the body, each with its notes, then the paragraphs of text boxes."""
        notes = self._read_notes()
        yield from self._split(range(self._body), notes)
        yield from self._split(self._boxes, {})

    def _split(self, places: range, notes: Mapping[int, str]) -> Iterator[Paragraph]:
        """Yields the paragraphs of a part of the text; `notes` are by the places of their references."""
        fields: list[bool] = []  # for each field that is open: whether its result has begun
        codes = 0  # fields that are open and of which it has not
        parts: list[str] = []
        start, found = places.start, places.start
        waiting = sorted(notes)
        text = self._text[places.start : places.stop]
        open_ended = _find_open_ended(text)
        for match in _MARKS.finditer(text):
            mark = match[0]
            found = places.start + match.end()
            if mark == "\x13" and match.start() not in open_ended:
                fields.append(False)
                codes += 1
            elif mark == "\x14" and fields:
                codes -= not fields[-1]
                fields[-1] = True
            elif mark == "\x15" and fields:
                codes -= not fields.pop()
            elif mark == "\x13":
                continue
            elif mark not in ("\r", "\x07", "\x0c"):
                parts += [] if codes else [mark]
            elif not codes:
                own = waiting[bisect_right(waiting, start - 1) : bisect_right(waiting, found - 1)]
                yield self._make(parts, mark, found - 1, tuple(notes[place] for place in own))
                parts, start = [], found
        if parts:
            yield Paragraph(text=_clean("".join(parts)))

    def _make(self, parts: list[str], mark: str, place: int, notes: tuple[str, ...]) -> Paragraph:
        found = self._properties_at(place)
        return Paragraph(
            text=_clean("".join(parts)),
            level=found.level,
            ends_cell=mark == "\x07" and not found.ends_row,
            ends_row=found.ends_row,
            is_in_table=found.is_in_table,
            notes=notes,
        )

    def _read_pieces(self, length: int) -> list[tuple[range, int, bool]]:
        """Returns the pieces in order: their places in the text, the offset of the first character, and whether each is
        a byte.
        """
        clx = self._part(_CLX)
        at = 0
        while at < len(clx) and clx[at] == 1:
            at += 3 + self._number(clx, at + 1, "H")
        if at >= len(clx) or clx[at] != 2:
            raise self._damaged("it has no table of the pieces of its text")
        table = clx[at + 5 : at + 5 + self._number(clx, at + 1, "I")]
        count = max(0, len(table) - 4) // 12
        pieces: list[tuple[range, int, bool]] = []
        for n in range(count):
            start, stop = self._number(table, 4 * n, "I"), self._number(table, 4 * n + 4, "I")
            offset = self._number(table, 4 * (count + 1) + 8 * n + 2, "I")
            is_bytes = bool(offset & 0x40000000)
            offset &= 0x3FFFFFFF
            if start > stop or start != (pieces[-1][0].stop if pieces else 0):
                raise self._damaged("the pieces of its text are not in order")
            pieces.append((range(start, min(stop, max(length, start))), offset // 2 if is_bytes else offset, is_bytes))
        return pieces

    def _read_text(self, deleted: list[tuple[int, int]]) -> str:
        """Returns the text with one character for each unit of UTF-16, and zeros for deleted characters."""
        parts = []
        for places, offset, is_bytes in self._pieces:
            width = 1 if is_bytes else 2
            raw = self._main[offset : offset + len(places) * width]
            if len(raw) < len(places) * width:
                raise self._damaged("a piece of its text is cut off")
            text = raw.decode("latin-1").translate(_WINDOWS_1252) if is_bytes else _units(raw)
            first = bisect_right(deleted, (offset, 0)) - 1
            last = bisect_right(deleted, (offset + len(raw), 0))
            done = 0
            for begin, end in deleted[max(0, first) : last]:
                low, high = max(done, (begin - offset) // width), min(len(text), (end - offset) // width)
                if low < high:
                    parts += [text[done:low], "\0" * (high - low)]
                    done = high
            parts.append(text[done:])
        return "".join(parts)

    def _read_notes(self) -> dict[int, str]:
        """Returns the texts of footnotes and endnotes by the places of their references in the body."""
        notes: dict[int, str] = {}
        begins = (self._body, self._after_comments)
        for (references, texts), begin, length in zip(_NOTES, begins, (self._footnotes, self._endnotes), strict=True):
            where, bounds = self._part(references), self._part(texts)
            count = min(max(0, len(where) - 4) // 6, max(0, len(bounds) // 4 - 1))
            stop = 0
            for n in range(count):
                start = max(stop, self._number(bounds, 4 * n, "I"))  # a damaged file may state the same text again
                stop = max(start, self._number(bounds, 4 * n + 4, "I"))
                inside = range(begin + min(start, length), begin + min(stop, length))
                lines = (one.text.strip() for one in self._split(inside, {}))
                notes[self._number(where, 4 * n, "I")] = "\n".join(line for line in lines if line)
        return notes

    def _read_styles(self) -> list[int]:
        """Returns the level of each style by its index (STSH); a style without a level has the level of its base."""
        sheet = self._part(_STYLES)
        if len(sheet) < 6:
            return [BODY, *range(1, 10)]
        at = 2 + self._number(sheet, 0, "H")
        base_length = self._number(sheet, 4, "H")
        own: list[tuple[int, int]] = []  # level and base
        for _ in range(self._number(sheet, 2, "H")):
            if at + 2 > len(sheet):
                break
            size = self._number(sheet, at, "H")
            style = sheet[at + 2 : at + 2 + size]
            own.append(_read_style(style, base_length))
            at += 2 + size + size % 2
        levels = []
        for index in range(len(own)):
            level, base = own[index]
            for _ in range(_MOST_BASES):  # a style may be based on itself
                if level != BODY or base >= len(own):
                    break
                level, base = own[base]
            levels.append(level)
        return levels

    def _read_properties(self) -> tuple[list[int], list[_Properties]]:
        """Returns offsets at which properties of paragraphs begin, in order, and the properties."""
        found: dict[int, _Properties] = {}
        for page in self._pages(_PAPX, 13):
            runs = page[511]
            for n in range(min(runs, 29)):
                at = 2 * page[4 * (runs + 1) + 13 * n]
                found[self._number(page, 4 * n, "I")] = self._paragraph(page, at) if at else _Properties()
        starts = sorted(found)
        return starts, [found[start] for start in starts]

    def _paragraph(self, page: bytes, at: int) -> _Properties:
        size = 2 * page[at] - 1
        at += 1
        if size < 0:  # the length is in the next byte
            size, at = 2 * page[min(at, 510)], at + 1
        packed = page[at : min(at + size, 511)]
        if len(packed) < 2:
            return _Properties()
        properties = dict(_properties(packed[2:]))
        style = self._number(packed, 0, "H")
        level = self._styles[style] if style < len(self._styles) else BODY
        if (own := properties.get(_LEVEL)) is not None:
            level = own + 1 if own < 9 else BODY
        ends_row = bool(properties.get(_END_OF_ROW))
        return _Properties(level=level, ends_row=ends_row, is_in_table=bool(properties.get(_IN_TABLE)))

    def _find_deleted(self) -> list[tuple[int, int]]:
        """Returns the offsets, from and to, of characters that are deleted or pictures of a symbol, in order."""
        found = []
        for page in self._pages(_CHPX, 1):
            runs = page[511]
            for n in range(min(runs, 101)):
                at = 2 * page[4 * (runs + 1) + n]
                properties = dict(_properties(page[at + 1 : min(at + 1 + page[at], 511)])) if at else {}
                if properties.get(_DELETED) == 1 or _SYMBOL in properties:
                    found.append((self._number(page, 4 * n, "I"), self._number(page, 4 * n + 4, "I")))
        return sorted(found)

    def _pages(self, part: int, width: int) -> Iterator[bytes]:
        """Yields the pages of properties (FKP) that a table names, each once, with entries of so many bytes."""
        table = self._part(part)
        count = max(0, len(table) - 4) // 8
        numbers = {self._number(table, 4 * (count + 1) + 4 * n, "I") & 0x3FFFFF for n in range(count)}
        for number in sorted(numbers):
            page = self._main[number * _PAGE : (number + 1) * _PAGE]
            if len(page) == _PAGE and 4 * (page[511] + 1) + width * page[511] < _PAGE:
                yield page

    def _properties_at(self, place: int) -> _Properties:
        """Returns the properties of the paragraph whose mark is at a place of the text."""
        n = bisect_right(self._pieces, place, key=lambda piece: piece[0].start) - 1
        if n < 0:
            return _Properties()
        places, offset, is_bytes = self._pieces[n]
        index = bisect_right(self._starts, offset + (place - places.start) * (1 if is_bytes else 2)) - 1
        return self._properties[index] if index >= 0 else _Properties()

    def _part(self, index: int) -> bytes:
        """Returns the bytes of the table stream that an entry of FibRgFcLcb97 names."""
        start, size = (self._number(self._main, _PLACES + 8 * index + shift, "I") for shift in (0, 4))
        return self._table[start : start + size]

    def _number(self, content: bytes, at: int, form: str) -> int:
        try:
            number: int = struct.unpack_from("<" + form, content, at)[0]
        except struct.error as error:
            raise self._damaged("a part of it is cut off") from error
        return number

    def _damaged(self, reason: str) -> LoadFailed:
        return LoadFailed(f"{self._key!r} is damaged: {reason}")


def _find_open_ended(text: str) -> set[int]:
    """Returns the places of the fields that have neither a result nor an end. All text behind such a field would count
    as its code, and be lost.
    """
    fields: list[tuple[int, bool]] = []  # place, and whether the result has begun
    for match in _FIELD_MARKS.finditer(text):
        if match[0] == "\x13":
            fields.append((match.start(), False))
        elif fields:
            place, _ = fields.pop()
            fields += [(place, True)] if match[0] == "\x14" else []
    return {place for place, has_result in fields if not has_result}


def _read_style(style: bytes, base_length: int) -> tuple[int, int]:
    """Returns the level that a style has by itself, and the index of the style that it is based on."""
    if len(style) < 4 or base_length < 4:
        return BODY, _NO_STYLE
    kind, base = struct.unpack_from("<HH", style)
    sti = kind & 0x0FFF
    level = TITLE if sti == _STI_TITLE else sti if sti in _STI_HEADINGS else BODY
    return level, base >> 4


def _properties(packed: bytes) -> Iterator[tuple[int, int]]:
    """Yields the numbers of properties (SPRM), each with the first byte of its operand."""
    at = 0
    while at + 3 <= len(packed):
        number = int.from_bytes(packed[at : at + 2], "little")
        at += 2
        size = _OPERANDS[number >> 13]
        yield number, packed[at]
        if number == _DEFINES_TABLE:
            size = int.from_bytes(packed[at : at + 2], "little") + 1
        elif not size:
            size = packed[at] + 1
        at += size


def _units(raw: bytes) -> str:
    """Decodes UTF-16 with a character for each unit, so that places stay: halves of pairs are joined by `_clean`."""
    units = array.array("H", raw)
    if sys.byteorder == "big":
        units.byteswap()
    return "".join(map(chr, units))


def _clean(text: str) -> str:
    text = text.translate(_CHARACTERS)
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")
