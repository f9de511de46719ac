"""The record's database: running functions in transactions that read, or that write under the lock of a corpus."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from core.errors import Unavailable
from stores.circuit_breaker import CircuitBreaker
from stores.neo4j.driver.connection import ANSWER_SECONDS, Connection
from stores.neo4j.driver.schema import prepare_schema
from stores.neo4j.driver.transaction import Transaction

if TYPE_CHECKING:
    from neo4j import ManagedTransaction, Session


T = TypeVar("T")

_WORK_SECONDS = 15.0
"""How long a write endures a silent server. The work that is lost with a write may have taken long."""


class Neo4jDatabase:
    """The record's database. `read` and `write` run a function of a transaction outside the event loop.

    Neo4j transactions are only read-committed: rows that a transaction has read may change before it ends. Every writer
    first takes the lock of the corpus. This lock keeps claims exclusive and writers free of deadlocks.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._breaker = CircuitBreaker(lambda: prepare_schema(connection))

    async def read(self, work: Callable[[Transaction], T]) -> T:
        return await asyncio.to_thread(self.read_now, work)

    async def write(self, corpus_id: str, work: Callable[[Transaction], T]) -> T:
        """Runs `work` under the lock of a corpus. An exception rolls the transaction back.

        Raises `NotFound` if there is no such corpus.
        """
        return await asyncio.to_thread(self.write_now, corpus_id, work)

    async def write_unlocked(self, work: Callable[[Transaction], T]) -> T:
        """Runs `work` without a lock: it creates a corpus (a constraint keeps it unique) or locks a corpus itself."""
        return await asyncio.to_thread(self.write_now, None, work)

    def read_now(self, work: Callable[[Transaction], T]) -> T:
        with self._session(ANSWER_SECONDS) as session:
            return session.execute_read(lambda inner: work(Transaction(inner)))

    def write_now(self, corpus_id: str | None, work: Callable[[Transaction], T]) -> T:
        with self._session(_WORK_SECONDS) as session:
            return session.execute_write(lambda inner: work(_locked(inner, corpus_id)))

    def check(self) -> None:
        """Checks the server and the database, and brings the schema up to date: once per process and after each outage.

        Raises `InvalidSettings`, before anything is written, if the server is too old or the database belongs to
        another application.
        """
        self._breaker.check()

    @contextmanager
    def _session(self, patience: float) -> Iterator["Session"]:
        self.check()
        try:
            with self._connection.session(patience) as session:
                yield session
        except Unavailable:
            self._breaker.open()
            raise


def _locked(inner: "ManagedTransaction", corpus_id: str | None) -> Transaction:
    tx = Transaction(inner)
    if corpus_id is not None:
        tx.lock(corpus_id)
    return tx


class Neo4jPort:
    """A port of the record over its database."""

    def __init__(self, database: Neo4jDatabase) -> None:
        self._database = database
