"""The size of transactions that write or delete many rows."""

from dataclasses import dataclass

__all__ = ["SLICE_ROWS", "Bounds"]

SLICE_ROWS = 20_000
"""Four concurrent writers fit into a heap of 768 MB with this size, with much to spare."""


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """`rows` is the approximate number of chunks, mentions and facts that one transaction writes or deletes.

    `grace` is the number of seconds after which tombstones are due.
    """

    rows: int
    grace: float
