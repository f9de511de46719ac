"""The record's database: reading as it is, writing only under the corpus' lock."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from core.errors import Unavailable
from stores.gate import Gate
from stores.neo4j.driver.connection import ANSWER_SECONDS, Connection
from stores.neo4j.driver.transaction import BATCH, Row, Transaction, batches, unique
from stores.neo4j.schema.schema import found_version, prepare

if TYPE_CHECKING:
    from neo4j import ManagedTransaction, Session

__all__ = ["BATCH", "Database", "Row", "Transaction", "batches", "unique"]

T = TypeVar("T")

_WORK_SECONDS = 15.0
"""How long a write bears a server that is silent: what is lost with it may have taken long."""


class Database:
    """The record's database; `read` and `write` run a function of a transaction off the event loop.

    Neo4j reads are only read-committed, so what a transaction reads it may not find again; the corpus' lock, taken
    first by everyone who writes, is what makes a claim single and keeps writers free of deadlocks.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._gate = Gate(lambda: prepare(connection))

    async def read(self, work: Callable[[Transaction], T]) -> T:
        return await asyncio.to_thread(self.read_now, work)

    async def write(self, corpus_id: str, work: Callable[[Transaction], T]) -> T:
        """Run `work` under the corpus' lock; any exception rolls back. Raises `NotFound` for an unknown corpus."""
        return await asyncio.to_thread(self.write_now, corpus_id, work)

    async def write_unlocked(self, work: Callable[[Transaction], T]) -> T:
        """For what makes a corpus, where a uniqueness constraint judges, or finds out itself which one to lock."""
        return await asyncio.to_thread(self.write_now, None, work)

    def read_now(self, work: Callable[[Transaction], T]) -> T:
        with self._session(ANSWER_SECONDS) as session:
            return session.execute_read(lambda inner: work(Transaction(inner)))

    def write_now(self, corpus_id: str | None, work: Callable[[Transaction], T]) -> T:
        with self._session(_WORK_SECONDS) as session:
            return session.execute_write(lambda inner: work(_locked(inner, corpus_id)))

    def check(self) -> None:
        """Once per process, and after each outage: that the server is one that we know, the database ours or empty, and
        its schema the newest. Raises `InvalidSettings`, before anything is written, where it is not.
        """
        self._gate.enter()

    @contextmanager
    def _session(self, patience: float) -> Iterator["Session"]:
        self.check()
        try:
            with self._connection.session(patience) as session:
                yield session
        except Unavailable:
            self._gate.shut()
            raise

    def found_version(self) -> int | None:
        """The version of the schema that is there; None in an empty database. Writes nothing."""
        return found_version(self._connection)


def _locked(inner: "ManagedTransaction", corpus_id: str | None) -> Transaction:
    tx = Transaction(inner)
    if corpus_id is not None:
        tx.lock(corpus_id)
    return tx
