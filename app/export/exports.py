"""Exports a corpus as JSON lines, as GraphML with communities, or as one CSV table.

- GraphML has documents, passages and entities, their edges, and communities for colouring.
- In the CSV table, the `kind` of a row decides which columns have a value.
"""

import csv
import io
import json
import re
from array import array
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from enum import StrEnum
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from app.archive import RowCounts, encode_row, encode_section
from app.container import Container
from app.export.communities import find_communities
from core.corpora import Corpus

Row = Mapping[str, Any]

_NODE_KINDS = frozenset({"document", "chunk", "entity"})
_NODE_FIELDS = {
    "kind": "string",
    "label": "string",
    "key": "string",
    "text": "string",
    "position": "int",
    "page": "int",
    "community": "int",
}
_EDGE_FIELDS = {
    "relation": "string",
    "predicate": "string",
    "form": "string",
    "count": "int",
    "score": "double",
    "chunk": "string",
}
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


async def _graphml_lines(rows: Callable[[], AsyncGenerator[Row]]) -> AsyncGenerator[str]:
    """Yields the lines. Reads the rows twice: once to find the communities, once to write."""
    community = await _find_communities(rows())
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
    for target, fields in (("node", _NODE_FIELDS), ("edge", _EDGE_FIELDS)):
        for name, kind in fields.items():
            yield f'<key id="{target}_{name}" for="{target}" attr.name="{name}" attr.type="{kind}"/>\n'
    yield '<graph id="corpus" edgedefault="directed">\n'
    written: set[str] = set()
    async with aclosing(rows()) as again:
        async for row in again:
            if row["kind"] in _NODE_KINDS:
                written.add(row["id"])
                yield _render_node(row, community.get(row["id"]))
            edge = _make_edge(row)
            # A synonym or a merge may name an entity that is no longer visible.
            if edge is not None and edge[0] in written and edge[1] in written:
                yield _render_edge(*edge)
    yield "</graph>\n</graphml>\n"


async def _find_communities(rows: AsyncGenerator[Row]) -> dict[str, int]:
    """Returns the community of each node by id, numbered from the largest."""
    places: dict[str, int] = {}
    ends, weights = array("i"), array("d")
    async with aclosing(rows):
        async for row in rows:
            if row["kind"] in _NODE_KINDS:
                places[row["id"]] = len(places)
            edge = _make_edge(row)
            if edge is not None and edge[0] in places and edge[1] in places:
                ends.extend((places[edge[0]], places[edge[1]]))
                weights.append(float(edge[2].get("count") or edge[2].get("score") or 1.0))
    return dict(zip(places, await find_communities(len(places), ends, weights), strict=True))


def _render_node(row: Row, community: int | None) -> str:
    label = row.get("title") or row.get("display") or row.get("heading") or ""
    shown = {**{name: row.get(name) for name in _NODE_FIELDS}, "label": label, "community": community}
    return f'<node id="{row["id"]}">{_render_data("node", shown)}</node>\n'


def _make_edge(row: Row) -> tuple[str, str, Row] | None:
    """Returns source, target and attributes of the edge of a row, or None."""
    match row["kind"]:
        case "chunk":
            return row["document_id"], row["id"], {"relation": "contains"}
        case "mention":
            shown = {"relation": "mentions", "form": row["form"], "count": row["count"]}
            return row["chunk_id"], row["entity_id"], shown
        case "fact":
            shown = {"relation": "fact", "predicate": row["predicate"], "chunk": row["chunk_id"]}
            return row["subject_id"], row["object_id"], shown
        case "merge":
            return row["from_id"], row["into_id"], {"relation": "merged"}
        case "synonym":
            return row["first_id"], row["second_id"], {"relation": "synonym", "score": row["score"]}
    return None


def _render_edge(source: str, target: str, shown: Row) -> str:
    directed = ' directed="false"' if shown["relation"] == "synonym" else ""
    return (
        f"<edge source={quoteattr(source)} target={quoteattr(target)}{directed}>{_render_data('edge', shown)}</edge>\n"
    )


