"""Text documents of OpenDocument (ODT): one block per section, under its path of headings; a table row is a line.

Deleted passages of tracked changes are left out. Footnotes and endnotes follow their paragraph. Headers, footers and
comments are not read. Source: OpenDocument 1.3, part 3.
"""

from collections.abc import Iterator
from typing import Any

from pydantic import Field

from core.errors import LoadFailed
from core.ports.indexing import LoadedDocument, Loader, Source
from core.strategies import StrategyConfig
from indexer.loading.archives import parse_xml, read_member
from indexer.loading.assembly import TextBuilder, finish_document
from indexer.loading.examples import example_of
from indexer.loading.odf import (
    LEFT_OUT,
    MOST_REPEATED,
    OFFICE,
    STYLE,
    TABLE,
    TEXT,
    collapse,
    open_odf,
    read_characters,
    read_count,
    read_odf_properties,
)
from indexer.loading.paragraphs import BODY, TITLE, Paragraph, add_paragraphs

MEDIA_TYPES = ("application/vnd.oasis.opendocument.text", "application/vnd.oasis.opendocument.text-template")
SUFFIXES = (".odt", ".ott")
ISOLATED = True
EXAMPLE = example_of("odt")

_PARAGRAPHS = (f"{TEXT}p", f"{TEXT}h")
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
        with open_odf(source.content, key, "ODT") as archive:
            stated, metadata = read_odf_properties(archive, key)
            root = parse_xml(read_member(archive, "content.xml", key), key, "content.xml")
        body = root.find(f"{OFFICE}body/{OFFICE}text")
        if body is None:
            raise LoadFailed(f"{key!r} is no ODT file: its part 'content.xml' has no text document")
        builder = TextBuilder()
        paragraphs = _Walk(_find_titles(root)).paragraphs(body)
        title, heading = add_paragraphs(builder, paragraphs, **self._config.model_dump())
        builder.end_page()
        return finish_document(source, builder, title or stated or heading, metadata, numbered=False)


def _find_titles(root: Any) -> frozenset[str]:
    """Returns the styles of titles: "Title", and the automatic styles that are based on it."""
    styles = root.iterfind(f"{OFFICE}automatic-styles/{STYLE}style")
    named = (style.get(f"{STYLE}name") for style in styles if style.get(f"{STYLE}parent-style-name") == "Title")
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
            elif element.tag == f"{TABLE}table":
                yield from self._rows(element)
            elif isinstance(element.tag, str) and element.tag not in LEFT_OUT:
                yield from self.paragraphs(element)

    def _paragraph(self, element: Any) -> Paragraph:
        notes: list[str] = []
        text = self._text(element, notes)
        level = BODY
        if element.tag == f"{TEXT}h":
            stated = element.get(f"{TEXT}outline-level", "1")
            level = int(stated) if stated in set("123456789") else 9
        elif element.get(f"{TEXT}style-name") in self._titles:
            level = TITLE
        return Paragraph(text=text, level=level, notes=tuple(notes))

    def _rows(self, table: Any) -> Iterator[Paragraph]:
        """Yields the cells of a table, each with all its text, and the ends of rows. A table in a cell is its text."""
        for element in table:
            if element.tag == f"{TABLE}table-row":
                for cell in element:
                    if cell.tag in (f"{TABLE}table-cell", f"{TABLE}covered-table-cell"):
                        yield from self._cells(cell)
                yield Paragraph(text="", ends_row=True, is_in_table=True)
            elif isinstance(element.tag, str) and element.tag not in LEFT_OUT:
                yield from self._rows(element)

    def _cells(self, cell: Any) -> Iterator[Paragraph]:
        inside = list(self.paragraphs(cell))
        text = "\n".join(one.text for one in inside if one.text)
        notes = tuple(note for one in inside for note in one.notes)
        count = min(read_count(cell, f"{TABLE}number-columns-repeated"), MOST_REPEATED)
        self._repeated += (count - 1) * (len(text) + sum(map(len, notes)))
        if self._repeated > _MOST_REPEATED_TEXT:
            count = 1
        for _ in range(count):
            yield Paragraph(text=text, notes=notes, ends_cell=True, is_in_table=True)

    def _text(self, element: Any, notes: list[str]) -> str:
        """Returns the text of a paragraph, with the paragraphs of frames in it as lines; adds its notes to `notes`.

        White space is collapsed as the format demands: characters that count are elements of their own.
        """
        parts = [collapse(element.text)]
        for child in element:
            if child.tag == f"{TEXT}note":
                lines = (line for body in child.iterfind(f"{TEXT}note-body") for line in self.paragraphs(body))
                notes.append("\n".join(line.text.strip() for line in lines if line.text.strip()))
            elif (characters := read_characters(child)) is not None:
                parts.append(characters)
            elif child.tag in (*_PARAGRAPHS, f"{TABLE}table"):  # in a frame
                parts.append("\n" + self._text(child, notes) + "\n")
            elif isinstance(child.tag, str) and child.tag not in LEFT_OUT:
                parts.append(self._text(child, notes))
            parts.append(collapse(child.tail))
        return "".join(parts)


def build(config: Config, _backends: object) -> Loader:
    return OdtLoader(config)
