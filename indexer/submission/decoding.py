"""Decoding of bytes to text: UTF-8, or UTF-16 with a byte order mark."""

import codecs

from core.errors import LoadFailed

__all__ = ["decode"]

_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def decode(content: bytes, key: str) -> str:
    """Returns the text without its byte order mark. Raises `LoadFailed`, which gives the offset of a wrong byte."""
    encoding = "utf-16" if content.startswith(_UTF16) else "utf-8"
    mark = len(codecs.BOM_UTF8) if content.startswith(codecs.BOM_UTF8) else 0
    try:
        text = content[mark:].decode(encoding)
    except UnicodeDecodeError as error:
        raise LoadFailed(
            f"{key!r} is not {encoding.upper()} text: byte {content[mark + error.start]:#04x} at offset "
            f"{mark + error.start} cannot be decoded; save the file as UTF-8"
        ) from error
    if "\0" in text:
        raise LoadFailed(
            f"{key!r} is not text: it holds a zero byte at character {text.index(chr(0))}; if it is UTF-16 without a "
            "byte order mark, save it as UTF-8, and if it is another format, name it by that format's suffix"
        )
    return text
