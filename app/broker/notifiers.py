"""The notifiers: of an embedded installation, whose messages are files in the data folder, and of an installation on
servers, whose messages go over one connection to Redis or RabbitMQ.
"""

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from app.broker.broker import connect, count_messages, make_celery, translate_errors
from app.broker.notifier import TASK
from core.errors import HopweaveError, InvalidSettings, Unavailable
from core.settings import Settings

_log = logging.getLogger("hopweave.app")


class FolderNotifier:
    """Writes a message for each call."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._celery: Any = None

    def notify(self, corpus_id: str) -> None:
        from kombu.exceptions import OperationalError

        if self._celery is None:
            self._celery = make_celery(self._settings)
        try:
            self._celery.send_task(TASK, args=[corpus_id])
        except (OperationalError, OSError) as error:
            raise Unavailable(f"the broker cannot be reached: {error}; the work is queued and will be found") from error

    async def notify_soon(self, corpus_id: str) -> None:
        try:
            await asyncio.to_thread(self.notify, corpus_id)
        except Unavailable as error:
            _log.warning("%s", error)

    async def close(self) -> None:
        """Does nothing: there is no connection."""


_WAIT_SECONDS = 0.25
_PAUSE_SECONDS = 2.0


T = TypeVar("T")


class ServerNotifier:
    """Sends a message only if none waits in the queue.

    While one waits, no worker is idle, and the worker that takes it finds all other work in the record. So ten thousand
    uploads do not send ten thousand messages.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._celery: Any = None
        self._connection: Any = None
        self._lock = threading.Lock()
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="notifier")
        self._not_before = 0.0

    def notify(self, corpus_id: str) -> None:
        def send() -> None:
            if count_messages(self._connection) == 0:
                self._celery.send_task(TASK, args=[corpus_id], connection=self._connection, retry=False)

        with self._lock:
            self._use_connection(send)

    async def notify_soon(self, corpus_id: str) -> None:
        """Returns after a quarter of a second at most, and continues in a thread."""
        notifying = asyncio.get_running_loop().run_in_executor(self._executor, self._try_to_notify, corpus_id)
        await asyncio.wait({notifying}, timeout=_WAIT_SECONDS)

    def is_queue_empty(self) -> bool:
        """Whether no message waits to be taken, so that a worker may be idle. Raises `Unavailable`."""
        with self._lock:
            return self._use_connection(lambda: count_messages(self._connection)) == 0

    async def close(self) -> None:
        await asyncio.to_thread(self.disconnect)

    def disconnect(self) -> None:
        """Does the same as `close`. Blocks for a second or two if the broker does not answer."""
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None:
                connection.release()

    def _use_connection(self, do: Callable[[], T]) -> T:
        """Calls `do` with the open connection, or else with a new connection.

        A connection to a broker that was restarted looks open until it is used, so `do` is tried again with a new
        connection.
        """
        is_new = self._connection is None
        try:
            return self._try_once(do)
        except Unavailable:
            if is_new:
                raise
        return self._try_once(do)

    def _try_once(self, do: Callable[[], T]) -> T:
        if self._connection is None:
            self._celery = self._celery or make_celery(self._settings)
            self._connection = connect(self._settings)
        connection = self._connection
        try:
            with translate_errors(connection):
                return do()
        except (Unavailable, InvalidSettings) as error:
            self._connection = None
            connection.collect(_PAUSE_SECONDS)
            raise Unavailable(str(error)) from error

    def _try_to_notify(self, corpus_id: str) -> None:
        """Logs a failure, and tries nothing for a moment after it, so that other submissions need not wait."""
        if time.monotonic() < self._not_before:
            return
        try:
            self.notify(corpus_id)
        except HopweaveError as error:
            _log.warning("%s", error)
            self._not_before = time.monotonic() + _PAUSE_SECONDS
