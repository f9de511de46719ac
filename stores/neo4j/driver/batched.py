"""Statements over more rows than one statement takes."""

from collections.abc import Sequence
from typing import Any

from stores.neo4j.driver.database import BATCH, Row, Transaction, batches

__all__ = ["rows_of"]


def rows_of(
    tx: Transaction, statement: str, rows: Sequence[Any], *, batch: int = BATCH, **parameters: Any
) -> list[Row]:
    """All that a statement answers which begins with UNWIND $rows, batch by batch."""
    return [row for some in batches(rows, batch) for row in tx.rows(statement, rows=some, **parameters)]
