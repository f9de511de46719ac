"""What a function of a transaction works with."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from core.errors import Conflict, NotFound
from core.ids import new_id

if TYPE_CHECKING:
    from neo4j import ManagedTransaction

__all__ = ["BATCH", "Row", "Transaction", "batches", "unique"]

T = TypeVar("T")
Row = Mapping[str, Any]

BATCH = 2000
"""Rows of one UNWIND; more at a time does not make it quicker."""

# The clock after the lock, for which a writer may have waited long.
_LOCK = """
MATCH (c:Corpus {id: $id}) SET c.lock = $token
RETURN properties(c) AS corpus, datetime.realtime().epochMillis / 1000.0 AS now
"""
_CLOCK = "RETURN timestamp() / 1000.0 AS now"


def batches(rows: Sequence[T], size: int = BATCH) -> Iterator[Sequence[T]]:
    for start in range(0, len(rows), size):
        yield rows[start : start + size]


@contextmanager
def unique(message: str) -> Iterator[None]:
    """Raises `Conflict` with this message where a uniqueness constraint refuses what is written."""
    from neo4j.exceptions import ConstraintError

    try:
        yield
    except ConstraintError as error:
        raise Conflict(message) from error


class Transaction:
    """A function of it may be run again, from its start, after a passing fault."""

    def __init__(self, inner: "ManagedTransaction") -> None:
        self._inner = inner
        self._corpus: Row | None = None

    @property
    def corpus(self) -> Row:
        """The properties of the corpus that `Database.write` locked, as they were then."""
        if self._corpus is None:
            raise RuntimeError("this transaction has locked no corpus: use Database.write, or Transaction.lock")
        return self._corpus

    def lock(self, corpus_id: str) -> Row:
        """Take the lock of a corpus: the exclusive one that a write takes on its node, which ends with the transaction.

        `Database.write` does this. Who needs a second corpus takes first the one in use, then the one that is built
        beside it. Raises `NotFound` for an unknown corpus.
        """
        row = self.row(_LOCK, id=corpus_id, token=new_id())
        if row is None:
            raise NotFound(f"there is no corpus with the id {corpus_id!r}; it may have been deleted")
        self._corpus = row["corpus"]
        self.now = row["now"]
        return self._corpus

    @cached_property
    def now(self) -> float:
        """The server's clock when it was first asked for in this transaction, in seconds since 1970."""
        return float(self.rows(_CLOCK)[0]["now"])

    def rows(self, statement: str, **parameters: Any) -> list[Row]:
        """All rows of a statement. Values go in as parameters only."""
        return [record.data() for record in self._inner.run(statement, parameters)]

    def stream(self, statement: str, **parameters: Any) -> Iterator[Sequence[Any]]:
        """The rows as they come, as bare values in the order of RETURN: for those that are too many for a list."""
        for record in self._inner.run(statement, parameters):
            yield record.values()

    def row(self, statement: str, **parameters: Any) -> Row | None:
        """The first row; None where there is none."""
        rows = self.rows(statement, **parameters)
        return rows[0] if rows else None

    def run(self, statement: str, **parameters: Any) -> None:
        """A statement whose rows do not matter."""
        self._inner.run(statement, parameters).consume()

    def run_batches(self, statement: str, rows: Sequence[Any], **parameters: Any) -> None:
        """A statement that begins with UNWIND $rows, in batches. Rows are sorted by the caller, so that writers that
        meet without the corpus' lock still meet in one order.
        """
        for batch in batches(rows):
            self.run(statement, rows=batch, **parameters)
