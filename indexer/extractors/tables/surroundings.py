"""What the rest of a document tells about the tables of a passage: the header of a table that begins above it, the unit
of its figures, and which labels other rows have, too.

A document and its blocks are read once, since their chunks come one after another.
"""

import re
import weakref
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass

from core.passage_context import find_tables, read_grids
from core.passage_context.tables import BAR, is_row
from core.ports.indexing import Block, DraftChunk, LoadedDocument

_LONGEST_BLOCK = 4_000_000
"""Characters of a block whose tables are found. The passages of a longer block have the headers that they contain."""
_LOOKED_AT = 4_000
"""Characters at the beginning of a table in which its header is."""
_ABOVE = 300
"""Characters before a table in which its unit may stand."""
_FIRST_LINES = 4
"""If a chunk begins within a table, there is a row among this many first lines."""
_RECORD = re.compile(r"^[^:;|\n]{1,60}: ([^;|\n]{1,100}?)(?:; | \|)", re.MULTILINE)
"""The first value of a row that says the names of its cells: `City: Ulm; River: Danube`."""
_MOST_LABELS = 200_000
"""Labels of rows that are counted. A document with more has no facts of such rows."""
_UNIT = re.compile(
    r"\([^()\n]{0,20}?\b(in (?:thousands|millions|billions)|in (?:Tausend|Mio\.?|Mrd\.?) ?\w{0,5})\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class TableHead:
    """The header of the table within which a chunk begins, whole lines, and the unit of its figures; '' if not known.

    `is_cut`: the chunk begins within a table, so its first rows are no header.
    """

    text: str = ""
    unit: str = ""
    is_cut: bool = False


_NONE = TableHead()


def may_have_tables(text: str) -> bool:
    return BAR in text or "; " in text or "|\n" in text


def find_unit(text: str, start: int, end: int) -> str:
    """Returns the unit (`in millions`) that is said in or before the table that begins at `start`, or ''."""
    found = _UNIT.search(text, max(0, start - _ABOVE), end)
    return found[1].lower() if found else ""


class TableHeads:
    """Finds what stands above chunks. Keeps the tables of the last block, and not its text."""

    def __init__(self) -> None:
        self._last: tuple[weakref.ref[LoadedDocument], int, list[tuple[int, int]]] | None = None
        self._heads: dict[int, TableHead] = {}

    def find(self, document: LoadedDocument, chunk: DraftChunk) -> TableHead:
        block = document.blocks[chunk.block]
        at = 0 if chunk.start is None or block.start is None else chunk.start - block.start
        lines = chunk.text[:_LOOKED_AT].split("\n", _FIRST_LINES)[:_FIRST_LINES]
        if at <= 0 or len(block.text) > _LONGEST_BLOCK or not any(map(is_row, lines)):
            return _NONE
        tables = self._tables(document, chunk.block)
        before = bisect_left(tables, at, key=lambda table: table[0]) - 1
        if before < 0 or tables[before][1] <= at:
            return _NONE
        start, end = tables[before]
        if start not in self._heads:
            self._heads[start] = _read_head(block.text, start, end)
        return self._heads[start]

    def _tables(self, document: LoadedDocument, index: int) -> list[tuple[int, int]]:
        """Returns where the tables of a block begin and end."""
        last = self._last
        if last is not None and last[0]() is document and last[1] == index:
            return last[2]
        tables = [(table.start, table.end) for table in find_tables(document.blocks[index].text)]
        self._last, self._heads = (weakref.ref(document), index, tables), {}
        return tables


def _read_head(text: str, start: int, end: int) -> TableHead:
    end = min(end, start + _LOOKED_AT)
    grids = read_grids(text[start:end])
    header = grids[0].header if grids else ()
    stop = start + header[-1].end if header else start
    return TableHead(text=text[start:stop], unit=find_unit(text, start, min(end, stop + _ABOVE)), is_cut=True)


class RecordLabels:
    """Tells which labels several rows of a document have under one heading. Keeps the labels of the last document."""

    def __init__(self) -> None:
        self._last: tuple[weakref.ref[LoadedDocument], frozenset[tuple[tuple[str, ...], str]] | None] | None = None

    def find_repeated(self, document: LoadedDocument, chunk: DraftChunk) -> frozenset[str]:
        """Returns the labels of rows of a chunk that several rows have; all labels, if the document has too many."""
        own = frozenset(_RECORD.findall(chunk.text))
        if not own:
            return own
        if self._last is None or self._last[0]() is not document:
            self._last = weakref.ref(document), _find_repeated(document.blocks)
        repeated, heading = self._last[1], document.blocks[chunk.block].heading
        return own if repeated is None else frozenset(label for label in own if (heading, label) in repeated)


def _find_repeated(blocks: Iterable[Block]) -> frozenset[tuple[tuple[str, ...], str]] | None:
    """Returns the labels that several rows have, with their headings; None if there are too many labels."""
    known: set[tuple[tuple[str, ...], str]] = set()
    repeated: set[tuple[tuple[str, ...], str]] = set()
    for block in blocks:
        for found in _RECORD.finditer(block.text):
            label = block.heading, found[1]
            if label in known:
                repeated.add(label)
            elif len(known) == _MOST_LABELS:
                return None
            else:
                known.add(label)
    return frozenset(repeated)
