"""The parts of a document of docling in the order of reading: headings, paragraphs, list items, code and tables.

Headers and footers of pages are left out, and so are comments, and texts within pictures unless a page has no others.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from core.text.titles import one_line
from indexer.loading.docling.document import Cell, DoclingDocument, Item, Reference
from indexer.loading.texts.cell_grid import CellGrid

_LAYERS = ("body", "notes")
_FURNITURE = ("page_header", "page_footer")
_BOXES = {"checkbox_selected": "[x] ", "checkbox_unselected": "[ ] "}
_JOINED = re.compile(r" (?=[.,;:!?)\]}’”%])|(?<=[(\[{“]) ")
_NUMBER = re.compile(r"(\d{1,3}(?:\.\d{1,3}){0,5})\.?\s")
_SPACES = re.compile(r"[ \u00a0]{2,}")
_MOST_INLINE = 1000
"""Texts of one paragraph or heading."""


class Kind(Enum):
    TITLE = "title"
    HEADING = "heading"
    NAME = "name"
    """A heading that no line of the text has, such as the name of a sheet."""
    PARAGRAPH = "paragraph"
    LINE = "line"
    """An item of a list: the next one follows without an empty line."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """`page` counts from 1, and is None where the item names none. `level` is the level of a heading, from 1 on."""

    kind: Kind
    text: str
    page: int | None = None
    level: int = 1


def read_parts(document: DoclingDocument, *, repeat_names: bool = True) -> list[Part]:
    """Returns the parts in the order of reading. `repeat_names`: a name that spans columns of a table is written above
    each of them, else above the first.
    """
    return _Walk(document, repeat_names).read()


class _Walk:
    def __init__(self, document: DoclingDocument, repeat_names: bool) -> None:
        self._document = document
        self._repeat_names = repeat_names
        self._seen: set[str] = set()
        self._in_pictures: list[Part] = []

    def read(self) -> list[Part]:
        parts: list[Part] = []
        waiting = list(reversed(self._document.body.children))
        while waiting:
            item = self._take(waiting.pop())
            if item is None or item.label == "comment_section":
                continue
            below: Sequence[Reference] = item.children
            if item.content_layer in _LAYERS and item.label not in _FURNITURE:
                found, below = self._read_item(item)
                parts += found
            waiting += reversed(below)
        return _with_levels(self._with_pictures(parts))

    def _take(self, reference: Reference) -> Item | None:
        """Returns the item of a reference once: a document may name it in a circle."""
        if reference.pointer in self._seen:
            return None
        self._seen.add(reference.pointer)
        return self._document.find(reference)

    def _read_item(self, item: Item) -> tuple[Iterable[Part], Sequence[Reference]]:
        """Returns the parts of an item, and the items below it that are still to be read."""
        if item.data is not None and item.label in ("table", "document_index"):
            return self._read_table(item), ()
        if item.label in ("picture", "chart"):
            self._in_pictures += self._read_texts(item.children, item.page)
            return self._read_captions(item.captions, item.page), ()
        if item.label == "sheet":
            return [Part(kind=Kind.NAME, text=item.name, page=self._find_page(item))], item.children
        if item.label == "inline":
            return self._paragraph(item, self._join(item.children)), ()
        if item.label == "field_item":
            return self._paragraph(item, ": ".join(self._list_texts(item.children))), ()
        text, below = item.text, item.children
        if not text and below and self._is_inline(below[0]):
            text, below = self._join(below[:1]), below[1:]
        if item.label == "code":
            captions = self._read_captions(item.captions, item.page)
            return [*captions, *self._paragraph(item, text)], below
        return self._read_text(item, text or (item.orig if item.label == "formula" else "")), below

    def _read_text(self, item: Item, text: str) -> Iterable[Part]:
        if not text.strip():
            return ()
        if item.label == "title":
            return [Part(kind=Kind.TITLE, text=one_line(text), page=item.page)]
        if item.label in ("section_header", "field_heading"):
            level = min(max(item.level, 1), 100)
            return [Part(kind=Kind.HEADING, text=one_line(text), page=item.page, level=level)]
        if item.label == "list_item":
            marker = item.marker if any(map(str.isalnum, item.marker)) else "-"
            return [Part(kind=Kind.LINE, text=f"{marker} {_SPACES.sub(' ', text.strip())}", page=item.page)]
        return self._paragraph(item, _BOXES.get(item.label, "") + text)

    def _paragraph(self, item: Item, text: str) -> Iterator[Part]:
        """Yields a paragraph; one that goes on at other pages, as a paragraph of each page."""
        places = item.prov
        ends = [place.charspan[1] for place in places]
        if len(places) < 2 or ends != sorted(ends) or ends[-1] > len(text) or text != item.text:
            if text.strip():
                yield Part(kind=Kind.PARAGRAPH, text=_tidy(item, text), page=item.page)
            return
        begin = 0
        for place, end in zip(places, [*ends[:-1], len(text)], strict=True):
            if part := text[begin:end].strip():
                yield Part(kind=Kind.PARAGRAPH, text=_tidy(item, part), page=place.page_no)
            begin = end

    def _read_table(self, table: Item) -> Iterator[Part]:
        yield from self._read_captions(table.captions, table.page)
        cells = table.data.table_cells if table.data else []
        lines = write_table(cells, repeat_names=self._repeat_names)
        if lines:
            yield Part(kind=Kind.PARAGRAPH, text="\n".join(lines), page=table.page)
        yield from self._read_captions(table.footnotes, table.page)

    def _read_captions(self, references: Sequence[Reference], page: int | None) -> Iterator[Part]:
        for reference in references:
            if (item := self._take(reference)) and (text := item.text or self._join(item.children)):
                yield Part(kind=Kind.PARAGRAPH, text=text, page=item.page or page)

    def _read_texts(self, references: Sequence[Reference], page: int | None) -> Iterator[Part]:
        for text in self._list_texts(references):
            yield Part(kind=Kind.PARAGRAPH, text=text, page=page)

    def _list_texts(self, references: Sequence[Reference]) -> list[str]:
        """Returns the texts of items, and of all that is below them."""
        texts: list[str] = []
        waiting = list(reversed(references))
        while waiting and len(texts) < _MOST_INLINE:
            item = self._take(waiting.pop())
            if item is not None:
                texts += [item.text] if item.text.strip() else []
                waiting += reversed(item.children)
        return texts

    def _join(self, references: Sequence[Reference]) -> str:
        """Returns the texts as one paragraph: docling parts it where its type or a link changes."""
        return _JOINED.sub("", " ".join(text.strip() for text in self._list_texts(references)))

    def _is_inline(self, reference: Reference) -> bool:
        item = self._document.find(reference)
        return item is not None and item.label == "inline"

    def _find_page(self, group: Item) -> int | None:
        below = (self._document.find(reference) for reference in group.children)
        return next((item.page for item in below if item is not None and item.page is not None), None)

    def _with_pictures(self, parts: list[Part]) -> list[Part]:
        """Adds the texts of pictures to pages without other text, such as a slide that is one picture."""
        pages = {part.page for part in parts}
        return parts + [part for part in self._in_pictures if part.page not in pages]


def _tidy(item: Item, text: str) -> str:
    """Returns the text with single spaces, which justified lines do not have. Code keeps its own."""
    return text if item.label == "code" else _SPACES.sub(" ", text)


def write_table(cells: Sequence[Cell], *, repeat_names: bool) -> list[str]:
    """Returns the rows of a table as lines, with a cell for each column."""
    grid = CellGrid()
    row = -1
    for cell in sorted(cells, key=lambda one: (one.start_row_offset_idx, one.start_col_offset_idx)):
        if cell.start_row_offset_idx > row:
            row = cell.start_row_offset_idx
            grid.begin_row()
        grid.move_to(cell.start_col_offset_idx)
        columns = cell.col_span if repeat_names or not cell.column_header else 1
        grid.add(cell.text, columns, cell.row_span)
    return grid.lines()


def _with_levels(parts: list[Part]) -> list[Part]:
    """Returns headings with levels by their numbers (`2.1` is below `2`), if docling gives all the same level, as its
    layout models do.
    """
    if len({part.level for part in parts if part.kind is Kind.HEADING}) != 1:
        return parts
    outline = _Outline()
    return [replace(part, level=outline.add(part.text)) if part.kind is Kind.HEADING else part for part in parts]


class _Outline:
    """The headings above the next one, each with its number (() if it has none) and its level."""

    def __init__(self) -> None:
        self._above: list[tuple[tuple[str, ...], int]] = []

    def add(self, heading: str) -> int:
        """Returns the level of the next heading: below the heading whose number its number begins with, or beside
        another of the same parent. `1.1` is also below a heading without a number that stands before it.
        """
        found = _NUMBER.match(heading)
        number = tuple(found[1].split(".")) if found else ()
        while self._above and self._above[-1][0] and not self._may_follow(number):
            self._above.pop()
        level = self._find_level(number)
        self._above = [heading for heading in self._above if heading[1] < level]
        self._above.append((number, level))
        return level

    def _may_follow(self, number: tuple[str, ...]) -> bool:
        last = self._above[-1][0]
        return bool(number) and (number[: len(last)] == last or number[:-1] == last[:-1])

    def _find_level(self, number: tuple[str, ...]) -> int:
        if not number or not self._above:
            return 1
        last, level = self._above[-1]
        if not last:
            return level + 1 if len(number) > 1 and number[-1] == "1" else 1
        return level if len(last) == len(number) else level + 1
