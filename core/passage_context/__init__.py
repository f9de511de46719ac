"""What a passage is part of (`context`), the labels of pages (`page_labels`), and the tables of a text: where they are
(`tables`), their rows and columns (`grids`), and their cells (`cells`).
"""

from core.passage_context.cells import TableCell, find_cell, name_cell, name_columns
from core.passage_context.context import (
    PassageContext,
    begins_within_table,
    describe_hit,
    find_context,
    find_headed_tables,
    name_sender,
    split_heading,
)
from core.passage_context.grids import read_grids
from core.passage_context.page_labels import PAGE_LABELS, find_page_label, make_page_labels, name_page
from core.passage_context.tables import TextTable, find_tables, split_units

__all__ = [
    "PAGE_LABELS",
    "PassageContext",
    "TableCell",
    "TextTable",
    "begins_within_table",
    "describe_hit",
    "find_cell",
    "find_context",
    "find_headed_tables",
    "find_page_label",
    "find_tables",
    "make_page_labels",
    "name_cell",
    "name_columns",
    "name_page",
    "name_sender",
    "read_grids",
    "split_heading",
    "split_units",
]
