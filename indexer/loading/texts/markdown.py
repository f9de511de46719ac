"""Headings of Markdown, for the loaders of Markdown and of notebooks."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from core.text.titles import one_line
from indexer.loading.texts.sections import Heading

if TYPE_CHECKING:
    from markdown_it.token import Token


_LONGEST = 1000
"""Characters of a heading. A longer line is text; to parse its brackets would take time that grows with the square."""

_MOST_LINES = 200_000
"""Lines in which headings are found. Each may take a kilobyte while Markdown is parsed."""

_LINE = re.compile(r"\r\n|\r|\n")  # the line ends of markdown-it; str.splitlines has more


def find_headings(text: str, begin: int = 0) -> list[Heading]:
    """Returns the headings of Markdown at the top level, from the offset `begin` on."""
    from markdown_it import MarkdownIt

    lines = [begin, *(match.end() for match in _LINE.finditer(text, begin)), len(text)]
    parsed = text[begin : lines[min(_MOST_LINES, len(lines) - 1)]]
    tokens = MarkdownIt("commonmark").disable("inline").parse(parsed)  # only headings are parsed further
    spans = MarkdownIt("commonmark")
    return [
        Heading(
            int(token.tag[1:]),
            _plain(spans.parseInline(inline.content)),
            lines[token.map[0]],
            lines[min(token.map[1], len(lines) - 1)],
        )
        for token, inline in pairwise(tokens)
        # A heading inside a quotation or a list is no heading of the document.
        if token.type == "heading_open" and token.level == 0 and token.map and len(inline.content) <= _LONGEST
    ]


def _plain(parsed: Sequence["Token"]) -> str:
    """Returns the text of a heading without emphasis, links and code marks."""
    spans = [child for token in parsed for child in token.children or ()]
    words = [" " if span.type in ("softbreak", "hardbreak") else span.content for span in spans]
    return one_line("".join(words))
