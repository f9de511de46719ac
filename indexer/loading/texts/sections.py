"""Sections of a text under their headings, as blocks that stand in the text at their offset."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from core.ports.indexing import Block

_RELEASE = re.compile(
    r"\W{0,3}(?:(?:version|release|v)[ .]?)?\d{1,4}\.\d{1,4}[\w.+-]{0,40}(?:\W|\Z)|\W{0,3}unreleased\b", re.IGNORECASE
)
"""How the heading of a release begins: `2.8.0 (2026-09-15)`, `[1.4] - 2024-05-01`, `Version 3.0`."""

_MOST_JOINED = 1100
"""Characters of the small sections that are joined to one block, together: about what embedding models read."""


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading, from the offset `start` to the offset `end` of the next line. A low `level` is outer.

    A heading that `is_leaf` has no headings below it: the next headings belong to the heading above it. A heading
    without a title ends the section of the heading before it.
    """

    level: int
    title: str
    start: int
    end: int
    is_leaf: bool = False


def begins_releases(headings: Sequence[Heading]) -> bool:
    """Returns whether a text begins with a release, and another one of the same level follows: neither is its title."""
    releases = [heading for heading in headings if heading.level == headings[0].level][:2] if headings else []
    return len(releases) > 1 and all(_RELEASE.match(heading.title) for heading in releases)


class _Section(NamedTuple):
    """Begins with its heading at `begin`; its text goes from `start` to `end`. `names` are its path of headings."""

    begin: int
    start: int
    end: int
    names: tuple[str, ...]


def make_sections(
    text: str, begin: int, headings: Sequence[Heading], title: str, *, joins_small: bool = False
) -> list[Block]:
    """Returns a block for the text before the first heading, and a block for the text below each heading.

    A heading without text below it begins the next block, or is the last block. With `joins_small`, small sections that
    follow one another are one block: a clause of one sentence tells too little alone. `title` is the title of the
    document, which precedes every chunk: it is left out of the paths, and is a block only if there is no other.
    """
    opening = text[begin : headings[0].start if headings else len(text)]
    blocks = [Block(text=opening, start=begin)] if opening and not opening.isspace() else []
    sections: list[_Section] = []
    path: list[Heading] = []
    waiting: tuple[int, list[Heading]] | None = None  # the first heading without text below it, and its parents
    for heading, following in zip(headings, [*headings[1:], None], strict=False):
        end = following.start if following else len(text)
        parents = [parent for parent in path if parent.level < heading.level]
        own = [*parents, heading]
        path = path if heading.is_leaf else own
        body = text[heading.end : end]
        if body and not body.isspace():
            start = waiting[0] if waiting else heading.end
            sections.append(_Section(min(start, heading.start), start, end, _names(own, title)))
            waiting = None
        elif heading.title and (following is None or heading.is_leaf or following.level <= heading.level):
            is_title = not parents and heading.title == title and (blocks or sections or following)
            waiting = waiting or (None if is_title else (heading.start, parents))
    blocks += _join_small(text, sections) if joins_small else [_make_block(text, [section]) for section in sections]
    if waiting:
        blocks.append(Block(text=text[waiting[0] :], heading=_names(waiting[1], title), start=waiting[0]))
    return blocks


def _join_small(text: str, sections: Sequence[_Section]) -> Iterator[Block]:
    """Yields a block for each section, and one block for small sections that follow one another below one heading."""
    run: list[_Section] = []
    for section in sections:
        if run and (section.names[:-1] != run[0].names[:-1] or section.end - run[0].begin > _MOST_JOINED):
            yield _make_block(text, run)
            run = []
        run.append(section)
    if run:
        yield _make_block(text, run)


def _make_block(text: str, run: Sequence[_Section]) -> Block:
    """The headings of joined sections stand in the text of their block, whose heading is the one above them."""
    first = run[0]
    if len(run) == 1:
        return Block(text=text[first.start : first.end], heading=first.names, start=first.start)
    return Block(text=text[first.begin : run[-1].end], heading=first.names[:-1], start=first.begin)


def _names(path: Sequence[Heading], title: str) -> tuple[str, ...]:
    names = tuple(heading.title for heading in path if heading.title)
    return names[1:] if names[:1] == (title,) else names
