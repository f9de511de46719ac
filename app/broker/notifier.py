"""The doorbell: a Celery message that names a corpus and nothing else.

The record is the queue, so a message that is lost, repeated, late or reordered changes nothing.
"""

import asyncio
import logging
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from app.broker.broker import broker_answer, connect, make_celery, recreate_broker, waiting_on
from app.broker.client import translated
from core.errors import HopweaveError, InvalidSettings, Unavailable
from core.settings import Settings

__all__ = ["TASK", "Bell", "broker_answer", "make_celery", "recreate_broker"]

TASK = "hopweave.work"
_SOON_SECONDS = 0.25
_AWAY_SECONDS = 2.0

_log = logging.getLogger("hopweave.app")


class Bell:
    """Rings for a corpus. Made lazily: importing Celery takes longer than most commands.

    On servers a message is sent only where none waits to be taken: as long as one does, nobody is idle, and whoever
    takes it sees in the record what else there is to do. So ten thousand uploads are not ten thousand messages.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._celery: Any = None
        self._line: Any = None
        self._using_line = threading.Lock()
        self._ringer = ThreadPoolExecutor(max_workers=1, thread_name_prefix="bell")
        self._not_before = 0.0

    def ring(self, corpus_id: str) -> None:
        """Tell some worker that there is work; raises `Unavailable` where the broker cannot be reached."""
        if self._settings.on_servers:
            self._ring_if_silent(corpus_id)
            return
        from kombu.exceptions import OperationalError

        if self._celery is None:
            self._celery = make_celery(self._settings)
        try:
            self._celery.send_task(TASK, args=[corpus_id])
        except (OperationalError, OSError) as error:
            raise Unavailable(f"the broker cannot be reached: {error}; the work is queued and will be found") from error

    async def ring_soon(self, corpus_id: str) -> None:
        """Ring beside the event loop. A broker that is away is worth a warning: workers look for work themselves.

        On servers it returns after a quarter of a second at most, and the ringing goes on.
        """
        if self._settings.on_servers:
            ringing = asyncio.get_running_loop().run_in_executor(self._ringer, self._try_to_ring, corpus_id)
            await asyncio.wait({ringing}, timeout=_SOON_SECONDS)
            return
        try:
            await asyncio.to_thread(self.ring, corpus_id)
        except Unavailable as error:
            _log.warning("%s", error)

    def is_silent(self) -> bool:
        """Whether no message waits to be taken, so that somebody may be idle. Raises `Unavailable`."""
        with self._using_line:
            return bool(self._on_line(lambda: waiting_on(self._line)) == 0)

    async def close(self) -> None:
        """Close the line, if there is one; whoever rings again opens another."""
        await asyncio.to_thread(self.hang_up)

    def hang_up(self) -> None:
        """The same, blocking for a second or two if the broker does not answer."""
        with self._using_line:
            line, self._line = self._line, None
            if line is not None:
                line.release()

    def _ring_if_silent(self, corpus_id: str) -> None:
        def send() -> None:
            if waiting_on(self._line) == 0:
                self._celery.send_task(TASK, args=[corpus_id], connection=self._line, retry=False)

        with self._using_line:
            self._on_line(send)

    def _on_line(self, do: Any) -> Any:
        """Do it on the open line, or on a new one: a line to a broker that was restarted looks open until used."""
        fresh = self._line is None
        try:
            return self._once(do)
        except Unavailable:
            if fresh:
                raise
        return self._once(do)

    def _once(self, do: Any) -> Any:
        if self._line is None:
            self._celery = self._celery or make_celery(self._settings)
            self._line = connect(self._settings)
        line = self._line
        try:
            with translated(line):
                return do()
        except (Unavailable, InvalidSettings) as error:
            self._line = None
            line.collect(_AWAY_SECONDS)
            raise Unavailable(str(error)) from error

    def _try_to_ring(self, corpus_id: str) -> None:
        """For a moment after a failure nothing is tried: those who hand in meanwhile need not wait for it."""
        if time.monotonic() < self._not_before:
            return
        try:
            self.ring(corpus_id)
        except HopweaveError as error:
            _log.warning("%s", error)
            self._not_before = time.monotonic() + _AWAY_SECONDS
