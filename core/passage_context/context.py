"""What a passage is part of, beside the title of its document: sender and date, section, page, file, table header.

Prompts, snippets, quotes, citations and lists of sources tell it with the words of a passage, so that they can be
understood alone. Nothing here is part of a passage's text: places in that stay as they are.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from pathlib import PurePosixPath

from core.documents import HEADING_SEPARATOR, Chunk, DocumentRef, Metadata, Span
from core.passage_context.page_labels import find_page_label, name_page
from core.passage_context.tables import TextTable, are_labels, find_tables, is_row
from core.ports.retrieval import Hit
from core.text.shortening import shorten
from core.text.titles import one_line

_BETWEEN = " · "
_LONGEST = {"file": 60, "sender": 60, "date": 30, "section": 120, "page": 30, "columns": 240}
"""Characters of each part. A part comes from a document or its sender, who may make it as long as they like."""

_READ, _READ_AFTER = 20_000, 4000
"""Characters before and after the beginning of a quote that are looked at for the header of its table."""

_FIRST_LINES = 6
"""If a chunk begins within a table, there is a row among this many first lines."""

_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, and marks that change the direction of what follows them. Each becomes a space."""

_ADDRESS = re.compile(r"\s?<[^<>@]{0,300}@[^<>@]{0,300}>")
_ISO_DATE = re.compile(r"\A(\d{4}-\d\d-\d\d)[T ].*", re.DOTALL)
_SUFFIX = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,7}")
_WORD = re.compile(r"\w+")
_SHEETS = (".xlsx", ".xlsm", ".xls", ".xlt", ".ods", ".ots")
_SLIDES = (".pptx",)


@dataclass(frozen=True, kw_only=True, slots=True)
class PassageContext:
    """What a passage is part of; each part is on one line and of bounded length, and '' if it is not known.

    `file` is the name of the document's file if the title does not have its words. `sender` and `date` are of a mail,
    or what the metadata of the document state as `from` and `date`. `section` is the path of headings, which begins
    with the sheet in a workbook. `page` is a number, with the label of the page if that differs (`7 (iv)`), and `slide`
    is a number. `columns` are the names of the columns of the table in which the passage (or its quote) begins, if the
    passage does not have them itself.
    """

    file: str = ""
    sender: str = ""
    date: str = ""
    section: str = ""
    page: str = ""
    slide: str = ""
    columns: str = ""

    @property
    def attributes(self) -> dict[str, str]:
        """The parts that are known, by the names that prompts have for them."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {"from" if name == "sender" else name: value for name, value in values.items() if value}

    @property
    def line(self) -> str:
        """Section, sender, date and columns, for people; '' if none is known.

        File and page are not in it: what shows a passage shows the key of its document and the page, too.
        """
        sender = f"from {self.sender}" if self.sender else ""
        columns = f"columns: {self.columns}" if self.columns else ""
        return _BETWEEN.join(part for part in (self.section, sender, self.date, columns) if part)


def find_context(document: DocumentRef, chunk: Chunk, span: Span | None = None) -> PassageContext:
    """Returns what a passage is part of, or a quote of it, which is `chunk.text[span.start:span.end]`."""
    section, columns = split_heading(chunk.heading, chunk.text)
    if span is not None:
        columns = _find_columns(chunk.text, span.start, columns)
    suffix = PurePosixPath(document.key).suffix.lower()
    label = _shorten(find_page_label(document.metadata, chunk.page), "page")
    number = "" if chunk.page is None or suffix in _SHEETS else name_page(chunk.page, label)
    return PassageContext(
        file=_shorten(_find_file(document), "file"),
        sender=_shorten(_find_sender(document.metadata), "sender"),
        date=_shorten(_ISO_DATE.sub(r"\1", _text(document.metadata, "date")), "date"),
        section=_cut_beginning(_clean(section), _LONGEST["section"]),
        page="" if suffix in _SLIDES else number,
        slide=number if suffix in _SLIDES else "",
        columns=_shorten(columns, "columns"),
    )


def describe_hit(hit: Hit, span: Span | None = None) -> str:
    """Returns what a hit, or a quote of it at `span`, is part of, on one line (`PassageContext.line`).

    It is '' if nothing is known beside the title, the key and the page.
    """
    return find_context(hit.document, hit.chunk, span).line


def name_sender(sender: str) -> str:
    """Returns the names in a mail's header `From`, without addresses; the address if there is no name."""
    return _clean(_ADDRESS.sub("", sender)).strip("\"' ") or sender.strip("<> ")


