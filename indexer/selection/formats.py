"""Formats by content: finds the suffix of a format by the first bytes of a file, or by the names of its parts."""

import re
from typing import BinaryIO

__all__ = ["recognise_format"]

_HEAD = 64 * 1024
_TAIL = 1024 * 1024
_MOST_OF_COMPOUND = 16 * 1024 * 1024
_STARTS = ((b"%PDF-", ".pdf"), (b"{\\rtf", ".rtf"))
_ZIP, _COMPOUND = b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_MEDIA_TYPES = (
    (b"mimetypeapplication/epub+zip", ".epub"),
    (b"mimetypeapplication/vnd.oasis.opendocument.text", ".odt"),
    (b"mimetypeapplication/vnd.oasis.opendocument.spreadsheet", ".ods"),
)
_PARTS = (
    (b"word/document.xml", ".docx"),
    (b"ppt/presentation.xml", ".pptx"),
    (b"xl/workbook.xml", ".xlsx"),
    (b"META-INF/container.xml", ".epub"),
)
_STREAMS = tuple(
    (name.encode("utf-16-le"), suffix)
    for name, suffix in (("__properties_version1.0", ".msg"), ("WordDocument", ".doc"))
)
_HTML = re.compile(
    rb"\s{0,1000}+(?:<\?xml[^>]{0,200}+>\s{0,1000}+)?<(?:!doctype\s{1,100}+html|html[\s>])", re.IGNORECASE
)
_HEADER = re.compile(rb"^([A-Za-z][A-Za-z-]{1,60}+):[ \t]", re.MULTILINE)
_MAIL_HEADERS = frozenset((b"from", b"to", b"date", b"subject", b"message-id", b"received", b"mime-version"))
_FIRST_HEADERS = _MAIL_HEADERS | {b"return-path", b"delivered-to", b"x-original-to", b"envelope-to"}
_MAILBOX = re.compile(rb"From \S{1,300} [^\r\n]{0,200}\d{2}:\d{2}")


def recognise_format(content: BinaryIO) -> str:
    """Returns the suffix of the format that content has by itself, such as `.pdf`; '' for other binary files and text.

    Office files are recognised by the names of their parts, which are not compressed; nothing is unpacked.
    """
    head = content.read(_HEAD)
    for start, suffix in _STARTS:
        if head.startswith(start):
            return suffix
    if head.startswith(_ZIP):
        return _find(head[:200], _MEDIA_TYPES) or _find(head + _read_tail(content), _PARTS)
    if head.startswith(_COMPOUND):
        return _find(head + content.read(_MOST_OF_COMPOUND), _STREAMS)
    if _HTML.match(head.removeprefix(b"\xef\xbb\xbf")):
        return ".html"
    return ".eml" if _is_mail(head) else ""


def _find(content: bytes, names: tuple[tuple[bytes, str], ...]) -> str:
    return next((suffix for name, suffix in names if name in content), "")


def _read_tail(content: BinaryIO) -> bytes:
    """Returns the end of a file, where an archive lists its parts."""
    size = content.seek(0, 2)
    content.seek(max(0, size - _TAIL))
    return content.read()


def _is_mail(head: bytes) -> bool:
    """Whether content begins with the headers of a mail, or with the line between the mails of a mailbox."""
    if _MAILBOX.match(head):
        return True
    top = re.split(rb"\r?\n\r?\n", head, maxsplit=1)[0]
    names = [name.lower() for name in _HEADER.findall(top)]
    is_first = bool(names) and top.lower().startswith(names[0] + b":") and names[0] in _FIRST_HEADERS
    return is_first and len(_MAIL_HEADERS.intersection(names)) >= 3
