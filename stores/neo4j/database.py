"""Transactions on the record in Neo4j: reading as it is, writing only under the corpus' lock."""

import asyncio
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from core.errors import InvalidSettings, NotFound
from core.ids import new_id
from stores.neo4j.connection import Connection
from stores.neo4j.migrations import SCHEMA_VERSION, steps_from
from stores.neo4j.statements import script, statements

if TYPE_CHECKING:
    from neo4j import ManagedTransaction

__all__ = ["BATCH", "Database", "Row", "Transaction", "batches"]

T = TypeVar("T")
Row = Mapping[str, Any]

BATCH = 2000
"""Rows of one UNWIND; more at a time does not make it quicker."""

_LOCK = "MATCH (c:Corpus {id: $id}) SET c.lock = $token RETURN c.id"
_CLOCK = "RETURN timestamp() / 1000.0 AS now"


def batches(rows: Sequence[T], size: int = BATCH) -> Iterator[Sequence[T]]:
    for start in range(0, len(rows), size):
        yield rows[start : start + size]


class Transaction:
    """What a function of a transaction works with. It may be run again, from its start, after a passing fault."""

    def __init__(self, inner: "ManagedTransaction") -> None:
        self._inner = inner

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


class Database:
    """The record's database; `read` and `write` run a function of a transaction off the event loop.

    Neo4j reads are only read-committed, so what a transaction reads it may not find again; the corpus' lock, taken
    first by everyone who writes, is what makes a claim single and keeps writers free of deadlocks.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._checking = threading.Lock()
        self._checked = False

    async def read(self, work: Callable[[Transaction], T]) -> T:
        return await asyncio.to_thread(self.read_now, work)

    async def write(self, corpus_id: str, work: Callable[[Transaction], T]) -> T:
        """Run `work` under the corpus' lock; any exception rolls back. Raises `NotFound` for an unknown corpus."""
        return await asyncio.to_thread(self.write_now, corpus_id, work)

    async def write_unlocked(self, work: Callable[[Transaction], T]) -> T:
        """For what belongs to no corpus, or makes one: a uniqueness constraint judges instead of the lock."""
        return await asyncio.to_thread(self.write_now, None, work)

    def read_now(self, work: Callable[[Transaction], T]) -> T:
        self.check()
        with self._connection.session() as session:
            return session.execute_read(lambda inner: work(Transaction(inner)))

    def write_now(self, corpus_id: str | None, work: Callable[[Transaction], T]) -> T:
        self.check()
        with self._connection.session() as session:
            return session.execute_write(lambda inner: work(_locked(inner, corpus_id)))

    def check(self) -> None:
        """Once per process: that the server is one that we know, the database ours or empty, and its schema the newest.

        Raises `InvalidSettings`, before anything is written, where the server or the database is another's.
        """
        with self._checking:
            if not self._checked:
                self._refuse_old(self._connection.server())
                self._prepare()
                self._checked = True

    def found_version(self) -> int | None:
        """The version of the schema that is there; None in an empty database. Writes nothing."""
        self._refuse_old(self._connection.server())
        with self._connection.session() as session:
            version = session.execute_read(_version)
            if version is None:
                self._refuse_foreign(session.execute_read(_foreign))
            return version

    def _prepare(self) -> None:
        version = self.found_version()
        if version == SCHEMA_VERSION:
            return
        if version is not None and steps_from(version, SCHEMA_VERSION) is None:
            raise InvalidSettings(
                f"the record in Neo4j at {self._connection.uri} has schema {version}, and this release reads "
                f"{SCHEMA_VERSION}: use the release that wrote it"
            )
        with self._connection.session() as session:
            for statement in script("schema", "constraints"):
                session.run(statement).consume()
            session.run("CALL db.awaitIndexes(60)").consume()
            session.execute_write(lambda inner: _migrate(Transaction(inner), version))

    def _refuse_old(self, agent: str) -> None:
        """5.26 is the line that is tested; before 5.13, relationships have no uniqueness."""
        numbers = agent.partition("/")[2].split(".")
        try:
            version = int(numbers[0]), int(numbers[1])
        except (ValueError, IndexError):
            version = (0, 0)
        if version < (5, 13):
            raise InvalidSettings(
                f"the server at {self._connection.uri} is {agent}; Hopweave needs Neo4j 5.26 (5.13 or later): "
                "check HOPWEAVE_NEO4J__URI"
            )

    def _refuse_foreign(self, labels: Sequence[str]) -> None:
        if labels:
            shown = ", ".join(labels[:5])
            raise InvalidSettings(
                f"the database in Neo4j at {self._connection.uri} holds another application's data ({shown}): give "
                "Hopweave a database of its own with HOPWEAVE_NEO4J__URI or HOPWEAVE_NEO4J__DATABASE; nothing was "
                "written"
            )


def _locked(inner: "ManagedTransaction", corpus_id: str | None) -> Transaction:
    """The lock is the exclusive one that a write takes on its node; it ends with the transaction."""
    if corpus_id is not None and inner.run(_LOCK, id=corpus_id, token=new_id()).single() is None:
        raise NotFound(f"there is no corpus with the id {corpus_id!r}; it may have been deleted")
    return Transaction(inner)


def _version(inner: "ManagedTransaction") -> int | None:
    row = Transaction(inner).row(statements("schema")["version"])
    return None if row is None else row["version"]


def _foreign(inner: "ManagedTransaction") -> list[str]:
    return sorted(row["label"] for row in Transaction(inner).rows(statements("schema")["foreign"]))


def _migrate(tx: Transaction, version: int | None) -> None:
    for name in steps_from(version, SCHEMA_VERSION) or () if version else ():
        tx.run(statements("migrations")[name])
    tx.run(statements("schema")["claim"], version=SCHEMA_VERSION)
    tx.run(statements("schema")["migrated"], version=SCHEMA_VERSION)
