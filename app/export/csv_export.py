"""Exports rows as one CSV table. The `kind` of a row decides which columns have a value."""

import csv
import io
import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing

__all__ = ["COLUMNS", "csv_lines"]

COLUMNS = (
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
    *("first_id", "second_id", "score"),  # synonym
)

_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
"""Signs with which a formula begins in a spreadsheet; Excel also takes the wide forms of the signs."""


async def csv_lines(rows: AsyncGenerator[Mapping[str, object]]) -> AsyncGenerator[str]:
    """Yields a header and a line for each row (RFC 4180).

    Text that a spreadsheet would read as a formula gets a leading quote.
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(COLUMNS)
    yield buffer.getvalue()
    async with aclosing(rows):
        async for row in rows:
            if row["kind"] == "extraction":  # the output of a model; only JSON lines contain it
                continue
            buffer.seek(0)
            buffer.truncate()
            writer.writerow([_format_cell(row.get(column)) for column in COLUMNS])
            yield buffer.getvalue()


def _format_cell(value: object) -> object:
    if isinstance(value, str):
        return f"'{value}" if value.startswith(_FORMULA) else value
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False, sort_keys=True)
    return value
