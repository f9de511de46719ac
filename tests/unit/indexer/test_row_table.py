"""The rows of a document's chunks, kept compressed."""

import pytest

from core.documents import Chunk, Span
from core.ports.record import ChunkRow
from indexer.pipeline.prepared_revision import RowTable


def row(n: int) -> ChunkRow:
    text = ["Ada.", "Über\n“x”", "東京 \U0001f600", "\ud800 half", ""][n % 5]
    chunk = Chunk(
        id=f"c{n}", document_id="d", view_id=f"v{n}", position=n, text=text, heading="" if n % 2 else "Part › 1",
        page=None if n % 3 else n, span=None if n % 4 == 0 else Span(start=n, end=n + 5),
    )  # fmt: skip
    names = ("one", "two")[: n % 3]
    return ChunkRow(chunk=chunk, extract_hash=f"h{n}", tokens=n, terms=bytes(range(n % 40)) + b"\n", title_names=names)


@pytest.mark.parametrize("count", [0, 1, 255, 256, 257, 700])
def test_rows_are_what_was_added(count: int) -> None:
    rows = [row(n) for n in range(count)]
    table = RowTable()
    table.extend(rows[: count // 3])
    table.extend(rows[count // 3 :])
    assert len(table) == count
    assert table == rows
    assert list(table) == list(table) == rows
    assert table[: count // 2] == rows[: count // 2]
    assert [table[n] for n in range(-min(count, 3), min(count, 3))] == [*rows[-3:], *rows[:3]]
    with pytest.raises(IndexError):
        table[count]
