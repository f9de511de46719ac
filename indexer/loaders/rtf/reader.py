"""Rich Text Format: its groups and control words, read as paragraphs, cells and notes; and HTML that is packed in it.

Source: Rich Text Format Specification 1.9.1; for HTML in RTF, [MS-OXRTFEX]. Open this module to see which groups are
text, how bytes become characters, and what is left out.
"""

import codecs
import re
from dataclasses import dataclass, field, replace
from datetime import datetime

from core.errors import LoadFailed
from indexer.loading.paragraphs import BODY, TITLE, Paragraph

_TOKEN = re.compile(
    rb"\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z])|([{}])|([^\\{}\r\n]++)|[\r\n]++|\\"
)
_DEEPEST = 2000
_TEXT, _SKIPPED, _SHAPE, _FONTS, _STYLES, _INFO, _NOTE = "text", "skipped", "shape", "fonts", "styles", "info", "note"
_SKIPPED_WORDS = frozenset(
    (
        *("aftncn", "aftnsep", "aftnsepc", "ftncn", "ftnsep", "ftnsepc"),  # lines above footnotes
        *("header", "headerf", "headerl", "headerr", "footer", "footerf", "footerl", "footerr"),
        *("colortbl", "filetbl", "listtable", "listoverridetable", "revtbl", "rsidtbl", "pgptbl", "xmlnstbl"),
        *("datafield", "fldinst", "factoidname", "private", "template", "generator", "userprops", "operator"),
        *("listname", "leveltext", "levelnumbers", "listtext", "pntext"),  # of lists; the number of an item as text
        *("nonesttables", "nonshppict", "shprslt"),  # the same for programs that know no nested tables and shapes
        *("pict", "objdata", "themedata", "datastore", "mmathPr", "latentstyles", "comment", "doccomm"),
        *("xe", "rxe", "txe", "tc", "tcn"),  # entries of an index, and of a table of contents
    )
)
_INFO_WORDS = ("title", "author", "subject", "keywords", "creatim", "revtim")
_ENTERED = {
    "footnote": _NOTE, "shpinst": _SHAPE, "shptxt": _TEXT, "fonttbl": _FONTS, "stylesheet": _STYLES, "info": _INFO,
}  # fmt: skip
_NO_PARAGRAPHS = ("cs", "ts", "ds")  # styles of characters, tables and sections
_CHARACTERS = {
    "tab": "\t", "line": "\n", "emdash": "—", "endash": "–", "bullet": "•", "lquote": "‘", "rquote": "’",
    "ldblquote": "“", "rdblquote": "”", "emspace": " ", "enspace": " ", "qmspace": " ", "nestcell": "\n",
    "nestrow": "\n", "zwj": "\u200d", "zwnj": "\u200c", "zwbo": "\u200b", "zwnbo": "\u2060",
    "ltrmark": "\u200e", "rtlmark": "\u200f",
}  # fmt: skip
_SYMBOLS = {b"~": " ", b"_": "-", b"\t": "\t"}
_ENDS = ("par", "sect", "page", "column", "cell", "row", "\n", "\r")
_CODE_PAGES = {
    0: "cp1252", 77: "mac_roman", 78: "shift_jis", 128: "cp932", 129: "cp949", 130: "johab", 134: "gbk", 136: "cp950",
    161: "cp1253", 162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251",
    222: "cp874", 238: "cp1250", 254: "cp437", 255: "cp850",
}  # fmt: skip
_HEADING = re.compile(r"heading ([1-9])", re.IGNORECASE)


@dataclass(kw_only=True, slots=True)
class RtfText:
    """The content of a file. `title` is the title in its properties. `html` is a page that is packed in it, or ''."""

    paragraphs: list[Paragraph] = field(default_factory=list)
    title: str = ""
    properties: dict[str, object] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    html: str = ""


