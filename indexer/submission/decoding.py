"""Decoding of bytes to text. No byte is ever replaced: what cannot be decoded is refused with its place."""

import codecs
import contextlib
import re
from dataclasses import dataclass

from core.documents import LOADER_NOTES, Metadata
from core.errors import LoadFailed
from core.ports.indexing import Source
from indexer.submission.encodings import detect_encoding, find_binary, find_utf16, is_broken_utf8

__all__ = ["DecodedText", "decode", "decode_source", "decode_text"]

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
    if b"\0" in content and (encoding := find_utf16(content)):
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
    if is_broken_utf8(content, error.start):
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
