"""Exports a corpus as JSON lines, as GraphML with communities, or as one CSV table."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from enum import StrEnum

from app.archive import RowCounts, encode_row, encode_section
from app.container import Container
from app.export.csv_export import csv_lines
from app.export.graphml_export import graphml_lines
from core.corpora import Corpus

__all__ = ["ExportFormat", "export"]

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
        return graphml_lines(rows)
    if format is ExportFormat.CSV:
        return csv_lines(rows())
    return _encode_rows(rows()) if canonical else encode_section(container, corpus, RowCounts())


async def _encode_rows(rows: AsyncGenerator[Mapping[str, object]]) -> AsyncGenerator[str]:
    async with aclosing(rows):
        async for row in rows:
            yield encode_row(row)
