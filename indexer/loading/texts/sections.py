"""Sections of a text under their headings, as blocks that stand in the text at their offset."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.ports.indexing import Block

__all__ = ["Heading", "make_sections"]


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


def make_sections(text: str, begin: int, headings: Sequence[Heading], title: str) -> list[Block]:
    """Returns a block for the text before the first heading, and a block for the text below each heading.

    A heading without text below it begins the next block, or is the last block. `title` is the title of the document,
    which precedes every chunk: it is left out of the paths, and is a block only if there is no other.
    """
    opening = text[begin : headings[0].start if headings else len(text)]
    blocks = [Block(text=opening, start=begin)] if opening and not opening.isspace() else []
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
            blocks.append(Block(text=text[start:end], heading=_names(own, title), start=start))
            waiting = None
        elif heading.title and (following is None or heading.is_leaf or following.level <= heading.level):
            is_title = not parents and heading.title == title and (blocks or following)
            waiting = waiting or (None if is_title else (heading.start, parents))
    if waiting:
        blocks.append(Block(text=text[waiting[0] :], heading=_names(waiting[1], title), start=waiting[0]))
    return blocks


def _names(path: Sequence[Heading], title: str) -> tuple[str, ...]:
    names = tuple(heading.title for heading in path if heading.title)
    return names[1:] if names[:1] == (title,) else names