def _render_data(target: str, shown: Row) -> str:
    present = ((name, value) for name, value in shown.items() if value is not None and value != "")
    return "".join(f'<data key="{target}_{name}">{_escape(str(value))}</data>' for name, value in present)


def _escape(value: str) -> str:
    """Escapes text. Characters that XML forbids become the replacement character."""
    return escape(_ILLEGAL.sub("\ufffd", value), {"\r": "&#13;"})


_COLUMNS = (
    *(
        "kind",
        "id",
        "key",
        "title",
        "media_type",
        "content_hash",
        "chunks",
        "malformed_triples",
        "metadata",
    ),  # document
    *("document_id", "position", "heading", "page", "span", "text", "view_id", "extract_hash", "tokens"),  # chunk
    *("name", "display"),  # entity
    *("chunk_id", "entity_id", "form", "count"),  # mention
    *("triple_id", "subject_id", "predicate", "object_id"),  # fact
    *("from_id", "from_name", "into_id", "into_name"),  # merge
    *("first_id", "second_id", "score"),  # synonym, and rejection without `score`
)
_ONLY_JSON = frozenset({"extraction", "threshold", "schema"})
"""Kinds of rows that only JSON lines contain: the output of a model, and settings."""

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""Signs with which a formula begins in a spreadsheet; Excel also takes the wide forms of the signs."""


async def _csv_lines(rows: AsyncGenerator[Mapping[str, object]]) -> AsyncGenerator[str]:
    """Yields a header and a line for each row (RFC 4180).

    Text that a spreadsheet would read as a formula gets a leading quote.
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(_COLUMNS)
    yield buffer.getvalue()
    async with aclosing(rows):
        async for row in rows:
            if row["kind"] in _ONLY_JSON:
                continue
            buffer.seek(0)
            buffer.truncate()
            writer.writerow([format_cell(row.get(column)) for column in _COLUMNS])
            yield buffer.getvalue()


def format_cell(value: object) -> object:
    """Returns a value as a cell of CSV. Text that a spreadsheet would read as a formula gets a leading quote."""
    if isinstance(value, str):
        return f"'{value}" if value.startswith(_FORMULA) else value
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False, sort_keys=True)
    return value


_BLOCK = 65_536  # bytes of one block; sending single rows would cost more than making them


class ExportFormat(StrEnum):
    """The formats. `jsonl` is complete and can be ingested again, `graphml` is for drawing, `csv` for spreadsheets."""

    JSONL = "jsonl"
    GRAPHML = "graphml"
    CSV = "csv"

    @property
    def media_type(self) -> str:
        return _MEDIA_TYPES[self]


_MEDIA_TYPES = {
    ExportFormat.JSONL: "application/x-ndjson",
    ExportFormat.GRAPHML: "application/graphml+xml",
    ExportFormat.CSV: "text/csv; charset=utf-8",
}


async def export(
    container: Container, corpus: Corpus, format: ExportFormat, *, canonical: bool = False
) -> AsyncGenerator[bytes]:
    """Yields the corpus as readers see it, in blocks of bytes. If canonical, equal content gives equal bytes."""
    block: list[str] = []
    size = 0
    async with aclosing(_export_lines(container, corpus, format, canonical=canonical)) as lines:
        async for line in lines:
            block.append(line)
            size += len(line)
            if size >= _BLOCK:
                yield "".join(block).encode()
                block.clear()
                size = 0
    if block:
        yield "".join(block).encode()


def _export_lines(
    container: Container, corpus: Corpus, format: ExportFormat, *, canonical: bool
) -> AsyncGenerator[str]:
    exporter = container.record.exporter

    def rows() -> AsyncGenerator[Mapping[str, object]]:
        return exporter.rows(corpus.id, canonical=canonical)

    if format is ExportFormat.GRAPHML:
        return _graphml_lines(rows)
    if format is ExportFormat.CSV:
        return _csv_lines(rows())
    return _encode_rows(rows()) if canonical else encode_section(container, corpus, RowCounts())


async def _encode_rows(rows: AsyncGenerator[Mapping[str, object]]) -> AsyncGenerator[str]:
    async with aclosing(rows):
        async for row in rows:
            yield encode_row(row)
