"""Loaders by media type or suffix: the modules of `indexer.loaders`, each of which names what it reads.

First come formats by content: the suffix of a format by the first bytes of a file, or by the names of its parts.
"""

import asyncio
import importlib
import io
import mimetypes
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path, PurePath
from types import ModuleType
from typing import BinaryIO

from core.documents import (
    LOADER_NOTES,
    MAX_METADATA_LENGTH,
    MAX_METADATA_VALUES,
    MAX_TITLE_LENGTH,
    Metadata,
    loader_notes,
    measure_metadata,
)
from core.errors import InvalidInput, InvalidStrategy, LoadFailed, UnsupportedMedia
from core.ports.indexing import Block, LoadedDocument, Loader, Source
from core.strategies import StrategyConfig, list_names, parse_config, parse_spec
from indexer.isolation.frames import LIST_FILES, decode_files
from indexer.isolation.limits import ParserLimits
from indexer.isolation.parser_process import IsolatedLoader, ParserProcess
from indexer.loading.attachments import FoundFiles
from indexer.selection.docling import Docling
from indexer.submission.decoding import find_binary, tell_no_utf8
from indexer.submission.document_json import canonical_json

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
    for name, suffix in (("__properties_version1.0", ".msg"), ("WordDocument", ".doc"), ("Workbook", ".xls"))
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


_PACKAGE = "indexer.loaders"
_PLAIN_TEXT = "text/plain"
_LONGEST_MARK = 64
"""Bytes at the beginning of a file that tell a binary format."""
_MOST_NOTES = 20
_LONGEST_HEADING = 1000  # characters of a heading path
_TEXTS = frozenset(("html", "md", "rst", "txt"))
"""Loaders of files that are mostly text, unlike files with pictures."""
_LARGE = 20_000
_LITTLE = 0.01
"""A large file of text of which less is read than this has its text in scripts, or was not understood."""


class Loaders:
    """All loaders, with options for some of them: `specs` such as `pdf:ocr=never`. They share one parser process.

    `docling` reads files in place of some loaders; None: of none.
    """

    def __init__(
        self, specs: Sequence[str] = (), limits: ParserLimits | None = None, docling: Docling | None = None
    ) -> None:
        """Raises `InvalidStrategy` if a loader is unknown or named twice, or does not have an option."""
        self._process = ParserProcess(limits)
        self._docling = docling
        parsed = [parse_spec(spec) for spec in specs]
        self._configs = {spec.name: parse_config(_PACKAGE, spec, "loader") for spec in parsed}
        if len(self._configs) < len(parsed):
            raise InvalidStrategy(f"a loader is named more than once in {', '.join(specs)}; name each once")

    def load(self, source: Source, *, docling: bool = True) -> LoadedDocument:
        """Raises `LoadFailed` or `UnsupportedMedia`. Metadata that no store can keep are refused, too. Raises
        `Unavailable` if the endpoint of docling cannot be reached.

        Titles and heading paths that are too long are cut: each chunk keeps them. Without `docling`, our own loader
        reads the file.
        """
        document = self.find(source.media_type, docling=docling).load(source)
        try:
            canonical_json(document.metadata)
        except InvalidInput as error:
            raise LoadFailed(f"{source.key!r} has metadata that cannot be kept: {error}") from error
        blocks = tuple(map(_fit_heading, document.blocks))
        metadata = _fit_metadata(_note_little_text(document, source))
        return replace(document, title=document.title[:MAX_TITLE_LENGTH], blocks=blocks, metadata=metadata)

    def find(self, media_type: str, *, docling: bool = True) -> Loader:
        """Returns the loader of a media type, without regard to its parameters and case. Raises `UnsupportedMedia`."""
        module = module_of(media_type)
        name = module.__name__.rpartition(".")[2]
        if docling and self._docling is not None and name in self._docling.formats:
            return self._docling.make_loader(name, self._process)
        config: StrategyConfig = self._configs.get(name) or module.Config()
        if getattr(module, "ISOLATED", False):
            return IsolatedLoader(module=module.__name__, config=config, process=self._process)
        loader: Loader = module.build(config, None)
        return loader

    def reads_files(self, media_type: str) -> bool:
        """Whether documents of a media type may have attachments, as mails do. Raises `UnsupportedMedia`."""
        return hasattr(module_of(media_type), "read_files")

    def find_files(self, source: Source) -> tuple[FoundFiles, ...]:
        """Returns the attachments that are documents of their own, for each mail of a file that has some; () for other
        files. Raises `LoadFailed`.

        They are found in the parser process, unless the bytes of the file show that it has no attachments.
        """
        module = module_of(source.media_type)
        if not hasattr(module, "read_files") or not module.may_have_files(source.content):
            return ()
        request = {"task": LIST_FILES, "module": module.__name__, "key": source.key}
        reply = self._process.parse(source.key, request, source.content)
        try:
            return decode_files(reply)
        except ValueError as error:
            raise LoadFailed(f"{source.key!r} cannot be read: its parser sent no valid reply ({error})") from error

    @property
    def parser_pid(self) -> int | None:
        """The number of the parser process, if it runs."""
        return self._process.pid

    def interrupt(self) -> None:
        """Ends the parsing of a binary file; what waits for it fails. A text that is read in this process goes on."""
        self._process.interrupt()
        if self._docling is not None:
            self._docling.interrupt()

    async def close(self) -> None:
        """Ends the parser process. The next binary file starts a new process."""
        await asyncio.to_thread(self._process.close)
        if self._docling is not None:
            await asyncio.to_thread(self._docling.close)


