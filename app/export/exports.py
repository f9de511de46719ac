"""A corpus written out: JSON lines, GraphML with communities, or one table."""

from collections.abc import AsyncIterator, Mapping
from enum import StrEnum

from app.archive import Tally, json_line, section_lines
from app.container import Container
from app.export.csv_export import csv_lines
from app.export.graphml_export import graphml_lines
from core.corpora import Corpus

__all__ = ["ExportFormat", "export"]

_BLOCK = 65_536  # bytes that are handed on together: a row a time costs more than making it


class ExportFormat(StrEnum):
    """`jsonl` has everything and can be ingested again, `graphml` is for drawing, `csv` for spreadsheets."""

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
) -> AsyncIterator[bytes]:
    """What readers see of the corpus, in blocks of bytes; canonical: equal content gives equal bytes."""
    block: list[str] = []
    size = 0
    async for line in _lines(container, corpus, format, canonical=canonical):
        block.append(line)
        size += len(line)
        if size >= _BLOCK:
            yield "".join(block).encode()
            block.clear()
            size = 0
    if block:
        yield "".join(block).encode()


def _lines(container: Container, corpus: Corpus, format: ExportFormat, *, canonical: bool) -> AsyncIterator[str]:
    exporter = container.record.exporter

    def rows() -> AsyncIterator[Mapping[str, object]]:
        return exporter.rows(corpus.id, canonical=canonical)

    if format is ExportFormat.GRAPHML:
        return graphml_lines(rows)
    if format is ExportFormat.CSV:
        return csv_lines(rows())
    return _json_lines(rows()) if canonical else section_lines(container, corpus, Tally())


async def _json_lines(rows: AsyncIterator[Mapping[str, object]]) -> AsyncIterator[str]:
    async for row in rows:
        yield json_line(row)