def split_heading(heading: str, text: str) -> tuple[str, str]:
    """Returns the path of headings of a chunk, and the header of the table in whose middle it begins, or ''.

    The header is the last part of the heading of such a chunk: the chunker puts it there.
    """
    path, _, last = heading.rpartition(HEADING_SEPARATOR)
    if is_row(last) and any(is_row(line) for line in _first_lines(text)):
        return path, last
    return heading, ""


def begins_within_table(heading: str, text: str) -> bool:
    """Returns whether a chunk's text begins with rows of a table, perhaps below a label, whose columns have no names in
    the text or in the heading.
    """
    if not any(is_row(line) for line in _first_lines(text)) or split_heading(heading, text)[1]:
        return False
    first = next(find_tables(text[:_READ_AFTER]), None)
    return first is not None and not first.header and are_labels(text[: first.start])


def _first_lines(text: str) -> list[str]:
    return text[:_READ].split("\n", _FIRST_LINES)[:_FIRST_LINES]


def find_headed_tables(heading: str, text: str) -> Iterator[TextTable]:
    """Yields the tables of a chunk's text whose columns have names.

    The first rows of a chunk that begins within a table are no header: its columns are named by the heading.
    """
    _, columns = split_heading(heading, text)
    for number, table in enumerate(find_tables(text)):
        is_cut = columns and not number and are_labels(text[: table.start])
        if is_cut:
            yield replace(table, body=table.start, header=columns)
        elif table.header:
            yield table


def _find_columns(text: str, start: int, above: str) -> str:
    """Returns the header of the table in which a quote begins, unless it begins in the header itself.

    `above` is the header of the table that goes on at the beginning of the text.
    """
    first = max(0, start - _READ)
    at = start - first
    for number, table in enumerate(find_tables(text[first : start + _READ_AFTER])):
        if table.start <= at < table.end:
            if not number and (above or (first and not table.start)):
                return above
            return table.header if at >= table.body else ""
    return ""


def _find_sender(metadata: Metadata) -> str:
    """Returns the name of the sender, or the address if there is no name."""
    return name_sender(_text(metadata, "from"))


def _find_file(document: DocumentRef) -> str:
    """Returns the name of the file; '' if the key is no path of a file, or the name tells nothing beside the title."""
    path = PurePosixPath(document.key.replace("\\", "/"))
    if "://" in document.key or not _SUFFIX.fullmatch(path.suffix):
        return ""
    words, known = (set(_WORD.findall(name.replace("_", " ").casefold())) for name in (path.stem, document.title))
    return path.name if any(not word.isdecimal() for word in words) and not words <= known else ""


def _text(metadata: Metadata, name: str) -> str:
    value = metadata.get(name)
    return value if isinstance(value, str) else ""


def _clean(text: str) -> str:
    return one_line(_CONTROL.sub(" ", text))


def _shorten(text: str, part: str) -> str:
    longest = _LONGEST[part]
    return shorten(_clean(text[: 4 * longest]), longest)


def _cut_beginning(path: str, longest: int) -> str:
    """Returns the end of a path, between two of its parts where that is possible."""
    if len(path) <= longest:
        return path
    end = path[2 - longest :]
    _, separator, rest = end.partition(HEADING_SEPARATOR)
    return f"… {rest if separator else end.lstrip()}"