def _note_little_text(document: LoadedDocument, source: Source) -> Metadata:
    """Returns the metadata of a document, with a note if almost nothing of a large file of text was read."""
    size, read = len(source.content), sum(len(block.text) for block in document.blocks)
    is_text = module_of(source.media_type).__name__.rpartition(".")[2] in _TEXTS
    if not is_text or size <= _LARGE or read >= _LITTLE * size:
        return document.metadata
    note = f"almost no text was found: {read:,} characters in a file of {size:,} bytes"
    return {**document.metadata, LOADER_NOTES: [*loader_notes(document.metadata), note]}


def _fit_metadata(metadata: Metadata) -> Metadata:
    """Returns the metadata without the largest fields, if all together are more than a document may have."""
    values, characters = measure_metadata(metadata)
    if values <= MAX_METADATA_VALUES and characters <= MAX_METADATA_LENGTH:
        return metadata
    kept = dict(metadata)
    notes = loader_notes(metadata)
    sizes = {name: max(measure_metadata(value)) for name, value in metadata.items() if name != LOADER_NOTES}
    for name in sorted(sizes, key=sizes.__getitem__, reverse=True):
        del kept[name]
        notes.append(f"the field {name[:80]!r} of its metadata is left out: it is too long")
        values, characters = measure_metadata(kept)
        if values <= MAX_METADATA_VALUES // 2 and characters <= MAX_METADATA_LENGTH // 2:
            break
    return {**kept, LOADER_NOTES: notes[:_MOST_NOTES]}


def _fit_heading(block: Block) -> Block:
    """Returns the block with the last parts of its heading path that have at most `_LONGEST_HEADING` characters."""
    if sum(map(len, block.heading)) <= _LONGEST_HEADING:
        return block
    kept: list[str] = []
    room = _LONGEST_HEADING
    for part in reversed(block.heading):
        if len(part) > room:
            break
        kept.insert(0, part)
        room -= len(part)
    return replace(block, heading=tuple(kept) or (block.heading[-1][:_LONGEST_HEADING],))


def loader_for(media_type: str) -> Loader:
    """Returns the loader of a media type with its default options and limits, as `Loaders.find` does."""
    return Loaders().find(media_type)


