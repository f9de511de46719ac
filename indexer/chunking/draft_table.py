"""The chunks of a document as places in its blocks, which take far less memory than their texts."""

from array import array
from collections.abc import Sequence
from typing import overload

from core.ports.indexing import Block, DraftChunk
from core.text.sentences import Range

__all__ = ["DraftTable"]


class DraftTable(Sequence[DraftChunk]):
    """Chunks in order. A chunk is made when it is read. `headings` begin with the joined heading paths of the
    blocks.
    """

    def __init__(self, blocks: Sequence[Block], headings: Sequence[str]) -> None:
        self._blocks = blocks
        self._headings = list(headings)
        self._columns = array("q")
        """Five numbers for each chunk: its block, its start and end in the block, its tokens, and its heading."""

    def add(self, block: int, part: Range, tokens: int, heading: str) -> None:
        """Adds a chunk. Chunks with the same heading, other than the block's, follow one another."""
        if heading == self._headings[block]:
            number = block
        else:
            number = len(self._headings) - 1
            if heading != self._headings[-1]:
                self._headings.append(heading)
                number += 1
        self._columns.extend((block, *part, tokens, number))

    def __len__(self) -> int:
        return len(self._columns) // 5

    @overload
    def __getitem__(self, index: int) -> DraftChunk: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[DraftChunk]: ...
    def __getitem__(self, index: int | slice) -> DraftChunk | Sequence[DraftChunk]:
        numbers = range(len(self))[index]
        return self._make(numbers) if isinstance(numbers, int) else [self._make(n) for n in numbers]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # it is equal to a list

    def _make(self, n: int) -> DraftChunk:
        index, start, end, tokens, heading = self._columns[5 * n : 5 * n + 5]
        block = self._blocks[index]
        return DraftChunk(
            text=block.text[start:end],
            heading=self._headings[heading],
            page=block.page,
            start=None if block.start is None else block.start + start,
            block=index,
            tokens=tokens,
        )
