"""One state of the record's file, for reading that takes many steps."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TypeVar

from core.errors import Unavailable
from stores.sqlite.damage import FAULTS, is_damage

__all__ = ["INTERRUPT_SECONDS", "Snapshot"]

T = TypeVar("T")

INTERRUPT_SECONDS = 0.05
"""A statement is interrupted again after this time: its thread may have been between two statements."""


class Snapshot:
    """A connection in a read transaction, for one step at a time."""

    def __init__(self, connection: sqlite3.Connection, in_use: Callable[[], AbstractContextManager[None]]) -> None:
        """`in_use` is entered for each step, and raises `Unavailable` if the database is closed."""
        self._connection = connection
        self._in_use = in_use
        self._stepping = threading.Lock()
        self._ended = False

    async def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Runs one step off the event loop. Its thread goes on if the task that awaits it is cancelled."""
        return await asyncio.to_thread(self._run, work)

    def end(self) -> sqlite3.Connection:
        """Refuses further steps, waits for the one that runs, and returns the connection, which may be closed then."""
        self._ended = True
        while not self._stepping.acquire(timeout=INTERRUPT_SECONDS):
            self._connection.interrupt()
        self._stepping.release()
        return self._connection

    def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        with self._in_use(), self._stepping:
            if self._ended:
                raise Unavailable("the snapshot of the record has ended")
            try:
                return work(self._connection)
            except FAULTS as error:
                if not (is_damage(error) or isinstance(error, sqlite3.OperationalError)):
                    raise
                raise Unavailable(f"the record could not be read to the end: {error}") from error
