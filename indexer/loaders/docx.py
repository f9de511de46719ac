"""Word documents (DOCX): one block per section, under its path of headings; a table row is a line.

Headings are paragraphs in a style of headings, and short paragraphs in bold, as in most contracts.

Deleted passages of tracked changes are left out. Footnotes and endnotes follow their paragraph. Headers, footers and
comments are not read.
"""

import io
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

from pydantic import Field

from core.errors import LoadFailed
from core.ports.indexing import LoadedDocument, Loader, Source
from core.strategies import StrategyConfig
from core.text.titles import one_line
from indexer.loading.archives import check_archive, open_archive, parse_xml, read_member
from indexer.loading.assembly import TextBuilder, finish_document
from indexer.loading.examples import example_of
from indexer.loading.properties import read_office_properties
from indexer.loading.texts.cell_grid import CellGrid

if TYPE_CHECKING:
    from docx.document import Document


MEDIA_TYPES = ("application/vnd.openxmlformats-officedocument.wordprocessingml.document",)
SUFFIXES = (".docx",)
ISOLATED = True
EXAMPLE = example_of("docx")

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_CHARACTERS = {f"{_W}tab": "\t", f"{_W}br": "\n", f"{_W}cr": "\n", f"{_W}noBreakHyphen": "-"}
_REFERENCES = {f"{_W}footnoteReference": "word/footnotes.xml", f"{_W}endnoteReference": "word/endnotes.xml"}
_TITLE, _NO_LEVEL = 0, 9
_LONGEST_HEADING = 100
"""Characters of a paragraph in bold that may be a heading."""
_LONG_WORD, _MOST_WORDS = 4, 6
"""Letters of a word that headings write with a capital, and how many such words a heading with a full stop has."""
_FEWEST_BOLD, _MOST_BOLD = 3, 0.3
"""Headings in bold, and the part of the text that is in bold: fewer, or more, is emphasis."""


class Config(StrategyConfig):
    """Which parts of a document are read."""

    tables: bool = Field(default=True, description="Read tables, each row as a line.")
    notes: bool = Field(default=True, description="Read footnotes and endnotes, each after the paragraph that has it.")


class DocxLoader:
    """Loads DOCX.

    The title is the sender's, else the paragraph in the style "Title", else the title of the properties, else the
    first heading of level 1, else the name of the file.
    """

    def __init__(self, config: Config) -> None:
        self._config = config

    def load(self, source: Source) -> LoadedDocument:
        import docx

        with open_archive(source.content, source.key, "DOCX", "word/document.xml") as archive:
            check_archive(archive, source.key)
            title, metadata = read_office_properties(archive, source.key)
            notes = _read_notes(archive, source.key) if self._config.notes else {}
        try:
            document = docx.Document(io.BytesIO(source.content))
        except (KeyError, ValueError) as error:
            raise LoadFailed(f"{source.key!r} is no DOCX file: {one_line(str(error))}") from error
        levels = _heading_levels(document)
        elements = list(_walk(document.element.body))
        in_bold = _find_bold_headings(elements, levels, _find_bold_styles(document))
        builder = TextBuilder()
        titles: dict[int, str] = {}
        for element in elements:
            if element.tag == f"{_W}tbl":
                if self._config.tables:
                    _add_table(builder, element)
                continue
            text, level = _text_of(element), _level_of(element, levels)
            if level < _NO_LEVEL and text.strip():
                titles.setdefault(level, text)
            level = in_bold.get(element, level)
            if _TITLE < level < _NO_LEVEL:
                builder.add_heading(level, text)
            else:
                builder.add_paragraph(text)
            for note in element.iter(*_REFERENCES):
                builder.add_paragraph(notes.get((note.tag, note.get(f"{_W}id")), ""))
        builder.end_page()
        title = titles.get(_TITLE) or title or titles.get(1, "")
        return finish_document(source, builder, title, metadata, numbered=False)


def _read_notes(archive: ZipFile, key: str) -> dict[tuple[str, str], str]:
    """Returns the texts of footnotes and endnotes by the tag and the id of their references."""
    notes: dict[tuple[str, str], str] = {}
    for reference, part in _REFERENCES.items():
        if part in archive.namelist():
            for note in parse_xml(read_member(archive, part, key), key, part):
                notes[reference, note.get(f"{_W}id")] = _text_of(note)
    return notes


def _heading_levels(document: "Document") -> dict[str, int]:
    """Returns the level of each paragraph style that is a heading, by its id: 0 is the title, 1 the highest."""
    styles = {style.style_id: style for style in document.styles}
    levels: dict[str, int] = {}
    for id, style in styles.items():
        current: Any = style
        for _ in range(len(styles)):  # a style may be based on itself
            if current is None or id in levels:
                break
            level = _own_level(current)
            if level is not None:
                levels[id] = level
            current = getattr(current, "base_style", None)
    return levels


def _own_level(style: Any) -> int | None:
    if style.name == "Title":
        return _TITLE
    if (outline := style.element.find(f"{_W}pPr/{_W}outlineLvl")) is not None:
        return _level_from(outline)
    kind, _, number = (style.name or "").rpartition(" ")
    return int(number) if kind.lower() == "heading" and number in set("123456789") else None


def _level_of(paragraph: Any, levels: dict[str, int]) -> int:
    if (outline := paragraph.find(f"{_W}pPr/{_W}outlineLvl")) is not None:
        return _level_from(outline)
    style = paragraph.find(f"{_W}pPr/{_W}pStyle")
    return _NO_LEVEL if style is None else min(levels.get(style.get(f"{_W}val"), _NO_LEVEL), _NO_LEVEL)


