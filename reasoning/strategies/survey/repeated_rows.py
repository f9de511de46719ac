"""Rows of tables that two passages have: a chunker repeats the last sentence of a passage, which may be a row."""

from collections.abc import Sequence

from core.documents import Chunk
from core.passage_context.grids import GridRow

_MOST_REPEATED = 10
"""Rows that a passage may repeat of the passage before: the sentences that a chunker repeats at most."""


class RepeatedRows:
    """Finds the rows of a document that were read before, passage by passage, in the order of the passages."""

    def __init__(self) -> None:
        self._read: set[tuple[int | None, int, str]] = set()
        self._last: list[str] = []
        self._position = -1

    def find(self, chunk: Chunk, rows: Sequence[GridRow]) -> set[tuple[int, int]]:
        """Returns the starts and ends of the rows that were read before: where they stand in the document tells, or
        else the passage begins with rows that the passage before ends with.
        """
        texts = [chunk.text[row.start : row.end].strip() for row in rows]
        if chunk.span is not None:
            begin = chunk.span.start
            places = [(chunk.page, begin + row.start, text) for row, text in zip(rows, texts, strict=True)]
            repeated = {(row.start, row.end) for row, place in zip(rows, places, strict=True) if place in self._read}
            self._read.update(places)
        else:
            most = min(len(texts), len(self._last)) if chunk.position == self._position + 1 else 0
            count = next((n for n in range(most, 0, -1) if self._last[-n:] == texts[:n]), 0)
            repeated = {(row.start, row.end) for row in rows[:count]}
        self._last, self._position = texts[-_MOST_REPEATED:], chunk.position
        return repeated
