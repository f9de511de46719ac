"""The tables of passages: the heads and groups above their rows, and what the passages before tell of them.

A long statement is several passages, and only the first has the columns and the caption. `rows` finds in these tables
the rows that a question says.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from core.documents import HEADING_SEPARATOR
from core.passage_context.grids import GridRow, TextGrid, usual_width
from core.passage_context.row_labels import SUM_WORDS
from core.passage_context.tables import BAR, are_labels
from core.ports.retrieval import Hit
from core.text.value_kinds import find_stems
from reasoning.strategies.extractive.over_periods.cells import FOOTNOTE
from reasoning.strategies.extractive.over_periods.units import CAPTION
from reasoning.strategies.survey.values import read_passage_grids

_MOST_BEFORE = 4
"""Passages before a passage that are read for the beginning of its table, at most."""


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table of a passage. `heads` are by the start of a row, and `ended` are the starts of the rows behind the total
    of their group, which are of no group. `caption` stands above the part of the table that an
    earlier passage has, or above the table, `goes_on` is the head below which the next passage goes on, and `begins_at`
    is the same for all parts of one table.
    """

    grid: TextGrid
    heads: Mapping[int, str]
    ended: frozenset[int]
    caption: str
    goes_on: str
    begins_at: tuple[str, int, int]

    @property
    def rows(self) -> Iterator[GridRow]:
        """The rows, without the groups that have ended."""
        for row in self.grid.rows:
            has_ended = row.start in self.ended
            yield replace(row, label=row.label.rpartition(HEADING_SEPARATOR)[2]) if has_ended else row


def read_tables(hit: Hit, places: Mapping[tuple[str, int], Hit], most: int = _MOST_BEFORE) -> list[Table]:
    """Returns the tables of a passage. `places` are the hits by document and position, of which at most so many before
    the passage are read.
    """
    text, tables = hit.chunk.text, list[Table]()
    for number, grid in enumerate(read_passage_grids(hit.chunk)):
        is_first = not number and are_labels(text[: grid.start])
        earlier = places.get((hit.document.id, hit.chunk.position - 1)) if is_first and most else None
        before = _find_beginning(earlier, grid, places, most) if earlier and not grid.header else None
        head = before.goes_on if before and not text[: grid.start].strip() else ""
        heads = _find_heads(grid, text, head)
        tables.append(
            Table(
                grid=replace(grid, columns=grid.columns or before.grid.columns) if before else grid,
                heads=heads,
                ended=_find_ended(grid),
                caption=before.caption if before else _find_caption(grid, text, earlier),
                goes_on=_find_last_head(grid, heads, text),
                begins_at=before.begins_at if before else (hit.document.id, hit.chunk.position, number),
            )
        )
    return tables


def _find_beginning(earlier: Hit, grid: TextGrid, places: Mapping[tuple[str, int], Hit], most: int) -> Table | None:
    """Returns the table with which the passage before ends, if it has as many columns."""
    above = read_tables(earlier, places, most - 1)
    if not above or not are_labels(earlier.chunk.text[above[-1].grid.end :]):
        return None
    return above[-1] if usual_width(above[-1].grid.rows) == usual_width(grid.rows) else None


def _find_caption(grid: TextGrid, text: str, earlier: Hit | None) -> str:
    """Returns what stands above a table. `earlier` is the passage before, if the table begins its own passage."""
    above = earlier.chunk.text[-CAPTION:] if earlier and grid.header else ""
    return f"{above}\n{text[max(0, grid.start - CAPTION) : grid.start]}"


def _find_last_head(grid: TextGrid, heads: Mapping[int, str], text: str) -> str:
    """Returns the head and the groups of the last row, which go on behind it; '' behind a total, or if another label
    stands there.
    """
    if not grid.rows or text[grid.end :].strip() or find_stems(own_label(grid.rows[-1])) & SUM_WORDS:
        return ""
    last = grid.rows[-1]
    return " ".join([heads[last.start], *last.label.split(HEADING_SEPARATOR)[:-1]]).strip()


def _find_heads(grid: TextGrid, text: str, head: str) -> dict[int, str]:
    """Returns the head above each row, by the start of the row: the last label without a value, `Americas:`. A total
    ends what its head is about. `head` is above the first row.
    """
    heads = {}
    for row in grid.rows:
        first, *others = (text[slice(*cell)] for cell in row.cells) if row.cells else ("",)
        if first and not any(others):
            head = first.strip(" *:")
            heads[row.start] = ""
            continue
        heads[row.start] = head
        if find_stems(first) & SUM_WORDS:
            head = ""
    return heads


def _find_ended(grid: TextGrid) -> frozenset[int]:
    """Returns the starts of the rows behind the total of their group: `Operating income` is none of the expenses. A
    total of something else, `Total costs` of a segment, ends no group.
    """
    ended, group, is_summed = set[int](), "", False
    for row in grid.rows:
        of_group = row.label.rpartition(HEADING_SEPARATOR)[0]
        is_summed = is_summed and of_group == group
        group = of_group
        if is_summed:
            ended.add(row.start)
        label = find_stems(own_label(row))
        is_total = bool(label & SUM_WORDS) and label - SUM_WORDS <= find_stems(of_group)
        is_summed = is_summed or (bool(of_group) and is_total)
    return frozenset(ended)


def own_label(row: GridRow) -> str:
    return row.label.rsplit(HEADING_SEPARATOR, maxsplit=1)[-1].casefold()


def part_of(row: GridRow, heads: Mapping[int, str]) -> frozenset[str]:
    """Returns the words of the head and the groups above the label of a row."""
    groups = row.label.split(HEADING_SEPARATOR)[:-1]
    words = find_stems(FOOTNOTE.sub(" ", " ".join([heads[row.start], *groups]))) - SUM_WORDS
    return frozenset(word for word in words if not any(map(str.isdigit, word)))


def list_parts(tables: Sequence[Table]) -> Mapping[tuple[tuple[str, int, int], str], set[frozenset[str]]]:
    """Returns for each table and label what the heads and groups above its rows say, in all passages of the table."""
    parts = defaultdict[tuple[tuple[str, int, int], str], set[frozenset[str]]](set)
    for table in tables:
        for row in table.grid.rows:
            parts[table.begins_at, own_label(row)].add(part_of(row, table.heads))
    return parts


def leave_out_rows(caption: str) -> str:
    """Returns the lines behind the last row of a table."""
    lines = caption.splitlines()
    begins = max((at for at, line in enumerate(lines, start=1) if BAR in line), default=0)
    return "\n".join(lines[begins:])
