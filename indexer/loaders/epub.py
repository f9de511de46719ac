"""E-books (EPUB): one text in the order of reading, with chapters and their sections as headings."""

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote
from zipfile import ZipFile

from pydantic import Field

from core.errors import LoadFailed
from core.ports.indexing import LoadedDocument, Loader, Source
from core.strategies import StrategyConfig
from indexer.loading.archives import check_archive, open_archive, parse_xml, read_member
from indexer.loading.assembly import TextBuilder, finish_document, join_cells
from indexer.loading.examples import example_of
from indexer.loading.properties import make_metadata

MEDIA_TYPES = ("application/epub+zip",)
SUFFIXES = (".epub",)
ISOLATED = True
EXAMPLE = example_of("epub")

_CONTAINER, _ENCRYPTION = "META-INF/container.xml", "META-INF/encryption.xml"
_PROPERTIES = {
    "author": "creator",
    "created": "date",
    "language": "language",
    "subject": "subject",
    "publisher": "publisher",
}
_CHAPTER_TYPES = ("application/xhtml+xml", "text/html")


class Config(StrategyConfig):
    """Which parts of a book are read."""

    contents_page: bool = Field(default=False, description="Read the page of contents as text, too.")


@dataclass(frozen=True, kw_only=True)
class _Package:
    """A book's list of files: the paths of `chapters`, in the order of reading, and of tables of `contents`."""

    title: str
    metadata: Mapping[str, Any]
    chapters: tuple[str, ...]
    contents: tuple[str, ...]


class EpubLoader:
    """Loads EPUB. The title is the sender's, else the book's, else the name of the file."""

    def __init__(self, config: Config) -> None:
        self._config = config

    def load(self, source: Source) -> LoadedDocument:
        with open_archive(source.content, source.key, "EPUB", _CONTAINER) as archive:
            check_archive(archive, source.key, may_have_doctype=True)
            package = _read_package(archive, source.key)
            _check_readable(archive, package, source.key)
            names = _read_contents(archive, package, source.key)
            builder = TextBuilder()
            for path in package.chapters:
                if self._config.contents_page or path not in package.contents:
                    _add_chapter(builder, archive, path, names.get(path, ""), source.key)
            builder.end_page()
        return finish_document(source, builder, package.title, package.metadata, numbered=False)


def _read_package(archive: ZipFile, key: str) -> _Package:
    container = parse_xml(read_member(archive, _CONTAINER, key), key, _CONTAINER)
    path = next((one.get("full-path", "") for one in container.iterfind(".//{*}rootfile")), "")
    root = parse_xml(read_member(archive, path, key), key, path)
    items = {one.get("id"): one for one in root.iterfind(".//{*}manifest/{*}item")}
    spine = root.find(".//{*}spine")
    if spine is None:
        raise LoadFailed(f"{key!r} is no EPUB file: {path!r} has no order of reading")
    read = [items.get(one.get("idref")) for one in spine.iterfind("{*}itemref")]
    chapters = [_resolve(path, one) for one in read if one is not None and one.get("media-type") in _CHAPTER_TYPES]
    contents = [_resolve(path, one) for one in items.values() if "nav" in one.get("properties", "").split()]
    if (ncx := items.get(spine.get("toc"))) is not None:
        contents.append(_resolve(path, ncx))
    found = {name: _first(root, tag) for name, tag in _PROPERTIES.items()}
    return _Package(
        title=_first(root, "title") or "",
        metadata=make_metadata(found),
        chapters=tuple(dict.fromkeys(chapters)),
        contents=tuple(contents),
    )


def _first(root: Any, tag: str) -> str | None:
    found = root.find(".//{http://purl.org/dc/elements/1.1/}" + tag)
    return None if found is None else found.text


def _resolve(base: str, item: Any, attribute: str = "href") -> str:
    """Returns the path of a link in the archive, without its fragment."""
    link = unquote(item.get(attribute, "").partition("#")[0])
    return posixpath.normpath(posixpath.join(posixpath.dirname(base), link))


def _check_readable(archive: ZipFile, package: _Package, key: str) -> None:
    """Raises `LoadFailed` if a chapter is encrypted. Fonts may be: they are not read."""
    if _ENCRYPTION not in archive.namelist():
        return
    root = parse_xml(read_member(archive, _ENCRYPTION, key), key, _ENCRYPTION)
    if {_resolve("", one, "URI") for one in root.iterfind(".//{*}CipherReference")} & set(package.chapters):
        raise LoadFailed(f"{key!r} is encrypted (DRM), and cannot be read")


def _read_contents(archive: ZipFile, package: _Package, key: str) -> dict[str, str]:
    """Returns the titles of chapters by path, from the book's contents."""
    names: dict[str, str] = {}
    for path in package.contents:
        if path not in archive.namelist():
            continue
        root = parse_xml(read_member(archive, path, key), key, path)
        for link in root.iterfind(".//{*}nav//{*}a"):
            names.setdefault(_resolve(path, link), "".join(link.itertext()))
        for point in root.iterfind(".//{*}navPoint"):
            content, label = point.find("{*}content"), point.find("{*}navLabel/{*}text")
            if content is not None and label is not None:
                names.setdefault(_resolve(path, content, "src"), label.text or "")
    return names


def _add_chapter(builder: TextBuilder, archive: ZipFile, path: str, name: str, key: str) -> None:
    """Adds a chapter. If it has no heading, its name in the contents is the heading."""
    root = parse_xml(read_member(archive, path, key), key, path)
    body = root.find(".//{*}body")
    if body is None:
        return
    if next((one for one in body.iter("{*}h1", "{*}h2", "{*}h3", "{*}h4", "{*}h5", "{*}h6")), None) is None:
        builder.add_heading(1, name, line="")
    _add_xhtml(builder, body)


def build(config: Config, _backends: object) -> Loader:
    return EpubLoader(config)


_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_SKIPPED = ("script", "style", "head", "template", "svg", "math", "rt", "rp")
_BLOCKS = (
    *("p", "div", "section", "article", "aside", "header", "footer", "main", "nav", "figure", "figcaption"),
    *("blockquote", "ul", "ol", "dl", "dt", "dd", "li", "pre", "hr", "body", "table", "address", "details", "summary"),
)
_SPACE = re.compile(r"\s+")


def _add_xhtml(builder: TextBuilder, body: Any) -> None:
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
