"""Assembling of a loaded document: lines and headings in, pages of text and blocks with places out."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from core.errors import LoadFailed
from core.ports.indexing import Block, LoadedDocument, Source
from core.text.titles import one_line, stem_of
from indexer.loading.covers import read_cover

CELL_SEPARATOR = " | "

_UNUSABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


def clean_text(text: str) -> str:
    """Returns the text with line ends as line feeds, and without control characters and halves of surrogate pairs."""
    return _UNUSABLE.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def join_cells(cells: Iterable[str]) -> str:
    """Returns the cells of a row as one line. An empty cell stays if others follow it."""
    written = [one_line(cell) for cell in cells]
    while written and not written[-1]:
        written.pop()
    return CELL_SEPARATOR.join(written)


_SHORT = 300
"""Characters of a section that is joined with a neighbour below another heading."""
_FEWEST_AT_TOP = 60
"""Characters at the top of a page that are no block of their own where short sections are joined."""


@dataclass(frozen=True, kw_only=True)
class _Section:
    """A part of a page under the heading `path`. It begins with the line of the heading, if that is in the text.

    `start` and `body` are the offsets of this line and of the line after it.
    """

    page: int
    start: int
    body: int
    path: tuple[str, ...]


@dataclass
class TextBuilder:
    """Collects the text of a document, page by page. A new heading or a new page begins a block."""

    pages: list[str] = field(default_factory=list)
    _lines: list[str] = field(default_factory=list)
    _length: int = 0
    _path: list[tuple[int, str]] = field(default_factory=list)
    _sections: list[_Section] = field(default_factory=list)
    _wide: set[str] = field(default_factory=set)

    @property
    def length(self) -> int:
        """The number of characters of the current page."""
        return self._length

    @property
    def has_line(self) -> bool:
        """Whether the last line of the current page has text."""
        return bool(self._lines) and bool(self._lines[-1])

    def add_line(self, line: str = "") -> None:
        """Adds a line to the current page."""
        self._lines.append(clean_text(line))
        self._length += len(self._lines[-1]) + 1

    def add_paragraph(self, text: str) -> None:
        """Adds a text and an empty line, if it is not white space."""
        if text.strip():
            self.add_line(text.strip())
            self.add_line()

    def add_heading(self, level: int, title: str, *, line: str | None = None, is_wide: bool = False) -> None:
        """Begins a section under a heading of this level (1 is the highest).

        `line` is the line of the page before the section: None stands for the title, '' for no line. A wide heading
        is in no path beside a heading below it.
        """
        title = one_line(clean_text(title))
        if not title:
            return
        self._path = [*(one for one in self._path if one[0] < level), (level, title)]
        if is_wide:
            self._wide.add(title)
        start = self._length
        if line != "":
            self.add_line(title if line is None else line)
        self._begin_section(start)

    def clear_headings(self) -> None:
        """Ends the section of all headings."""
        self._path = []
        self._begin_section(self._length)

    def end_block(self) -> None:
        """Ends the block. The next block has the same headings."""
        self._begin_section(self._length)

    def end_page(self) -> None:
        """Ends the current page. The next page begins with the same heading path."""
        self.pages.append("\n".join(self._lines))
        self._lines, self._length = [], 0
        self._begin_section(0)

    def blocks(self, *, numbered: bool, title: str, joined: int = 0) -> tuple[Block, ...]:
        """Returns the blocks in order, except blocks of white space. With `numbered` they have the numbers of pages.

        A heading is no part of the text of its block. A heading without text below it begins the next block of its
        page, or is a block if no block follows. The title of the document precedes every chunk: it is left out at the
        beginning of paths, and is a block only if there is no other block.
        """
        sections = [_Section(page=0, start=0, body=0, path=()), *self._sections]
        if joined:
            sections = self._join_short(sections, joined)
        found: list[Block] = []
        below: tuple[str, ...] = ()
        page_of_last = -1
        for section, following in reversed(list(zip(sections, [*sections[1:], None], strict=True))):
            if section.page >= len(self.pages):
                continue
            page = self.pages[section.page]
            end = following.start if following and following.page == section.page else len(page)
            begin, path = min(section.body, end), section.path
            if not page[begin:end].strip() and below[: len(path)] != path:
                if found and (path == (title,) or not page[section.start : end].strip()):
                    continue
                if found and page_of_last == section.page:
                    found[-1] = _begin_earlier(found[-1], page, section.start)
                    continue
                begin, path = section.start, path[:-1]
            if page[begin:end].strip():
                page_of_last = section.page
                below = path
                shown = self._shown(path[1:] if path[:1] == (title,) else path)
                number = section.page + 1 if numbered else None
                found.append(Block(text=page[begin:end], heading=shown, page=number, start=begin))
        return tuple(reversed(found))

    def _join_short(self, sections: list[_Section], most: int) -> list[_Section]:
        """Returns the sections with the lines of their headings, of which neighbours of one page are joined:

        - A heading without text below it, and a few words at the top of a page, begin the next section.
        - Sections below one heading, or of which one is short, are joined while they have at most so many characters
          together. They keep the headings that they share.
        """
        kept: list[_Section] = []
        for section, following in zip(sections, [*sections[1:], None], strict=True):
            page = self.pages[section.page] if section.page < len(self.pages) else ""
            end = following.start if following and following.page == section.page else len(page)
            last = kept[-1] if kept and kept[-1].page == section.page else None
            before = len(page[last.body : section.start].strip()) if last else 0
            own = len(page[section.body : end].strip())
            if last and before < (_FEWEST_AT_TOP if last.start == 0 else 1):
                kept[-1] = replace(section, start=last.start)
            elif last and own and end - last.start <= most and self._belong_together(last, section, end):
                kept[-1] = replace(last, path=_common(last.path, section.path))
            else:
                kept.append(section)
        return [replace(section, body=section.start) for section in kept]

    def _belong_together(self, first: _Section, second: _Section, end: int) -> bool:
        """Returns whether neighbours share a heading that is not wide, or one is short. The second goes to `end`."""
        shares = any(name not in self._wide for name in _common(first.path, second.path))
        return shares or min(second.start - first.start, end - second.start) < _SHORT

    def _shown(self, path: tuple[str, ...]) -> tuple[str, ...]:
        """Returns a path without the wide headings that have a heading below them."""
        return tuple(name for name in path[:-1] if name not in self._wide) + path[-1:]

    def _begin_section(self, start: int) -> None:
        path = tuple(name for _, name in self._path)
        self._sections.append(_Section(page=len(self.pages), start=start, body=self._length, path=path))


def _common(first: tuple[str, ...], second: tuple[str, ...]) -> tuple[str, ...]:
    """Returns the headings that both paths begin with."""
    same = 0
    while same < min(len(first), len(second)) and first[same] == second[same]:
        same += 1
    return first[:same]


def _begin_earlier(block: Block, page: str, start: int) -> Block:
    return replace(block, text=page[start : (block.start or 0) + len(block.text)], start=start)


def finish_document(
    source: Source, builder: TextBuilder, title: str, metadata: Mapping[str, Any], *, numbered: bool, joined: int = 0
) -> LoadedDocument:
    """Returns the document. Its title is the sender's, else what its cover says, else `title`, else the name of the
    file.

    Raises `LoadFailed` if it has no text.
    """
    stem = stem_of(source.key)
    cover = read_cover(next(iter(builder.pages), ""), stem)
    chosen = one_line(source.title or "") or cover or one_line(clean_text(title)) or stem
    blocks = builder.blocks(numbered=numbered, title=chosen, joined=joined)
    if not blocks:
        raise LoadFailed(f"{source.key!r} has no text")
    return LoadedDocument(key=source.key, title=chosen, metadata=metadata, pages=tuple(builder.pages), blocks=blocks)
