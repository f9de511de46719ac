"""Text documents of OpenDocument (ODT): one block per section, under its path of headings; a table row is a line.

Deleted passages of tracked changes are left out. Footnotes and endnotes follow their paragraph. Headers, footers and
comments are not read. Source: OpenDocument 1.3, part 3.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Any
from zipfile import ZipFile

from pydantic import Field

from core.errors import LoadFailed
from core.ports.indexing import LoadedDocument, Loader, Source
from core.strategies import StrategyConfig
from indexer.loading.archives import check_archive, open_archive, read_member
from indexer.loading.assembly import TextBuilder, finish_document
from indexer.loading.examples import example_of
from indexer.loading.paragraphs import BODY, TITLE, Paragraph, add_paragraphs
from indexer.loading.properties import make_metadata, parse_time
from indexer.loading.xml import parse_xml

__all__ = ["EXAMPLE", "ISOLATED", "MEDIA_TYPES", "SUFFIXES", "Config", "OdtLoader", "build"]

MEDIA_TYPES = ("application/vnd.oasis.opendocument.text", "application/vnd.oasis.opendocument.text-template")
SUFFIXES = (".odt", ".ott")
ISOLATED = True
EXAMPLE = example_of("odt")

_NAMES = "urn:oasis:names:tc:opendocument:xmlns:"
_OFFICE, _TEXT, _TABLE = (f"{{{_NAMES}{name}:1.0}}" for name in ("office", "text", "table"))
_STYLE = f"{{{_NAMES}style:1.0}}"
_LEFT_OUT = frozenset(
    (
        *(f"{_TEXT}{name}" for name in ("tracked-changes", "note-citation", "ruby-text", "sequence-decls", "deletion")),
        *(f"{_OFFICE}{name}" for name in ("annotation", "annotation-end", "forms", "scripts", "event-listeners")),
        f"{{{_NAMES}svg-compatible:1.0}}title",
        f"{{{_NAMES}svg-compatible:1.0}}desc",
    )
)
_CHARACTERS = {f"{_TEXT}tab": "\t", f"{_TEXT}line-break": "\n"}
_PARAGRAPHS = (f"{_TEXT}p", f"{_TEXT}h")
_MOST_REPEATED = 64
"""Cells and spaces that one element stands for."""
_MOST_REPEATED_TEXT = 20_000
"""Characters that repeated cells add to a document. Cells after them are read once."""


class Config(StrategyConfig):
    """Which parts of a document are read."""

    tables: bool = Field(default=True, description="Read tables, each row as a line.")
    notes: bool = Field(default=True, description="Read footnotes and endnotes, each after the paragraph that has it.")


class OdtLoader:
    """Loads ODT. The title is the sender's, else the paragraph in the style "Title", else the title of the properties,
    else the first heading of level 1, else the name of the file.
    """

    def __init__(self, config: Config) -> None:
        self._config = config

    def load(self, source: Source) -> LoadedDocument:
        key = source.key
        with open_archive(source.content, key, "ODT", "content.xml") as archive:
            _check_not_encrypted(archive, key)
            check_archive(archive, key, may_have_doctype=True)  # OpenOffice 2 writes one
            stated, metadata = _read_properties(archive, key)
            root = parse_xml(read_member(archive, "content.xml", key), key, "content.xml")
        body = root.find(f"{_OFFICE}body/{_OFFICE}text")
        if body is None:
            raise LoadFailed(f"{key!r} is no ODT file: its part 'content.xml' has no text document")
        builder = TextBuilder()
        paragraphs = _Walk(_find_titles(root)).paragraphs(body)
        title, heading = add_paragraphs(builder, paragraphs, **self._config.model_dump())
        builder.end_page()
        return finish_document(source, builder, title or stated or heading, metadata, numbered=False)


def _check_not_encrypted(archive: ZipFile, key: str) -> None:
    """Raises `LoadFailed` if the list of parts names an encryption, or the whole document is one encrypted part."""
    name = "META-INF/manifest.xml"
    if name in archive.namelist() and b"encryption-data" in read_member(archive, name, key):
        raise LoadFailed(f"{key!r} is encrypted with a password; save it without one")


def _read_properties(archive: ZipFile, key: str) -> tuple[str, dict[str, Any]]:
    if "meta.xml" not in archive.namelist():
        return "", {}
    root = parse_xml(read_member(archive, "meta.xml", key), key, "meta.xml")
    texts: dict[str, list[str]] = {}
    for element in root.iter():
        if isinstance(element.tag, str) and element.text:
            texts.setdefault(element.tag.rpartition("}")[2], []).append(element.text)
    found = {name: values[0] for name, values in texts.items()}
    return found.get("title", ""), make_metadata(
        {
            "author": found.get("initial-creator") or found.get("creator"),
            "created": _time(found.get("creation-date")),
            "modified": _time(found.get("date")),
            "language": found.get("language"),
            "subject": found.get("subject"),
            "keywords": ", ".join(texts.get("keyword", [])) or None,
        }
    )


def _time(text: str | None) -> datetime | None:
    """ODF has fractions of a second of any length (`2024-01-31T12:00:00.123456789`)."""
    return parse_time((text or "").partition(".")[0])


def _find_titles(root: Any) -> frozenset[str]:
    """Returns the styles of paragraphs that are titles: "Title", and the automatic ones that are based on it."""
    styles = root.iterfind(f"{_OFFICE}automatic-styles/{_STYLE}style")
    named = (style.get(f"{_STYLE}name") for style in styles if style.get(f"{_STYLE}parent-style-name") == "Title")
    return frozenset(("Title", *filter(None, named)))


class _Walk:
    """Reads the elements of a text in order. `titles` are the styles of titles."""

    def __init__(self, titles: frozenset[str]) -> None:
        self._titles = titles
        self._repeated = 0

    def paragraphs(self, parent: Any) -> Iterator[Paragraph]:
        """Yields the paragraphs of sections, lists, indexes and tables."""
        for element in parent:
            if element.tag in _PARAGRAPHS:
                yield self._paragraph(element)
            elif element.tag == f"{_TABLE}table":
                yield from self._rows(element)
            elif isinstance(element.tag, str) and element.tag not in _LEFT_OUT:
                yield from self.paragraphs(element)

    def _paragraph(self, element: Any) -> Paragraph:
        notes: list[str] = []
        text = self._text(element, notes)
        level = BODY
        if element.tag == f"{_TEXT}h":
            stated = element.get(f"{_TEXT}outline-level", "1")
            level = int(stated) if stated in set("123456789") else 9
        elif element.get(f"{_TEXT}style-name") in self._titles:
            level = TITLE
        return Paragraph(text=text, level=level, notes=tuple(notes))

    def _rows(self, table: Any) -> Iterator[Paragraph]:
        """Yields the cells of a table, each with all its text, and the ends of rows. A table in a cell is its text."""
        for element in table:
            if element.tag == f"{_TABLE}table-row":
                for cell in element:
                    if cell.tag in (f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"):
                        yield from self._cells(cell)
                yield Paragraph(text="", ends_row=True, is_in_table=True)
            elif isinstance(element.tag, str) and element.tag not in _LEFT_OUT:
                yield from self._rows(element)

    def _cells(self, cell: Any) -> Iterator[Paragraph]:
        inside = list(self.paragraphs(cell))
        text = "\n".join(one.text for one in inside if one.text)
        notes = tuple(note for one in inside for note in one.notes)
        stated = cell.get(f"{_TABLE}number-columns-repeated", "1")
        count = min(int(stated), _MOST_REPEATED) if stated.isdecimal() and len(stated) < 10 else 1
        self._repeated += (count - 1) * (len(text) + sum(map(len, notes)))
        if self._repeated > _MOST_REPEATED_TEXT:
            count = 1
        for _ in range(count):
            yield Paragraph(text=text, notes=notes, ends_cell=True, is_in_table=True)

    def _text(self, element: Any, notes: list[str]) -> str:
        """Returns the text of a paragraph, with the paragraphs of frames in it as lines; adds its notes to `notes`.

        White space is collapsed as the format demands: characters that count are elements of their own.
        """
        parts = [_collapse(element.text)]
        for child in element:
            if child.tag == f"{_TEXT}note":
                lines = (line for body in child.iterfind(f"{_TEXT}note-body") for line in self.paragraphs(body))
                notes.append("\n".join(line.text.strip() for line in lines if line.text.strip()))
            elif child.tag == f"{_TEXT}s":
                stated = child.get(f"{_TEXT}c", "1")
                parts.append(" " * (min(int(stated), _MOST_REPEATED) if stated.isdecimal() and len(stated) < 10 else 1))
            elif child.tag in _CHARACTERS:
                parts.append(_CHARACTERS[child.tag])
            elif child.tag in (*_PARAGRAPHS, f"{_TABLE}table"):  # in a frame
                parts.append("\n" + self._text(child, notes) + "\n")
            elif isinstance(child.tag, str) and child.tag not in _LEFT_OUT:
                parts.append(self._text(child, notes))
            parts.append(_collapse(child.tail))
        return "".join(parts)


def _collapse(text: str | None) -> str:
    if not text:
        return ""
    before, after = text[:1].isspace(), text[-1:].isspace()
    inner = " ".join(text.split())
    return (" " * before + inner + " " * after) if inner else " "


def build(config: Config, _backends: object) -> Loader:
    return OdtLoader(config)