@dataclass(slots=True)
class _State:
    """The properties of a group, which end with it."""

    destination: str = _TEXT
    is_starred: bool = False
    skipped_units: int = 1
    font: int = -1
    style: int = 0
    outline: int = -1
    is_in_table: bool = False
    is_deleted: bool = False
    is_only_rtf: bool = False
    is_twofold: bool = False
    """Whether the next group is followed by the same text in Unicode (`upr`)."""
    name: str = ""


def is_rtf(content: bytes) -> bool:
    """Whether content is RTF by its first bytes."""
    return content[:100].lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{\\rtf")


def read_rtf(content: bytes, key: str) -> RtfText:
    """Raises `LoadFailed` for content that is no RTF, or nested too deeply. What is cut off is read, with a note."""
    if not content:
        raise LoadFailed(f"{key!r} is empty: it has no bytes")
    if not is_rtf(content):
        raise LoadFailed(f"{key!r} is no RTF file: it does not begin with {{\\rtf; it may be of another kind")
    return _Reader(content, key).read()


class _Reader:
    def __init__(self, content: bytes, key: str) -> None:
        self._content = content
        self._key = key
        self._state = _State()
        self._stack: list[_State] = []
        self._found = RtfText()
        self._code_page = "cp1252"
        self._is_of_dos_or_mac = False
        self._default_font = -1
        self._fonts: dict[int, str] = {}
        self._levels: dict[int, int] = {}
        self._is_html = False
        self._bytes = bytearray()
        self._to_skip = 0
        self._parts: list[str] = []  # of the paragraph
        self._note: list[str] = []
        self._notes: list[str] = []
        self._named: list[str] = []  # the text of a font, a style or a property
        self._times: dict[str, int] = {}
        self._wrong: dict[str, None] = {}

    def read(self) -> RtfText:
        at = self._content.find(b"{")
        while match := _TOKEN.match(self._content, at):
            at = match.end()
            word, number, code, symbol, brace, text = match.groups()
            if word == b"bin":
                at += max(0, int(number or 0))
            elif word is not None:
                self._read_word(word.decode(), None if number is None else int(number))
            elif text is not None or code is not None:
                self._add_bytes(text or bytes.fromhex(code.decode()))
            elif symbol is not None:
                self._read_symbol(symbol)
            elif brace == b"{":
                self._open()
            elif brace == b"}" and self._close():
                break
        return self._finish()

    def _finish(self) -> RtfText:
        self._flush()
        found = self._found
        if self._stack:
            found.notes.append("the file is cut off: a group of it has no end")
        if self._wrong:
            pages = ", ".join(self._wrong)
            found.notes.append(
                f"some bytes are none of the code page that the file states ({pages}); read as Windows-1252"
            )
        if self._is_html:
            found.html = _join_pairs("".join(self._parts))
        elif self._parts:
            self._end_paragraph("par")
        return found

    # --- groups ---------------------------------------------------------------------------------------------------

    def _open(self) -> None:
        self._flush()
        self._to_skip = 0
        if len(self._stack) >= _DEEPEST:
            raise LoadFailed(f"{self._key!r} is refused: its groups are nested more than {_DEEPEST:,} deep")
        self._stack.append(self._state)
        is_repeated, self._state.is_twofold = self._state.is_twofold, False
        self._state = replace(self._state, is_starred=False)
        if is_repeated:
            self._state.destination = _SKIPPED

    def _close(self) -> bool:
        """Ends a group. Returns whether it was the last group."""
        self._flush()
        self._to_skip = 0
        if not self._stack:
            return True
        ended, self._state = self._state, self._stack.pop()
        if ended.destination == _NOTE and self._state.destination != _NOTE:
            if text := _join_pairs("".join(self._note)).strip():
                self._notes.append(text)
            self._note = []
        elif ended.destination == _INFO and ended.name and not self._state.name:
            self._end_property(ended.name)
        elif ended.destination == _STYLES and self._state.destination == _STYLES:
            self._end_style(ended)
        elif ended.destination == _FONTS and self._state.destination == _FONTS:
            self._named = []
        return not self._stack

    def _end_property(self, name: str) -> None:
        text, self._named = _join_pairs("".join(self._named)).strip(), []
        times, self._times = self._times, {}
        if name == "title":
            self._found.title = text
        elif name in ("creatim", "revtim"):
            year, month, day, hour, minute = (times.get(part, 0) for part in ("yr", "mo", "dy", "hr", "min"))
            try:
                when = datetime(year, month, day, hour, minute)  # noqa: DTZ001 - RTF states no zone
            except (ValueError, OverflowError):
                return
            self._found.properties["created" if name == "creatim" else "modified"] = when
        elif text:
            self._found.properties[name] = text

    def _end_style(self, ended: _State) -> None:
        name, self._named = "".join(self._named).strip(" ;"), []
        heading = _HEADING.fullmatch(name.split(",")[0].split(";")[0].strip())
        if heading:
            self._levels[ended.style] = int(heading[1])
        elif name.lower() == "title":
            self._levels[ended.style] = TITLE
        elif 0 <= ended.outline < 9:
            self._levels[ended.style] = ended.outline + 1

    # --- control words --------------------------------------------------------------------------------------------

    def _read_word(self, word: str, number: int | None) -> None:  # noqa: C901, PLR0912 - a table of words
        state = self._state
        if word == "u":
            if number is not None:
                self._add_character(number % 0x10000)
            return
        self._to_skip = 0
        if state.is_starred or word in _SKIPPED_WORDS:
            self._enter(word, number)
            return
        if word in _CHARACTERS:
            self._flush()
            self._add(_CHARACTERS[word])
        elif word in _ENDS:
            self._flush()
            self._end(word)
        elif word == "f":
            self._flush()
            state.font = number or 0
        elif word == "plain":
            self._flush()
            state.font, state.is_deleted = -1, False
        elif word == "deleted":
            self._flush()
            state.is_deleted = number != 0
        elif word == "htmlrtf":
            self._flush()
            state.is_only_rtf = number != 0
        elif word == "pard":
            state.style, state.outline, state.is_in_table = 0, -1, False
        elif word == "intbl":
            state.is_in_table = True
        elif word == "s":
            state.style = number or 0
        elif word == "outlinelevel":
            state.outline = 9 if number is None else number
        elif word == "upr":
            self._flush()
            state.is_twofold = True
        elif word == "uc":
            state.skipped_units = min(max(0, number or 0), 8)
        elif word in _ENTERED or word in _INFO_WORDS or (word in _NO_PARAGRAPHS and state.destination == _STYLES):
            self._enter(word, number)
        else:
            self._read_definition(word, number)

    def _read_definition(self, word: str, number: int | None) -> None:
        """Reads words of the header, and of the definitions of fonts and times."""
        if word == "ansicpg" and number:
            self._code_page = _known(f"cp{number}" if number != 65001 else "utf-8") or self._code_page
        elif word in ("mac", "pc", "pca") and not self._fonts:
            self._code_page = {"mac": "mac_roman", "pc": "cp437", "pca": "cp850"}[word]
            self._is_of_dos_or_mac = True
        elif word == "deff":
            self._default_font = number or 0
        elif word == "fromhtml":
            self._is_html = True
        elif word == "fcharset" and self._state.destination == _FONTS and number in _CODE_PAGES:
            if number == 0 and self._is_of_dos_or_mac:  # "ANSI" is then what the header states
                return
            self._fonts[self._state.font] = _CODE_PAGES[number]
        elif word == "cpg" and self._state.destination == _FONTS and number and _known(f"cp{number}"):
            self._fonts[self._state.font] = f"cp{number}"
        elif word in ("yr", "mo", "dy", "hr", "min") and self._state.destination == _INFO:
            self._times[word] = number or 0

    def _enter(self, word: str, number: int | None) -> None:
        """Begins the destination that a word names. What is starred and unknown is skipped, as RTF demands."""
        self._flush()
        state = self._state
        state.is_starred = False
        if state.destination == _SKIPPED:
            return
        if word == "htmltag" and self._is_html:
            state.is_only_rtf = False
        elif word == "ud":  # what `upr` has in Unicode belongs to the text around it
            return
        elif word in _ENTERED:
            state.destination = _ENTERED[word]
        elif word in _INFO_WORDS:
            if state.destination == _INFO:
                state.name, self._named = word, []
        elif word in _NO_PARAGRAPHS and state.destination == _STYLES:
            state.style = -1 - (number or 0)
        else:
            state.destination = _SKIPPED

    def _read_symbol(self, symbol: bytes) -> None:
        if self._to_skip and symbol not in (b"*", b"\n", b"\r"):
            self._to_skip -= 1
        elif symbol == b"*":
            self._state.is_starred = True
        elif symbol in (b"\n", b"\r"):
            self._flush()
            self._end("par")
        elif symbol in (b"{", b"}", b"\\"):  # may be the second byte of a character, too
            self._add_bytes(symbol)
        elif symbol in _SYMBOLS:
            self._flush()
            self._add(_SYMBOLS[symbol])

    # --- text -----------------------------------------------------------------------------------------------------

    def _add_bytes(self, raw: bytes) -> None:
        if self._to_skip:
            skipped = min(self._to_skip, len(raw))
            self._to_skip -= skipped
            raw = raw[skipped:]
        if self._state.destination not in (_SKIPPED, _SHAPE) and raw:
            self._bytes += raw

    def _add_character(self, unit: int) -> None:
        self._flush()
        self._to_skip = self._state.skipped_units
        if unit not in (0, 0xFFFF):
            self._add(chr(unit))

    def _flush(self) -> None:
        """Decodes the bytes that wait, in the code page of their font."""
        if not self._bytes:
            return
        raw = bytes(self._bytes)
        self._bytes.clear()
        if raw.isascii():
            self._add(raw.decode("ascii"))
            return
        font = self._state.font if self._state.font >= 0 else self._default_font
        page = self._fonts.get(font, self._code_page)
        try:
            self._add(raw.decode(page))
        except UnicodeDecodeError:
            self._wrong[page] = None
            self._add(raw.decode("cp1252", "ignore"))

    def _add(self, text: str) -> None:
        state = self._state
        if state.destination == _TEXT:
            if not state.is_deleted and not (state.is_only_rtf and self._is_html):
                self._parts.append(text)
        elif state.destination == _NOTE:
            self._note += [] if state.is_deleted else [text]
        elif state.destination in (_FONTS, _STYLES, _INFO):
            self._named.append(text)

    def _end(self, word: str) -> None:
        state = self._state
        if state.destination == _NOTE:
            self._note.append("\n")
        elif state.destination == _TEXT and self._is_html:
            self._parts += [] if state.is_only_rtf else ["\n"]
        elif state.destination == _TEXT and not state.is_deleted:
            self._end_paragraph(word)

    def _end_paragraph(self, word: str) -> None:
        state = self._state
        level = state.outline + 1 if 0 <= state.outline < 9 else self._levels.get(state.style, BODY)
        text = _join_pairs("".join(self._parts))
        self._found.paragraphs.append(
            Paragraph(
                text=text,
                level=BODY if state.outline == 9 else level,
                ends_cell=word == "cell",
                ends_row=word == "row",
                is_in_table=state.is_in_table,
                notes=tuple(self._notes),
            )
        )
        self._parts, self._notes = [], []


def _known(code_page: str) -> str:
    """Returns the name of a code page if Python knows it, else ''."""
    try:
        return codecs.lookup(code_page).name
    except LookupError:
        return ""


def _join_pairs(text: str) -> str:
    """Joins the halves of surrogate pairs: each is a control word of its own."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "ignore")
