"""Sections of a text under their headings, as blocks that stand in the text at their offset."""

from collections.abc import Sequence
from dataclasses import dataclass

from core.ports.indexing import Block

__all__ = ["Heading", "make_sections"]


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading. `start` is the offset of its first line, `end` that of the line after it; a low `level` is outer.

    A heading that `is_leaf` has no headings below it: those after it belong to what is above it. One without a title
    ends the section of the heading before it.
    """

    level: int
    title: str
    start: int
    end: int
    is_leaf: bool = False


def make_sections(text: str, begin: int, headings: Sequence[Heading], title: str) -> list[Block]:
    """Returns a block for the text below each heading, and one for that before the first.

    A heading without text below it is the text of its own block, so that nothing is lost. `title` is that of the
    document: it is left out of the paths, as it precedes every chunk anyway.
    """
    opening = text[begin : headings[0].start if headings else len(text)]
    blocks = [Block(text=opening, start=begin)] if opening and not opening.isspace() else []
    path: list[Heading] = []
    for heading, following in zip(headings, [*headings[1:], None], strict=False):
        end = following.start if following else len(text)
        parents = [parent for parent in path if parent.level < heading.level]
        own = [*parents, heading]
        path = path if heading.is_leaf else own
        body = text[heading.end : end]
        if body and not body.isspace():
            blocks.append(Block(text=body, heading=_names(own, title), start=heading.end))
        elif following is None or heading.is_leaf or following.level <= heading.level:
            blocks.append(Block(text=text[heading.start : end], heading=_names(parents, title), start=heading.start))
    return blocks


def _names(path: Sequence[Heading], title: str) -> tuple[str, ...]:
    names = tuple(heading.title for heading in path if heading.title)
    return names[1:] if names[:1] == (title,) else names
