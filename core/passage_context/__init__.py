"""What a passage is part of (`context`), and the tables of a text with the rows that name their columns (`tables`)."""

from core.passage_context.context import PassageContext, describe_hit, find_context, name_sender, split_heading
from core.passage_context.tables import TextTable, find_tables, split_units

__all__ = [
    "PassageContext",
    "TextTable",
    "describe_hit",
    "find_context",
    "find_tables",
    "name_sender",
    "split_heading",
    "split_units",
]
