"""Rules of claims: which revisions one claim takes, how documents and corpora take turns, and which revisions fail.

A revision fails if its workers died too often.
"""

from collections.abc import Collection, Sequence
from typing import Any, Protocol, TypeVar

__all__ = [
    "CLAIMED_ALONE_AFTER",
    "FAILED_AFTER",
    "LONGEST_LEASE_SECONDS",
    "SMALL_BYTES",
    "ClaimableRow",
    "failure_reason",
    "fit_batch",
    "is_suspect",
    "next_corpus",
    "size_class",
    "split",
]

CLAIMED_ALONE_AFTER = 4
"""A revision that was claimed this many times without an end is claimed alone: it may be what kills its workers."""

FAILED_AFTER = 8
"""A revision that was claimed this many times without an end fails."""

LONGEST_LEASE_SECONDS = 3600.0
"""No worker takes a longer lease. A lease that ends later was taken before the store's clock was set back, and counts
as expired. Otherwise a dead worker's claims would wait for as long as the clock was set back."""


SMALL_BYTES = 256_000
"""The largest content of a small document."""

_CLASS_FACTOR = 16


class ClaimableRow(Protocol):
    """The row of a claimable revision, with the columns `attempts` and `size`."""

    def __getitem__(self, column: str, /) -> Any: ...


Row = TypeVar("Row", bound=ClaimableRow)


def size_class(size: int, small: int = SMALL_BYTES) -> range:
    """Returns the sizes of the class of a document of `size` bytes.

    Small documents have at most `small` bytes; each further class ends at sixteen times the class before. Documents of
    one class are indexed one after the other, and documents of different classes take turns. So no document waits for a
    document that is more than sixteen times as large, and no stream of small documents keeps a large one waiting.
    """
    first, last = 0, small
    while size > last:
        first, last = last + 1, last * _CLASS_FACTOR
    return range(first, last + 1)


def next_corpus(waiting: Collection[str], after: str, *, leaving_out: Collection[str] = ()) -> str | None:
    """Returns the corpus that follows the corpus `after`: the next by id, in a circle, and itself last."""
    left = sorted(set(waiting) - set(leaving_out))
    return next((corpus_id for corpus_id in left if corpus_id > after), left[0] if left else None)


def is_suspect(row: ClaimableRow) -> bool:
    """Whether a revision is claimed alone."""
    return bool(row["attempts"] >= CLAIMED_ALONE_AFTER)


def split(rows: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """Returns the revisions that can be claimed, and the revisions that fail instead."""
    hopeless = [row for row in rows if row["attempts"] >= FAILED_AFTER]
    return [row for row in rows if row["attempts"] < FAILED_AFTER], hopeless


def failure_reason(attempts: int) -> str:
    """Returns the reason of a revision that fails because it was claimed so often."""
    return f"the worker died or lost its lease {attempts} times on this document"


def fit_batch(rows: Sequence[Row], max_bytes: int) -> list[Row]:
    """Returns the first rows with at most `max_bytes` of content together, but at least one.

    The rows are in the order of the queue with suspect rows last. A suspect row is returned alone.
    """
    batch: list[Row] = []
    total = 0
    for row in rows:
        if batch and (is_suspect(row) or total + row["size"] > max_bytes):
            break
        batch.append(row)
        total += row["size"]
        if is_suspect(row):
            break
    return batch
