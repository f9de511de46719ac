"""Loads what docling has made of a file, in the parser process. The file itself is asked for its properties only.

Text has the form of our own loaders: an item of a list and a row of a table are a line, a heading begins a section.
"""

import struct
from collections.abc import Mapping, Sequence
from typing import Any

from core.documents import LOADER_NOTES, READ_BY
from core.errors import LoadFailed
from core.passage_context import PAGE_LABELS, make_page_labels
from core.ports.indexing import LoadedDocument, Loader, Source
from core.strategies import StrategyConfig
from core.text.titles import stem_of
from indexer.loading.archives import open_archive
from indexer.loading.assembly import TextBuilder, finish_document
from indexer.loading.covers import tell_apart
from indexer.loading.docling.document import read_reply
from indexer.loading.docling.parts import Kind, Part, read_parts
from indexer.loading.properties import read_office_properties
from indexer.loading.running_lines import find_running_lines

MOST_PAGES = 10_000
_LEAST_REACH, _MOST_REACH = 3, 10
"""A heading of a PDF ends after a tenth of the pages, but not before so many pages."""
_OWN_HEADINGS = ("pptx", "xlsx", "ods", "odp")
"""Formats of which no page goes on with the heading of the page before."""
_OFFICE = {"docx": "word/document.xml", "pptx": "ppt/presentation.xml", "xlsx": "xl/workbook.xml"}
_LENGTH = struct.Struct(">Q")


class Config(StrategyConfig):
    """`format` is the name of the loader that would read the file."""

    format: str = "pdf"


class ReplyLoader:
    """Loads a source whose content is what `pack` returns."""

    def __init__(self, config: Config) -> None:
        self._config = config

    def load(self, source: Source) -> LoadedDocument:
        (length,) = _LENGTH.unpack_from(source.content)
        file = source.content[_LENGTH.size : _LENGTH.size + length]
        return load_reply(source, self._config.format, file, source.content[_LENGTH.size + length :])


def pack(file: bytes, reply: bytes) -> bytes:
    """Returns a file and the reply of docling as one content."""
    return b"".join([_LENGTH.pack(len(file)), file, reply])


def load_reply(source: Source, format: str, file: bytes, reply: bytes) -> LoadedDocument:
    """Returns the document. Raises `LoadFailed` if the reply has none, or too many pages."""
    told, document = read_reply(source.key, reply)
    parts = read_parts(document, repeat_names=format != "pdf")
    numbered = bool(document.pages) and any(part.page is not None for part in parts)
    builder = TextBuilder()
    missing: list[int] = []
    if numbered:
        pages = max([*document.pages, *(part.page or 1 for part in parts)])
        if pages > MOST_PAGES:
            raise LoadFailed(f"{source.key!r} has more than {MOST_PAGES:,} pages: split it")
        missing = [number for number in range(1, pages + 1) if number not in document.pages]
        paged = _by_page(parts, pages)
        _add_pages(builder, _drop_running_lines(paged) if format == "pdf" else paged, format)
    else:
        _add_parts(builder, parts)
        builder.end_page()
    title, metadata = _read_properties(format, source.key, file)
    metadata[READ_BY] = "docling"
    if told.status != "success" or missing:
        metadata[LOADER_NOTES] = [_describe_gaps(missing, told.reason)]
    title = title or _find_title(parts)
    if format == "pdf" and title:
        title = tell_apart(title, stem_of(source.key))
    return finish_document(source, builder, title, metadata, numbered=numbered)


def _by_page(parts: Sequence[Part], pages: int) -> list[list[Part]]:
    """Returns the parts of each page. A part without a page belongs to the page of the part before it."""
    found: list[list[Part]] = [[] for _ in range(pages)]
    page = 1
    for part in parts:
        page = page if part.page is None else part.page
        if 1 <= page <= pages:
            found[page - 1].append(part)
    return found


def _drop_running_lines(pages: Sequence[Sequence[Part]]) -> list[list[Part]]:
    """Leaves out headers and footers of pages that docling took for text."""
    running = find_running_lines([[part.text for part in page] for page in pages])
    return [
        [part for n, part in enumerate(page) if n not in dropped] for page, dropped in zip(pages, running, strict=True)
    ]


def _add_pages(builder: TextBuilder, pages: Sequence[Sequence[Part]], format: str) -> None:
    reach = max(_LEAST_REACH, len(pages) // _MOST_REACH) if format == "pdf" else len(pages)
    last = 0
    for number, parts in enumerate(pages):
        last = number if any(part.kind in (Kind.TITLE, Kind.HEADING) for part in parts) else last
        if format in _OWN_HEADINGS or number - last == reach:
            builder.clear_headings()
        _add_parts(builder, parts)
        builder.end_page()


def _add_parts(builder: TextBuilder, parts: Sequence[Part]) -> None:
    is_list = False
    for part in parts:
        if is_list and part.kind is not Kind.LINE:
            builder.add_line()
        is_list = part.kind is Kind.LINE
        if part.kind is Kind.TITLE:
            builder.add_heading(0, part.text)
        elif part.kind is Kind.HEADING:
            builder.add_heading(part.level, part.text)
        elif part.kind is Kind.NAME:
            builder.add_heading(1, part.text, line="")
        elif is_list:
            builder.add_line(part.text)
        elif part.text.strip():
            builder.add_line(part.text.strip("\n").rstrip())
            builder.add_line()


def _find_title(parts: Sequence[Part]) -> str:
    """Returns the title, or the heading with which the first page begins, or ''."""
    for part in parts:
        if part.kind is Kind.TITLE:
            return part.text
    first = next((part for part in parts if part.kind is not Kind.NAME), None)
    return first.text if first and first.kind is Kind.HEADING and first.page in (1, None) else ""


def _describe_gaps(missing: Sequence[int], reason: str) -> str:
    pages = f" pages {', '.join(map(str, missing[:20]))}{' and more' if len(missing) > 20 else ''}" if missing else ""
    return f"docling did not read all of it{':' if pages else ''}{pages}{f' ({reason})' if reason else ''}"


def _read_properties(format: str, key: str, file: bytes) -> tuple[str, dict[str, Any]]:
    """Returns the title and the metadata that the file states."""
    if format == "pdf":
        return _read_pdf(key, file)
    if part := _OFFICE.get(format):
        with open_archive(file, key, format.upper(), part) as archive:
            return read_office_properties(archive, key)
    return "", {}


def _read_pdf(key: str, file: bytes) -> tuple[str, dict[str, Any]]:
    from indexer.loading.pdf.properties import open_pdf, read_page_labels, read_properties

    document = open_pdf(key, file)
    try:
        labels = read_page_labels(document)
        title, found = read_properties(document)
    finally:
        document.close()
    metadata: Mapping[str, Any] = {PAGE_LABELS: sequences} if (sequences := make_page_labels(labels)) else {}
    return title, {**found, **metadata}


def build(config: Config, _backends: object) -> Loader:
    return ReplyLoader(config)