def _level_from(outline: Any) -> int:
    value = outline.get(f"{_W}val", "")
    return int(value) + 1 if value in set("01234567") else _NO_LEVEL


def _find_bold_styles(document: "Document") -> frozenset[str]:
    """Returns the ids of styles that are bold, by themselves or by the style that they are based on."""
    bold: set[str] = set()
    for style in document.styles:
        current: Any = style
        for _ in range(len(document.styles)):
            font = getattr(current, "font", None)
            if font is None or font.bold is not None:
                break
            current = current.base_style
        if font is not None and font.bold:
            bold.add(style.style_id)
    return frozenset(bold)


def _find_bold_headings(elements: Sequence[Any], levels: dict[str, int], bold: frozenset[str]) -> dict[Any, int]:
    """Returns the level of each paragraph in bold that is a heading; none unless there are several, and little else is
    in bold.

    They are beside the headings in a style if these are fewer, and else below them.
    """
    paragraphs = [element for element in elements if element.tag == f"{_W}p"]
    texts = {element: text for element in paragraphs if (text := " ".join(_text_of(element).split()))}
    styled = [level for element in texts if _TITLE < (level := _level_of(element, levels)) < _NO_LEVEL]
    in_bold = {
        element: text
        for element, text in texts.items()
        if _level_of(element, levels) == _NO_LEVEL and _is_bold(element, bold)
    }
    last = next(reversed(texts), None)  # it is the heading of nothing
    found = [
        element
        for element, text in in_bold.items()
        if element is not last
        and len(text) <= _LONGEST_HEADING
        and not text.endswith((":", ";", ","))
        and any(map(str.isalpha, text))
        and not _is_sentence(text)
    ]
    share = sum(map(len, in_bold.values())) / (sum(map(len, texts.values())) or 1)
    if len(found) < _FEWEST_BOLD or share > _MOST_BOLD:
        return {}
    level = 1 if not styled else min(styled) if len(styled) < len(found) else min(max(styled) + 1, _NO_LEVEL - 1)
    return dict.fromkeys(found, level)


def _is_sentence(text: str) -> bool:
    """Returns whether a text ends as a sentence does, and few of its longer words have a capital, or it is long."""
    words = [word for word in text.split() if len(word) >= _LONG_WORD]
    capitals = sum(word[0].isupper() for word in words)
    return text.endswith((".", "!", "?")) and (2 * capitals < len(words) or len(words) > _MOST_WORDS)


def _is_bold(paragraph: Any, bold: frozenset[str]) -> bool:
    """Returns whether all text of a paragraph is in bold."""
    style = paragraph.find(f"{_W}pPr/{_W}pStyle")
    by_style = style is not None and style.get(f"{_W}val") in bold
    runs = [run for run in paragraph.iter(f"{_W}r") if _text_of(run).strip()]
    return bool(runs) and all(_is_bold_run(run, bold, by_style=by_style) for run in runs)


def _is_bold_run(run: Any, bold: frozenset[str], *, by_style: bool) -> bool:
    own, style = run.find(f"{_W}rPr/{_W}b"), run.find(f"{_W}rPr/{_W}rStyle")
    if own is not None:
        return own.get(f"{_W}val", "1") not in {"0", "false", "off"}
    return by_style or (style is not None and style.get(f"{_W}val") in bold)


def _walk(parent: Any) -> Iterator[Any]:
    """Yields paragraphs and tables in order, also those in content controls."""
    for element in parent:
        if element.tag in (f"{_W}p", f"{_W}tbl"):
            yield element
        elif element.tag in (f"{_W}sdt", f"{_W}sdtContent", f"{_W}customXml", f"{_W}ins"):
            yield from _walk(element)


def _text_of(element: Any) -> str:
    """Returns the text of a paragraph or cell. Deleted text has other tags, and is not in it."""
    parts: list[str] = []
    waiting = [element]
    while waiting:
        one = waiting.pop()
        if one.tag == f"{_W}t":
            parts.append(one.text or "")
        elif one.tag in _CHARACTERS:
            parts.append(_CHARACTERS[one.tag])
        elif one.tag not in (_FALLBACK, f"{_W}pPr", f"{_W}rPr"):  # tab stops are properties with the tag of tabs
            if one.tag == f"{_W}p" and parts:
                parts.append("\n")
            waiting += reversed(one)
    return "".join(parts)


def _add_table(builder: TextBuilder, table: Any) -> None:
    """Adds a table. The cells of a table within a cell are the text of that cell."""
    grid = CellGrid()
    merged: dict[int, str] = {}  # the text of the cell that reaches down to the next row, by its column
    for row in table.iter(f"{_W}tr"):
        if next(row.iterancestors(f"{_W}tbl")) is not table:
            continue
        grid.begin_row()
        column = _number(row.find(f"{_W}trPr/{_W}gridBefore"), 0)
        grid.skip(column)
        above, merged = merged, {}
        for cell in row.iter(f"{_W}tc"):
            if next(cell.iterancestors(f"{_W}tr")) is not row:
                continue
            vertical = cell.find(f"{_W}tcPr/{_W}vMerge")
            goes_on = vertical is not None and vertical.get(f"{_W}val") != "restart"
            text = (above.get(column, "") if goes_on else "") or _text_of(cell)
            width = _number(cell.find(f"{_W}tcPr/{_W}gridSpan"), 1)
            grid.add(text, width)
            if vertical is not None:
                merged[column] = text
            column += width
    for line in grid.lines():
        builder.add_line(line)
    builder.add_line()


def _number(element: Any, default: int) -> int:
    written = "" if element is None else element.get(f"{_W}val") or ""
    return int(written) if written.isascii() and written.isdecimal() and len(written) < 4 else default


def build(config: Config, _backends: object) -> Loader:
    return DocxLoader(config)
