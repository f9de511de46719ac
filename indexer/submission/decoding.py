"""Detection of the encoding of a text that is not UTF-8, and recognition of content that is no text."""

import codecs
import contextlib
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from typing import BinaryIO

from core.documents import LOADER_NOTES, Metadata
from core.errors import LoadFailed
from core.ports.indexing import Source

_LEGACY = (
    "cp1252", "cp1251", "koi8_r", "cp932", "gb18030", "big5", "euc_jp", "cp949", "cp1250", "cp1253", "cp1254", "cp1255",
    "cp1256", "cp1257", "iso8859_2", "cp866", "cp874", "mac_roman",
)  # fmt: skip
"""The encodings that are considered. Of two that fit equally well, the first is taken."""

_HANDICAPS = {"mac_roman": 0.1}  # it has the letters of Windows-1252 at other places, and is far less common

_SAMPLE_BYTES = 32_768
_LOOKED_AT = 1_000_000
_READ_BYTES = 1 << 20
_FORMATS = (
    (b"%PDF-", "a PDF file"),
    (b"PK\x03\x04", "a ZIP archive, as .docx, .xlsx, .pptx and .epub files are"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "a file of an old Office program"),
    (b"\x89PNG\r\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ\x00", "an xz archive"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90\x00", "a program"),
    (b"SQLite format 3\x00", "an SQLite database"),
)
_CONTROL = re.compile(rb"[\x01-\x07\x0b\x0e-\x1a\x1c-\x1f\x7f]")
_NON_ASCII = re.compile(r"[^\x00-\x7f]")
_NON_ASCII_BYTE = re.compile(rb"[\x80-\xff]")
_LINE_END = re.compile(rb"[\n\r]")
_IN_WORD = re.compile(r"(?<=[^\W\d_])[^\x00-\x7f’‘·\xad](?=[^\W\d_])")
_ODD_LETTERS = "ﬁﬂˆ"  # of Macintosh: where they stand in a word, Windows-1252 has Þ, ß and ö


def find_binary(content: bytes) -> str:
    """Returns what the content is if it begins like a format that is no text; else ''."""
    return next((name for mark, name in _FORMATS if content.startswith(mark)), "")


def tell_no_utf8(file: BinaryIO) -> str:
    """Reads a file in parts, and returns why it is no text in UTF-8; '' for text in UTF-8.

    So of a large file that is no text, only the beginning is read.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    offset, part = 0, file.read(_READ_BYTES)
    if format := find_binary(part):
        return f"is {format}"
    while part:
        if b"\0" in part:
            return f"holds a zero byte at offset {offset + part.index(0)}"
        waiting = len(decoder.getstate()[0])
        try:
            decoder.decode(part)
        except UnicodeDecodeError as error:
            return f"is not UTF-8 at offset {offset - waiting + error.start}"
        offset += len(part)
        part = file.read(_READ_BYTES)
    waiting = len(decoder.getstate()[0])
    return f"is not UTF-8 at offset {offset - waiting}" if waiting else ""


def _find_utf16(content: bytes) -> str:
    """Returns 'utf-16-le' or 'utf-16-be' for UTF-16 without a byte order mark, or '' for other content.

    The right reading has no unassigned characters, and uses fewer blocks of 256 characters than the other reading.
    """
    if len(content) % 2 or len(content) < 4:
        return ""
    sample = content[:_SAMPLE_BYTES]
    costs = {encoding: cost for encoding in ("utf-16-le", "utf-16-be") if (cost := _cost_utf16(sample, encoding)) > 0}
    return min(costs, key=lambda encoding: costs[encoding]) if costs else ""


def _cost_utf16(sample: bytes, encoding: str) -> float:
    """Returns the number of blocks of 256 characters in use; 0 if the reading is no text."""
    try:
        text = sample.decode(encoding)
    except UnicodeDecodeError as error:
        if error.end < len(sample) - 2:  # not just a pair that the end of the sample has cut
            return 0
        text = sample[: error.start].decode(encoding)
    counts = Counter(unicodedata.category(character) for character in set(text) - set("\t\n\r\f"))
    if not text or counts["Cc"] or counts["Cn"] or counts["Co"] or not any(counts[kind] for kind in ("Ll", "Lu", "Lo")):
        return 0
    return len({ord(character) >> 8 for character in text})


def _is_broken_utf8(content: bytes, at: int) -> bool:
    """Whether content that is not UTF-8 at offset `at` has more characters of UTF-8 than bytes that are not.

    Only the beginning and the surroundings of the offset are counted.
    """
    looked_at = content[:_LOOKED_AT] + b"\n" + content[max(_LOOKED_AT, at - _LOOKED_AT) : at + _LOOKED_AT]
    special = _NON_ASCII.findall(looked_at.decode("utf-8", "surrogateescape"))
    broken = sum(1 for character in special if "\udc80" <= character <= "\udcff")
    return len(special) - broken > broken


def detect_encoding(content: bytes) -> str:
    """Returns the encoding in which all of the content can be decoded and reads most like a language, or ''.

    It is a guess. '' is returned for content with control characters.
    """
    if b"\0" in content or _CONTROL.search(content.rstrip(b"\x1a")):  # some programs of DOS end a text with 0x1a
        return ""
    from charset_normalizer import from_bytes

    sample = _sample(content)
    matches = list(from_bytes(sample, cp_isolation=list(_LEGACY)))
    breaks_words = _breaks_words(sample)
    ranked = sorted(
        (
            breaks_words and encoding == "mac_roman",
            match.chaos,
            _HANDICAPS.get(encoding, 0.0) - match.coherence,
            _LEGACY.index(encoding),
            encoding,
        )
        for match in matches
        for encoding in match.could_be_from_charset
        if encoding in _LEGACY
    )
    return next((encoding for *_, encoding in ranked if _decodes(content, encoding)), "")


def _breaks_words(sample: bytes) -> bool:
    """Whether the sample has more symbols within words as Macintosh than as Windows-1252. Few words suffice for that.

    It has not if Windows-1252 has no characters for some of its bytes.
    """
    if not _decodes(sample, "cp1252"):
        return False
    as_mac, as_windows = (
        sum(
            unicodedata.category(symbol) not in ("Ll", "Lu", "Lo") or symbol in _ODD_LETTERS
            for symbol in _IN_WORD.findall(sample.decode(encoding))
        )
        for encoding in ("mac_roman", "cp1252")
    )
    return as_mac > as_windows


def _sample(content: bytes) -> bytes:
    """Returns the first lines that are not ASCII: ASCII lines tell nothing of the encoding."""
    lines: list[bytes] = []
    size = end = 0
    while found := _NON_ASCII_BYTE.search(content, end):
        start = max(content.rfind(mark, end, found.start()) + 1 for mark in (b"\n", b"\r"))
        start = max(start, end)
        ending = _LINE_END.search(content, found.end())
        end = ending.start() if ending else len(content)
        if size + end - start > _SAMPLE_BYTES:
            break
        lines.append(content[start:end])
        size += end - start + 1
    if lines:
        return b"\n".join(lines)
    first = _NON_ASCII_BYTE.search(content)  # the line is very long
    start = content.rfind(b" ", 0, first.start()) + 1 if first else 0
    return content[start : start + _SAMPLE_BYTES].rsplit(b" ", 1)[0]


def _decodes(content: bytes, encoding: str) -> bool:
    try:
        content.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_UTF32 = (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
_CHARSET = re.compile(r""";\s*charset\s*=\s*["']?([\w.:-]+)""", re.IGNORECASE)
_ISO_2022_JP = (b"\x1b$B", b"\x1b$@", b"\x1b(J")
_NO_ENCODINGS = frozenset(
    ("idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined", "mbcs", "oem", "utf-7")
)
"""Codecs of Python that are no encodings of files, or (UTF-7) whose texts may hold halves of surrogate pairs."""

_NAMES = {
    "cp1252": "Windows-1252", "cp1250": "Windows-1250", "cp1251": "Windows-1251", "cp1253": "Windows-1253",
    "cp1254": "Windows-1254", "cp1255": "Windows-1255", "cp1256": "Windows-1256", "cp1257": "Windows-1257",
    "cp932": "Shift-JIS", "cp949": "EUC-KR", "koi8_r": "KOI8-R", "big5": "Big5", "euc_jp": "EUC-JP",
    "iso8859_2": "ISO-8859-2", "cp866": "IBM866", "cp874": "Windows-874", "mac_roman": "Macintosh",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class DecodedText:
    """A text, and `notes` for the user on how it was decoded."""

    text: str
    notes: tuple[str, ...] = ()

    @property
    def metadata(self) -> Metadata:
        """The notes as metadata of a loaded document."""
        return {LOADER_NOTES: list(self.notes)} if self.notes else {}


def decode(content: bytes, key: str) -> str:
    """Returns a text in UTF-8, or UTF-16 with a byte order mark, without the mark.

    Raises `LoadFailed`, which gives the offset of a wrong byte. For formats that are defined in UTF-8, such as JSON.
    """
    encoding = "utf-16" if content.startswith(_UTF16) else "utf-8"
    mark = len(codecs.BOM_UTF8) if content.startswith(codecs.BOM_UTF8) else 0
    try:
        return _checked(content[mark:].decode(encoding), key)
    except UnicodeDecodeError as error:
        raise _refusal(content, mark, error, encoding, key) from error


def decode_source(source: Source, declared: str = "") -> DecodedText:
    """Returns the text of a source. The `charset` of its media type comes first, `declared` by the content second."""
    stated = _CHARSET.search(source.media_type)
    return decode_text(source.content, source.key, stated[1] if stated else declared)


def decode_text(content: bytes, key: str, declared: str = "") -> DecodedText:
    """Returns the text in the encoding of its byte order mark, else UTF-8, else `declared`, else a guessed encoding.

    Raises `LoadFailed` for content that is no text, with its reason.
    """
    if content.startswith(_UTF32):
        return DecodedText(_decode_marked(content, "utf-32", key))
    if content.startswith((*_UTF16, codecs.BOM_UTF8)):
        return DecodedText(decode(content, key))
    if (encoding := _usable(declared)) and encoding != "utf-8":
        return _decode_declared(content, encoding, declared, key)
    if format := find_binary(content):
        raise LoadFailed(f"{key!r} is {format}, not text; name it by that format's suffix")
    if any(mark in content for mark in _ISO_2022_JP):
        return DecodedText(_decode_marked(content, "iso2022_jp", key), _note("ISO-2022-JP"))
    if b"\0" in content and (encoding := _find_utf16(content)):
        return DecodedText(_decode_marked(content, encoding, key), _note(encoding.upper()))
    try:
        return DecodedText(_checked(content.decode(), key))
    except UnicodeDecodeError as error:
        return _guess(content, error, key)


def _decode_marked(content: bytes, encoding: str, key: str) -> str:
    try:
        return _checked(content.decode(encoding), key)
    except UnicodeDecodeError as error:
        raise _refusal(content, 0, error, encoding, key) from error


def _decode_declared(content: bytes, encoding: str, declared: str, key: str) -> DecodedText:
    """Decodes as declared. A declaration is wrong, which gives a note, if the text is UTF-8 and more than ASCII."""
    if not content.isascii() and not encoding.startswith("utf"):
        with contextlib.suppress(UnicodeDecodeError):
            note = f"read as UTF-8: it is declared to be {declared}, but is not"
            return DecodedText(_checked(content.decode(), key), (note,))
    return DecodedText(_decode_marked(content, encoding, key))


def _guess(content: bytes, error: UnicodeDecodeError, key: str) -> DecodedText:
    if _is_broken_utf8(content, error.start):
        raise _refusal(content, 0, error, "utf-8", key) from error
    encoding = detect_encoding(content)
    if not encoding:
        raise LoadFailed(
            f"{key!r} is not text: byte {content[error.start]:#04x} at offset {error.start} is not UTF-8, and no other "
            "encoding fits; save the file as UTF-8, or name it by its format's suffix"
        ) from error
    return DecodedText(content.decode(encoding), _note(_NAMES.get(encoding, encoding.upper())))


def _note(encoding: str) -> tuple[str, ...]:
    return (f"read as {encoding}, which is a guess: the file is not UTF-8",)


def _usable(declared: str) -> str:
    """Returns the name of the declared codec, or '' if it is unknown or not for text."""
    try:
        info = codecs.lookup(declared) if declared else None
    except (LookupError, ValueError):  # there is no such codec, or its name holds a zero byte
        return ""
    # Browsers read what is declared to be Latin-1 as Windows-1252, which has quotation marks in place of controls.
    name = info.name if info is not None and getattr(info, "_is_text_encoding", True) else ""
    if name.replace("_", "-") in _NO_ENCODINGS:
        return ""
    return "cp1252" if name in ("iso8859-1", "ascii") else name


def _refusal(content: bytes, mark: int, error: UnicodeDecodeError, encoding: str, key: str) -> LoadFailed:
    return LoadFailed(
        f"{key!r} is not {encoding.upper()} text: byte {content[mark + error.start]:#04x} at offset "
        f"{mark + error.start} cannot be decoded; save the file as UTF-8"
    )


def _checked(text: str, key: str) -> str:
    if "\0" in text:
        raise LoadFailed(
            f"{key!r} is not text: it holds a zero byte at character {text.index(chr(0))}; if it is another format, "
            "name it by that format's suffix"
        )
    return text
