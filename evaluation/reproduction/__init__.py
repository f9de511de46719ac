"""The tables and figures of the published systems by name: what they are and how they are run (`reproduction`), and
their results in the papers' shape (`outcome`).
"""

from evaluation.reproduction.outcome import Outcome
from evaluation.reproduction.reproduction import (
    OVERALL,
    UNKNOWN,
    Column,
    CostEstimate,
    Paper,
    PlacedDataset,
    Reproduction,
    Table,
    TableRow,
    dataset_names,
    find_table,
    list_tables,
    place_datasets,
    plan_reproduction,
)

__all__ = [
    "OVERALL",
    "UNKNOWN",
    "Column",
    "CostEstimate",
    "Outcome",
    "Paper",
    "PlacedDataset",
    "Reproduction",
    "Table",
    "TableRow",
    "dataset_names",
    "find_table",
    "list_tables",
    "place_datasets",
    "plan_reproduction",
]
