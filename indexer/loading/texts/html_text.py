"""Bounds of HTML, applied before it is parsed: how deep elements are nested, and how long a tag is.

A parser compares each tag with all elements that are open, and each attribute with all others of its tag, so that the
time of both grows with the square of what a page has.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from core.text.titles import one_line
from indexer.loading.assembly import CELL_SEPARATOR, TextBuilder
from indexer.loading.properties import read_title
from indexer.loading.texts.cell_grid import CellGrid

DEEPEST = 512
"""Elements around a text. Browsers nest no deeper either."""

LONGEST_TAG = 65_536
"""Characters of a tag. A longer tag, such as an image within its tag, loses its attributes."""

_TAG = re.compile(
    r"<!--.*?(?:-->|\Z)"
    r"|<(?P<raw>script|style)\b.*?(?:</(?P=raw)|\Z)"
    r"|<(?P<slash>/?)(?P<name>[a-z][^\s/>]{0,100})[^>]*+>?",
    re.IGNORECASE | re.DOTALL,
)
_NOT_NESTED = frozenset(
    (
        *("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"),
        *("html", "head", "body", "p", "li", "dt", "dd", "option", "optgroup", "rb", "rt", "rtc", "rp"),
        *("a", "nobr", "button", "colgroup", "thead", "tbody", "tfoot", "tr", "td", "th"),
    )
)
"""Elements that have no content, or that end where the next such element begins."""


def bound_markup(markup: str) -> str:
    """Returns the markup without tags that nest deeper than `DEEPEST`, and without the attributes of tags longer than
    `LONGEST_TAG`. The text stays.
    """
    return _TAG.sub(_Bounds().check, markup)


class _Bounds:
    """Counts the elements that are open, by name: an end tag ends an element of its name."""

    def __init__(self) -> None:
        self._open: Counter[str] = Counter()
        self._left_out: Counter[str] = Counter()
        self._depth = 0

    def check(self, tag: re.Match[str]) -> str:
        """Returns the text that replaces a tag."""
        name = (tag["name"] or "").lower()
        if not name:
            return tag[0]
        kept = tag[0] if len(tag[0]) <= LONGEST_TAG else f"<{tag['slash']}{name}>"
        if name in _NOT_NESTED:
            return kept
        return kept if (self._end(name) if tag["slash"] else self._begin(name)) else " "

    def _begin(self, name: str) -> bool:
        """Returns whether the element is kept."""
        if self._depth >= DEEPEST:
            self._left_out[name] += 1
            return False
        self._open[name] += 1
        self._depth += 1
        return True

    def _end(self, name: str) -> bool:
        if self._left_out[name]:
            self._left_out[name] -= 1
            return False
        if self._open[name]:
            self._open[name] -= 1
            self._depth -= 1
        return True


if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_NEVER = frozenset(
    (
        *("script", "style", "template", "noscript", "head", "svg", "math", "iframe", "object", "embed", "canvas"),
        *("audio", "video", "select", "datalist", "textarea", "input", "button", "dialog", "rt", "rp"),
    )
)
_BESIDE = frozenset(("nav", "footer", "aside"))
_BESIDE_ROLES = frozenset(("navigation", "contentinfo", "search", "banner", "complementary"))
_PARAGRAPHS = frozenset(
    (
        *("p", "div", "section", "article", "main", "header", "footer", "nav", "aside", "figure", "figcaption"),
        *("blockquote", "pre", "table", "ul", "ol", "dl", "address", "details", "summary", "fieldset", "form", "hr"),
        *("body", "caption"),
    )
)
_LINES = frozenset(("li", "dt", "dd", "tr", "br", "legend"))
_CELLS = frozenset(("td", "th"))
_LISTS = frozenset(("ul", "ol"))
_START = re.compile(r"[1-9]\d{0,3}")
_HEADING = re.compile(r"h[1-6]")
_HIDDEN_STYLE = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_PERMALINK_SIGNS = frozenset("¶#§🔗") | {"🔗\ufe0e", "🔗\ufe0f"}
_PERMALINK_CLASS = "headerlink"  # of Sphinx, whose definitions have them, too
_SPACE = re.compile(r"\s+")
_CHARSET = re.compile(
    rb"""<meta[^>]{0,300}?charset\s*+=\s*+(?:["']\s*+)?([\w.:-]+)"""
    rb"""|<\?xml[^>]{0,100}?encoding\s*=\s*["']([\w.:-]+)""",
    re.IGNORECASE,
)
_LONGEST_CELL = 1000
"""Characters of a cell with data. Longer cells have paragraphs."""
_MAIN = "main, [role=main]"
_LEAST_SHARE = 0.25
"""A page whose `main` has a smaller part of its text is read whole."""
_PROPERTIES = {
    "author": ("meta[name=author]", "meta[property='article:author']"),
    "created": ("meta[property='article:published_time']", "meta[name=date]", "meta[name='dcterms.created']"),
    "modified": ("meta[property='article:modified_time']", "meta[name='dcterms.modified']"),
    "subject": ("meta[name=description]", "meta[property='og:description']"),
    "keywords": ("meta[name=keywords]",),
}


def declared_encoding(content: bytes) -> str:
    """Returns the encoding that the page declares at its beginning, or ''."""
    found = _CHARSET.search(content[:4096])
    return (found[1] or found[2]).decode("ascii") if found else ""


class HtmlPage:
    """A parsed page."""

    def __init__(self, markup: str) -> None:
        from selectolax.lexbor import LexborHTMLParser

        self._page: LexborHTMLParser = LexborHTMLParser(bound_markup(markup))

    @property
    def title(self) -> str:
        """The only heading of level 1 if it is a part of the page's title, which often names the site; else the title.

        A page without a title has that heading.
        """
        node = self._page.css_first("head title")
        title = read_title(one_line(node.text() if node is not None else ""))
        tops = self._page.css("h1")
        top = one_line(_heading_text(tops[0])) if len(tops) == 1 else ""
        return top if top and (not title or top in title) else title

    @property
    def properties(self) -> Mapping[str, str]:
        """Author, dates, language, subject and keywords, as far as the page states them."""
        found = {name: self._content(selectors) for name, selectors in _PROPERTIES.items()}
        html = self._page.css_first("html")
        language = html.attributes.get("lang") if html is not None else None
        return {**found, "language": language or ""}

    def add_text(self, builder: TextBuilder, *, main: bool) -> None:
        """Adds the text. With `main`, only the main part without navigation and footers, unless that has no text."""
        before = len(builder.pages), builder.length
        root = self._page.body
        if root is None:
            return
        if main:
            chosen = self._find_main(root)
            _Writer(builder, _BESIDE).write(chosen)
            if (len(builder.pages), builder.length) != before:
                return
        _Writer(builder, frozenset()).write(root)

    def _find_main(self, body: "LexborNode") -> "LexborNode":
        found = self._page.css(_MAIN)
        if len(found) == 1 and len(found[0].text()) >= _LEAST_SHARE * len(body.text()):
            return found[0]
        return body

    def _content(self, selectors: tuple[str, ...]) -> str:
        for selector in selectors:
            node = self._page.css_first(selector)
            if node is not None and (content := node.attributes.get("content")):
                return one_line(content)
        return ""


@dataclass
class _Writer:
    """Adds the text below a node. It does not recurse: pages are nested to any depth."""

    builder: TextBuilder
    beside: frozenset[str]
    _inline: list[str] = field(default_factory=list)
    _heading: int = 0
    _preformatted: int = 0
    _grid: CellGrid | None = None
    _lists: list[int] = field(default_factory=list)
    """The lists that are open: the number of the next item, or 0 if the items have none."""
    _mark: str = ""

    def write(self, root: "LexborNode") -> None:
        for node, ends in _walk(root, self._is_left_out):
            tag = node.tag or ""
            if tag == "-text":
                self._add_inline(node.text_content or "")
            elif _HEADING.fullmatch(tag):
                self._end_heading(int(tag[1])) if ends else self._begin_heading(int(tag[1]))
            elif self._grid is not None:
                self._write_in_table(node, tag, self._grid, ends=ends)
            elif tag == "table" and not ends and _has_data(node):
                self._end_lines(paragraph=True)
                self._grid = CellGrid()
            elif not self._heading:
                self._write_tag(node, tag, ends=ends)
            elif tag in _LINES or tag in _PARAGRAPHS:
                self._inline.append(" ")
        self._end_lines(paragraph=True)

    def _write_tag(self, node: "LexborNode", tag: str, *, ends: bool) -> None:
        if tag == "pre":
            self._end_lines(paragraph=True)
            self._preformatted += -1 if ends else 1
        elif tag in _PARAGRAPHS:
            self._end_lines(paragraph=True)
            if tag in _LISTS:
                self._begin_list(node, tag) if not ends else self._end_list()
        elif tag in _LINES:
            if tag != "br" or not ends:
                self._end_lines(paragraph=False)
            if tag == "li" and not ends:
                self._mark_item()
        elif tag in _CELLS and not ends and "".join(self._inline).strip():
            self._inline.append(CELL_SEPARATOR)

    def _begin_list(self, node: "LexborNode", tag: str) -> None:
        start = node.attributes.get("start") or "1"
        self._lists.append((int(start) if _START.fullmatch(start) else 1) if tag == "ol" else 0)

    def _end_list(self) -> None:
        if self._lists:
            self._lists.pop()

    def _mark_item(self) -> None:
        number = self._lists[-1] if self._lists else 0
        self._mark = f"{number}." if number else "-"
        if number:
            self._lists[-1] += 1
        self._inline.append(f"{self._mark} ")

    def _write_in_table(self, node: "LexborNode", tag: str, grid: CellGrid, *, ends: bool) -> None:
        """Adds what a table with data has: all of a cell is one line."""
        if tag == "tr" and not ends:
            grid.begin_row()
        elif tag in _CELLS and not ends:
            self._inline = []
        elif tag in _CELLS:
            text, self._inline = "".join(self._inline), []
            grid.add(text, *(_read_span(node, name) for name in ("colspan", "rowspan")))
        elif tag == "caption" and ends:
            self._end_lines(paragraph=False)
        elif tag == "table" and ends:
            self._inline, self._grid = [], None
            for line in grid.lines():
                self.builder.add_line(line)
            self.builder.add_line()
        elif tag in _LINES or tag in _PARAGRAPHS:
            self._inline.append(" ")

    def _add_inline(self, text: str) -> None:
        if self._preformatted and not self._heading:
            first, *others = text.split("\n")
            self._inline.append(first)
            for line in others:
                self._end_lines(paragraph=False, keep_blank=True)
                self._inline.append(line)
        else:
            self._inline.append(_SPACE.sub(" ", text))

    def _begin_heading(self, level: int) -> None:
        self._end_lines(paragraph=True)
        self._heading = level

    def _end_heading(self, level: int) -> None:
        self._heading = 0
        title, self._inline = "".join(self._inline), []
        self.builder.add_heading(level, title)

    def _end_lines(self, *, paragraph: bool, keep_blank: bool = False) -> None:
        line = "".join(self._inline)
        self._inline = []
        line = line.rstrip() if self._preformatted else _SPACE.sub(" ", line).strip()
        if (line.strip() and line not in ("-", self._mark)) or (keep_blank and self.builder.has_line):
            self.builder.add_line(line)
        if paragraph and self.builder.has_line:
            self.builder.add_line()

    def _is_left_out(self, node: "LexborNode") -> bool:
        tag = node.tag or ""
        if tag == "-text":
            return False
        if tag.startswith("-") or tag in _NEVER or tag in self.beside:
            return True
        if tag == "a" and _is_permalink(node, in_heading=bool(self._heading)):
            return True
        return _is_hidden(node.attributes, roles=bool(self.beside))


def _has_data(table: "LexborNode") -> bool:
    """Whether a table has data: rows of several short cells. Others only lay out what a page says."""
    if table.css_first("table table, h1, h2, h3, h4, h5, h6, pre, ul li ul") is not None:
        return False
    cells = table.css("td, th")
    rows = table.css("tr")
    return len(cells) > len(rows) and all(len(cell.text()) <= _LONGEST_CELL for cell in cells)


def _read_span(cell: "LexborNode", name: str) -> int:
    written = cell.attributes.get(name) or ""
    return int(written) if written.isascii() and written.isdecimal() and len(written) < 6 else 1


def _heading_text(heading: "LexborNode") -> str:
    def is_permalink(node: "LexborNode") -> bool:
        return node.tag == "a" and _is_permalink(node, in_heading=True)

    return "".join(node.text_content or "" for node, _ in _walk(heading, is_permalink) if node.tag == "-text")


def _is_permalink(anchor: "LexborNode", *, in_heading: bool) -> bool:
    """Whether the anchor only offers the address of its place: a sign that links to a part of a page."""
    attributes = anchor.attributes
    if not in_heading and _PERMALINK_CLASS not in (attributes.get("class") or "").split():
        return False
    return "#" in (attributes.get("href") or "") and anchor.text().strip() in _PERMALINK_SIGNS


def _is_hidden(attributes: Mapping[str, Any], *, roles: bool) -> bool:
    if "hidden" in attributes or attributes.get("aria-hidden") == "true":
        return True
    if roles and attributes.get("role") in _BESIDE_ROLES:
        return True
    return bool(_HIDDEN_STYLE.search(attributes.get("style") or ""))


def _walk(root: "LexborNode", is_left_out: Any) -> Iterator[tuple["LexborNode", bool]]:
    """Yields each node below `root` when it begins, and each that has an end also when it ends (True)."""
    stack: list[LexborNode] = []
    node = root.child
    while node is not None or stack:
        if node is None:
            last = stack.pop()
            yield last, True
            node = last.next
        elif is_left_out(node):
            node = node.next
        else:
            yield node, False
            child = node.child if node.tag != "-text" else None
            if child is not None:
                stack.append(node)
                node = child
            else:
                if node.tag != "-text":
                    yield node, True
                node = node.next
