"""The one worker process of a data folder. It holds the lock of the folder.

After a run, the snapshot files of large corpora are written, so that the first search finds them.
"""

import asyncio
import logging
import os
import queue
import threading

from app.broker.broker import delete_messages
from app.container import Container
from app.supervision.folder_lock import FolderLock
from app.telemetry.opentelemetry import flush_traces
from app.worker.process import STOP_SECONDS, WorkerProcess
from core.errors import HopweaveError, Unavailable
from core.record_policy.claims import next_corpus
from core.telemetry.metrics import LEASES_EXPIRED
from retrieval import SnapshotCache

_log = logging.getLogger("hopweave.worker")


class Preparation:
    """Prepares one corpus after the other, in a thread that ends with its process, while the worker goes on."""

    def __init__(self, snapshots: SnapshotCache) -> None:
        self._snapshots = snapshots
        self._waiting: queue.SimpleQueue[str] = queue.SimpleQueue()
        threading.Thread(target=self._prepare_all, name="preparation", daemon=True).start()

    def add(self, corpus_id: str) -> None:
        self._waiting.put(corpus_id)

    def _prepare_all(self) -> None:
        while True:
            corpus_id = self._waiting.get()
            try:
                asyncio.run(self._snapshots.prepare(corpus_id))
            except HopweaveError as error:  # a search builds the snapshot itself
                _log.info("the snapshot of corpus %s is not written ahead: %s", corpus_id, error)


class EmbeddedWorkerProcess(WorkerProcess):
    """No other worker exists, so it expires all older leases, and notifies itself of each corpus that has work."""

    def __init__(self, container: Container, lock: FolderLock) -> None:
        super().__init__(container)
        self._lock = lock
        self._preparation = Preparation(container.snapshots)
        self._last = ""

    def prepare(self) -> None:
        expired = self._loop.run_until_complete(self._container.record.maintenance.expire_leases())
        if expired:
            LEASES_EXPIRED.record(expired)
            _log.info("took over %d revisions from a worker that is gone", expired)
        delete_messages(self._settings)

    def handle_message(self, corpus_id: str) -> None:
        """Makes a run on the corpus whose turn it is, and sends another message if there is more to do.

        This is the named corpus only if no other corpus waits: one corpus may have sent any number of messages.
        """
        with self._working:
            if self._stopping.is_set():
                return
            try:
                corpus_id = self._last = next_corpus(self.list_waiting(), self._last) or corpus_id
                if self.work(corpus_id):
                    self._container.notifier.notify(corpus_id)
            except Unavailable as error:
                _log.warning("corpus %s waits: %s", corpus_id, error)

    async def end_run(self, corpus_id: str, more: bool) -> None:
        await super().end_run(corpus_id, more)
        if not more:
            self._preparation.add(corpus_id)

    def report_waiting(self, reason: str) -> None:
        super().report_waiting(reason)
        self._lock.report_waiting(reason)

    def poll(self) -> None:
        """Sends messages for corpora that have work. So a lost message costs some seconds, and never work."""
        notifier = self._container.composition.make_notifier()  # of its own: this is another thread
        while not self._stopping.is_set():
            try:
                for corpus_id in self.list_waiting():
                    notifier.notify(corpus_id)
            except Unavailable as error:
                _log.warning("cannot look for work: %s", error)
            self._stopping.wait(self._settings.worker.sweep_seconds)

    def exit(self) -> None:
        if self._working.acquire(timeout=STOP_SECONDS):
            asyncio.run(self._container.close())
            flush_traces()
            os._exit(0)  # nothing is being written; Celery's own warm shutdown takes seconds to find that out
        _log.warning("still busy after %d s; the work stays queued", STOP_SECONDS)
        os._exit(1)
