"""Markdown: one block per section, under its path of headings.

The text of a block is the source as it is written. The part before the first heading is a block without a path. YAML
front matter is left out. A heading without text below it is the text of its own block, so that nothing is lost.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from core.ports.indexing import Block, LoadedDocument, Loader, Source
from core.strategies import StrategyConfig
from core.text.titles import one_line, stem_of
from indexer.submission.decoding import decode

if TYPE_CHECKING:
    from markdown_it.token import Token

__all__ = ["EXAMPLE", "MEDIA_TYPES", "SUFFIXES", "Config", "MarkdownLoader", "build"]

MEDIA_TYPES = ("text/markdown", "text/x-markdown")
SUFFIXES = (".md", ".markdown")
EXAMPLE = "# Köln\n\nEine Stadt.\n\n## Geschichte\n\nAlt. 很老。\n".encode()

_LINE = re.compile(r"\r\n|\r|\n")  # the line ends of markdown-it; str.splitlines has more
_FRONT_MATTER_FIELD = re.compile(r"""[\w"'-][^:\r\n]*:(\s|$)|#""")


class Config(StrategyConfig):
    """No options."""


@dataclass(frozen=True, slots=True)
class _Heading:
    """A heading at the top level. `start` is the offset of its first line, `end` that of the line after it."""

    level: int
    title: str
    start: int
    end: int


class MarkdownLoader:
    """Loads Markdown. The title is that of the sender, else the first heading of level 1, else the name of the file."""

    def load(self, source: Source) -> LoadedDocument:
        text = decode(source.content, source.key)
        begin = _front_matter_end(text)
        headings = _headings(text, begin)
        first = next((h.title for h in headings if h.level == 1 and h.title), "")
        title = one_line(source.title or "") or first or stem_of(source.key)
        return LoadedDocument(key=source.key, title=title, blocks=tuple(_sections(text, begin, headings, title)))


def _front_matter_end(text: str) -> int:
    """Returns the offset after YAML front matter, or 0 without it. A thematic break in the first line begins none."""
    ends = [match.end() for match in _LINE.finditer(text)]
    lines = [text[a:b].rstrip() for a, b in zip([0, *ends], [*ends, len(text)], strict=True)]
    if len(lines) < 3 or lines[0] != "---" or not _FRONT_MATTER_FIELD.match(lines[1]):
        return 0
    closing = next((n for n, line in enumerate(lines) if n and line in ("---", "...")), None)
    return 0 if closing is None else [*ends, len(text)][closing]


def _headings(text: str, begin: int) -> list[_Heading]:
    from markdown_it import MarkdownIt

    lines = [begin, *(match.end() for match in _LINE.finditer(text, begin)), len(text)]
    tokens = MarkdownIt("commonmark").disable("inline").parse(text[begin:])  # only headings are parsed further
    spans = MarkdownIt("commonmark")
    return [
        _Heading(
            int(token.tag[1:]),
            _plain(spans.parseInline(inline.content)),
            lines[token.map[0]],
            lines[min(token.map[1], len(lines) - 1)],
        )
        for token, inline in pairwise(tokens)
        # A heading inside a quotation or a list is no heading of the document.
        if token.type == "heading_open" and token.level == 0 and token.map
    ]


def _plain(parsed: Sequence["Token"]) -> str:
    """Returns the text of a heading without emphasis, links and code marks."""
    spans = [child for token in parsed for child in token.children or ()]
    words = [" " if span.type in ("softbreak", "hardbreak") else span.content for span in spans]
    return one_line("".join(words))


def _sections(text: str, begin: int, headings: Sequence[_Heading], title: str) -> list[Block]:
    opening = text[begin : headings[0].start if headings else len(text)]
    blocks = [Block(text=opening, start=begin)] if opening.strip() else []
    path: list[_Heading] = []
    for heading, following in zip(headings, [*headings[1:], None], strict=False):
        end = following.start if following else len(text)
        parents = [parent for parent in path if parent.level < heading.level]
        path = [*parents, heading]
        if text[heading.end : end].strip():
            blocks.append(Block(text=text[heading.end : end], heading=_names(path, title), start=heading.end))
        elif following is None or following.level <= heading.level:
            blocks.append(Block(text=text[heading.start : end], heading=_names(parents, title), start=heading.start))
    return blocks


def _names(path: Sequence[_Heading], title: str) -> tuple[str, ...]:
    """Returns the path without the title of the document, which precedes every chunk anyway."""
    names = tuple(heading.title for heading in path if heading.title)
    return names[1:] if names[:1] == (title,) else names


def build(_config: Config, _backends: object) -> Loader:
    return MarkdownLoader()
