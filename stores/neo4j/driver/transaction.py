"""Running Cypher: the statements of the files `cypher/*.cypher` by name, and transactions.

A file holds statements under lines `// [name]`. Each ends with a semicolon. A `Transaction` runs them, in batches where
there are many rows, and locks a corpus.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, cached_property
from importlib import resources
from typing import TYPE_CHECKING, Any, TypeVar

from core.errors import Conflict
from core.ids import new_id
from core.record_policy.errors import corpus_missing

if TYPE_CHECKING:
    from neo4j import ManagedTransaction


_HEAD = re.compile(r"^// \[(\w+)\].*$", re.MULTILINE)


@cache
def statements(file: str) -> Mapping[str, str]:
    """Returns the statements of a file by name. Values are always parameters of a statement, never part of its text."""
    parts = _HEAD.split(_read(file))
    return {name: text.strip().removesuffix(";") for name, text in zip(parts[1::2], parts[2::2], strict=True)}


def script(file: str, name: str) -> list[str]:
    """Returns the statements under one name, to be sent to the server one by one."""
    return [statement.strip() for statement in statements(file)[name].split(";") if statement.strip()]


def _read(file: str) -> str:
    return resources.files("stores.neo4j").joinpath("cypher", f"{file}.cypher").read_text(encoding="utf-8")


T = TypeVar("T")
Row = Mapping[str, Any]

_BATCH = 2000
"""The number of rows of one UNWIND. More rows at a time are not faster."""

# The clock is read after the lock, for which a writer may have waited long.
_LOCK = """
MATCH (c:Corpus {id: $id}) SET c.lock = $token
RETURN properties(c) AS corpus, datetime.realtime().epochMillis / 1000.0 AS now
"""
_CLOCK = "RETURN timestamp() / 1000.0 AS now"


def batches(rows: Sequence[T], size: int = _BATCH) -> Iterator[Sequence[T]]:
    """Yields the rows in parts of at most `size`."""
    for start in range(0, len(rows), size):
        yield rows[start : start + size]


def batches_by_size(rows: Sequence[Row], size: int) -> Iterator[list[Row]]:
    """Yields rows in parts whose values of `rows` add up to at most `size`. A larger row is a part of its own."""
    part: list[Row] = []
    total = 0
    for row in rows:
        if part and total + row["rows"] > size:
            yield part
            part, total = [], 0
        part.append(row)
        total += row["rows"]
    if part:
        yield part


@contextmanager
def unique(conflict: Conflict) -> Iterator[None]:
    """Raises `conflict` if a uniqueness constraint refuses a write in the block."""
    from neo4j.exceptions import ConstraintError

    try:
        yield
    except ConstraintError as error:
        raise conflict from error


class Transaction:
    """A transaction of the driver. After a transient error its function is run again from the start."""

    def __init__(self, inner: "ManagedTransaction") -> None:
        self._inner = inner
        self._corpus: Row | None = None

    @property
    def corpus(self) -> Row:
        """The properties that the locked corpus had when `Database.write` locked it."""
        if self._corpus is None:
            raise RuntimeError("this transaction has locked no corpus: use Database.write, or Transaction.lock")
        return self._corpus

    def lock(self, corpus_id: str) -> Row:
        """Locks a corpus until the transaction ends, by a write to its node. Returns the corpus' properties.

        `Database.write` does this. A transaction that needs two corpora locks the corpus in use first, then its shadow
        corpus. Raises `NotFound` if there is no such corpus.
        """
        row = self.row(_LOCK, id=corpus_id, token=new_id())
        if row is None:
            raise corpus_missing(corpus_id)
        self._corpus = row["corpus"]
        self.now = row["now"]
        return self._corpus

    @cached_property
    def now(self) -> float:
        """The server's clock when the transaction read it first, in seconds since 1970."""
        return float(self.rows(_CLOCK)[0]["now"])

    def rows(self, statement: str, **parameters: Any) -> list[Row]:
        """Returns all rows of a statement. Values are passed as parameters only."""
        return [record.data() for record in self._inner.run(statement, parameters)]

    def rows_in_batches(self, statement: str, rows: Sequence[Any], **parameters: Any) -> list[Row]:
        """Returns all rows of a statement that begins with UNWIND $rows, which is run once for each batch."""
        return [row for batch in batches(rows) for row in self.rows(statement, rows=batch, **parameters)]

    def stream(self, statement: str, **parameters: Any) -> Iterator[Sequence[Any]]:
        """Yields the rows as bare values in the order of RETURN, for results that are too large for a list."""
        for record in self._inner.run(statement, parameters):
            yield record.values()

    def row(self, statement: str, **parameters: Any) -> Row | None:
        """Returns the first row, or None if there is no row."""
        rows = self.rows(statement, **parameters)
        return rows[0] if rows else None

    def run(self, statement: str, **parameters: Any) -> None:
        """Runs a statement and ignores its rows."""
        self._inner.run(statement, parameters).consume()

    def run_batches(self, statement: str, rows: Sequence[Any], **parameters: Any) -> None:
        """Runs a statement that begins with UNWIND $rows once for each batch.

        The caller sorts the rows, so that concurrent writers that hold no lock of a corpus lock rows in one order.
        """
        for batch in batches(rows):
            self.run(statement, rows=batch, **parameters)
