"""Messages to and from a parser process: frames of bytes, a loaded document as JSON, an image of a page, and files.

Nothing is pickled: a parser that a file has taken over must not reach its parent. What it sends is checked here.
"""

import json
import struct
from collections.abc import Callable, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from core.ports.indexing import Block, LoadedDocument
from indexer.loading.attachments import AttachedFile, FoundFiles
from indexer.loading.pdf.drawing import DrawnPage, is_png

LOAD, DRAW, LIST_FILES = "load", "draw", "list files"
"""The tasks of a request."""

_HEADER = struct.Struct(">Q")
HEADER_BYTES = _HEADER.size


def frame(content: bytes) -> list[bytes]:
    """Returns the parts of a frame: its length, and the content."""
    return [_HEADER.pack(len(content)), content]


def frame_length(header: bytes) -> int:
    """Returns the length that the header of a frame states."""
    return int(_HEADER.unpack(header)[0])


def read_frame(read: Callable[[int], bytes]) -> bytes | None:
    """Returns the content of the next frame, or None at the end of the stream."""
    header = read(HEADER_BYTES)
    if len(header) < HEADER_BYTES:
        return None
    content = read(frame_length(header))
    return content if len(content) == frame_length(header) else None


class _BlockRow(BaseModel):
    model_config = ConfigDict(strict=True)

    page: int | None
    start: int
    end: int
    heading: tuple[str, ...]


class _DocumentRow(BaseModel):
    model_config = ConfigDict(strict=True)

    title: str
    metadata: dict[str, Any]
    pages: tuple[str, ...]
    blocks: tuple[_BlockRow, ...]


def encode_document(document: LoadedDocument) -> bytes:
    """Writes a document whose blocks are parts of its pages. Their texts are written once."""
    blocks = [
        {"page": b.page, "start": b.start, "end": (b.start or 0) + len(b.text), "heading": b.heading}
        for b in document.blocks
    ]
    row = {"title": document.title, "metadata": document.metadata, "pages": document.pages, "blocks": blocks}
    return json.dumps(row, ensure_ascii=False).encode()


def decode_document(key: str, content: bytes) -> LoadedDocument:
    """Raises `ValueError` if `content` is not what `encode_document` writes."""
    try:
        row = _DocumentRow.model_validate_json(content)
    except ValidationError as error:
        raise ValueError(f"the reply has {error.error_count()} errors") from error
    return LoadedDocument(
        key=key,
        title=row.title,
        metadata=row.metadata,
        pages=row.pages,
        blocks=tuple(_block(row.pages, block) for block in row.blocks),
    )


def _block(pages: tuple[str, ...], row: _BlockRow) -> Block:
    number = 1 if row.page is None else row.page
    if not (1 <= number <= len(pages) and 0 <= row.start <= row.end <= len(pages[number - 1])):
        raise ValueError("a block of the reply is outside of its page")
    text = pages[number - 1][row.start : row.end]
    return Block(text=text, heading=row.heading, page=row.page, start=row.start)


_COUNTS = struct.Struct(">QQ")


def encode_drawn_page(page: DrawnPage) -> bytes:
    return _COUNTS.pack(page.pages, page.marked) + page.png


def decode_drawn_page(content: bytes) -> DrawnPage:
    """Raises `ValueError` if `content` is not what `encode_drawn_page` writes."""
    if len(content) < _COUNTS.size:
        raise ValueError("the reply is too short")
    pages, marked = _COUNTS.unpack_from(content)
    png = content[_COUNTS.size :]
    if png and not is_png(png):
        raise ValueError("the reply has no image in PNG")
    return DrawnPage(pages=pages, png=png, marked=marked)


class _FileRow(BaseModel):
    model_config = ConfigDict(strict=True)

    name: str
    media_type: str
    title: str
    size: int


class _MailRow(BaseModel):
    model_config = ConfigDict(strict=True)

    folder: str
    subject: str
    sender: str
    date: str
    files: tuple[_FileRow, ...]


class _MailsRow(BaseModel):
    model_config = ConfigDict(strict=True)

    mails: tuple[_MailRow, ...]


def encode_files(found: Sequence[FoundFiles]) -> bytes:
    """Writes the files of mails: what is known of them as JSON, then their bytes one after the other."""
    mails = [
        {
            "folder": mail.folder,
            "subject": mail.subject,
            "sender": mail.sender,
            "date": mail.date,
            "files": [
                {"name": one.name, "media_type": one.media_type, "title": one.title, "size": len(one.content or b"")}
                for one in mail.files
            ],
        }
        for mail in found
    ]
    head = json.dumps({"mails": mails}, ensure_ascii=False).encode("utf-8", "replace")
    return b"".join([*frame(head), *(one.content or b"" for mail in found for one in mail.files)])


def decode_files(content: bytes) -> tuple[FoundFiles, ...]:
    """Raises `ValueError` if `content` is not what `encode_files` writes."""
    if len(content) < HEADER_BYTES:
        raise ValueError("the reply is too short")
    end = HEADER_BYTES + frame_length(content[:HEADER_BYTES])
    try:
        row = _MailsRow.model_validate_json(content[HEADER_BYTES:end])
    except ValidationError as error:
        raise ValueError(f"the reply has {error.error_count()} errors") from error
    found = []
    for mail in row.mails:
        files = []
        for one in mail.files:
            if one.size < 0:
                raise ValueError("the sizes of the files are wrong")
            part = content[end : end + one.size]
            files.append(AttachedFile(name=one.name, media_type=one.media_type, title=one.title, content=part))
            end += one.size
        found.append(
            FoundFiles(folder=mail.folder, subject=mail.subject, sender=mail.sender, date=mail.date, files=tuple(files))
        )
    if end != len(content):
        raise ValueError("the sizes of the files are wrong")
    return tuple(found)
