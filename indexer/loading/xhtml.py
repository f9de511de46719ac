"""The text of XHTML: headings, paragraphs and table rows of a chapter. Scripts and styles are left out."""

import re
from typing import Any

from indexer.loading.assembly import TextBuilder, join_cells

_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_SKIPPED = ("script", "style", "head", "template", "svg", "math", "rt", "rp")
_BLOCKS = (
    *("p", "div", "section", "article", "aside", "header", "footer", "main", "nav", "figure", "figcaption"),
    *("blockquote", "ul", "ol", "dl", "dt", "dd", "li", "pre", "hr", "body", "table", "address", "details", "summary"),
)
_SPACE = re.compile(r"\s+")


def add_xhtml(builder: TextBuilder, body: Any) -> None:
    """Adds the text of an element."""
    writer = _Writer(builder)
    writer.write(body)
    writer.end_paragraph()


class _Writer:
    """Collects inline text, and adds it as a paragraph where a block begins or ends."""

    def __init__(self, builder: TextBuilder) -> None:
        self._builder = builder
        self._inline: list[str] = []

    def write(self, element: Any) -> None:
        tag = _tag_of(element)
        if tag in _SKIPPED:
            return
        if tag in _HEADINGS:
            self.end_paragraph()
            self._builder.add_heading(int(tag[1]), _plain(element))
        elif tag == "tr":
            self.end_paragraph()
            if line := join_cells([_plain(cell) for cell in element if _tag_of(cell) in ("td", "th")]):
                self._builder.add_line(line)
        elif tag in _BLOCKS:
            self.end_paragraph()
            self._write_content(element)
            self.end_paragraph()
        elif tag == "br":
            self._inline.append("\n")
        else:
            self._write_content(element)

    def end_paragraph(self) -> None:
        lines = [" ".join(line.split()) for line in "".join(self._inline).split("\n")]
        self._inline = []
        self._builder.add_paragraph("\n".join(line for line in lines if line))

    def _write_content(self, element: Any) -> None:
        self._inline.append(_SPACE.sub(" ", element.text or ""))
        for child in element:
            self.write(child)
            self._inline.append(_SPACE.sub(" ", child.tail or ""))


def _plain(element: Any) -> str:
    parts = [element.text or ""]
    for child in element:
        if _tag_of(child) not in _SKIPPED:
            parts.append(" " if _tag_of(child) == "br" else _plain(child))
        parts.append(child.tail or "")
    return "".join(parts)


def _tag_of(element: Any) -> str:
    """Returns the name without its namespace; comments, instructions and entities count as scripts."""
    return element.tag.rpartition("}")[2].lower() if isinstance(element.tag, str) else "script"