def module_of(media_type: str) -> ModuleType:
    """Returns the module of the loader of a media type. Raises `UnsupportedMedia`."""
    plain = media_type.partition(";")[0].strip().lower()
    for module in _modules():
        if plain in module.MEDIA_TYPES:
            return module
    known = ", ".join(sorted(kind for module in _modules() for kind in module.MEDIA_TYPES))
    raise UnsupportedMedia(f"no loader reads media type {plain!r}; there are loaders for {known}")


def media_type_of(path: str | PurePath) -> str:
    """Returns the media type of the suffix of a file. Raises `UnsupportedMedia`; it names a suffix of each loader."""
    suffix = PurePath(path).suffix.lower()
    for module in _modules():
        if suffix in module.SUFFIXES:
            media_type: str = module.MEDIA_TYPES[0]
            return media_type
    what = f"{suffix} files" if suffix else "files without a suffix"
    kinds = ", ".join(sorted(module.SUFFIXES[0] for module in _modules()))
    raise UnsupportedMedia(f"no loader reads {what}; there are loaders for {kinds} and the like")


def media_type_of_file(file: Path, name: str | PurePath) -> str:
    """Returns the media type of a file that is called `name`, as `media_type_of_content` does.

    Raises `UnsupportedMedia`, and `OSError` if the file cannot be read. It is read only if its suffix tells no format.
    """
    if tells_format(name):
        return media_type_of(name)
    with file.open("rb") as content:
        return _recognise(content, PurePath(name).suffix)


def media_type_of_content(name: str, content: bytes) -> str:
    """Returns the media type of content that is called `name`, by the suffix. Without a suffix, or with a suffix of no
    known format (`GPL-2.0`, `mount.8`, `notes.v2`), it is found by the content: a binary format by its first bytes,
    else plain text in UTF-8.

    Raises `UnsupportedMedia` for a format that no loader reads, and for content of no known format.
    """
    if tells_format(name):
        return media_type_of(name)
    return _recognise(io.BytesIO(content), PurePath(name).suffix)


def tells_format(name: str | PurePath) -> bool:
    """Whether the suffix of a name belongs to a loader, or to another registered format, such as `.png`.

    Formats are registered in Python's own table and not the system's, so they are the same everywhere.
    """
    suffix = PurePath(name).suffix.lower()
    if not suffix or suffix[1:].isdecimal():
        return False
    return suffix in _suffixes() or suffix in _registered().types_map[True] or suffix in _registered().encodings_map


@cache
def _registered() -> mimetypes.MimeTypes:
    return mimetypes.MimeTypes()


def _recognise(content: BinaryIO, suffix: str) -> str:
    """Returns the media type that content tells by itself. Raises `UnsupportedMedia`."""
    if found := recognise_format(content):
        return media_type_of("x" + found)
    content.seek(0)
    format = find_binary(content.read(_LONGEST_MARK))
    if format and suffix:
        raise UnsupportedMedia(
            f"no loader reads {suffix} files, and this one is {format}; save it in a format that one reads, "
            "such as .pdf, .docx or .xlsx"
        )
    content.seek(0)
    if reason := tell_no_utf8(content):
        what = f"a file with the suffix {suffix}" if suffix else "a file without a suffix"
        raise UnsupportedMedia(
            f"{what} is read as text in UTF-8, and this one {reason}; name it by its format's suffix, "
            "which is .txt for text in another encoding"
        )
    return _PLAIN_TEXT


def known_suffixes() -> list[str]:
    """Returns all suffixes that a loader reads, sorted."""
    return sorted(_suffixes())


@cache
def _suffixes() -> frozenset[str]:
    return frozenset(suffix for module in _modules() for suffix in module.SUFFIXES)


@cache
def _modules() -> tuple[ModuleType, ...]:
    return tuple(importlib.import_module(f"{_PACKAGE}.{name}") for name in list_names(_PACKAGE))
