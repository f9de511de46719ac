"""Detection of the encoding of a text that is not UTF-8, and recognition of content that is no text."""

import codecs
import re
import unicodedata
from collections import Counter
from typing import BinaryIO

__all__ = ["detect_encoding", "find_binary", "find_utf16", "is_broken_utf8", "tell_no_utf8"]

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


def find_utf16(content: bytes) -> str:
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


def is_broken_utf8(content: bytes, at: int) -> bool:
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
