"""One of many worker processes that share a record, on this host or on others.

The record is the queue. Messages only save time: an idle worker that finds work in the record does it without one, so a
broker that is unavailable, or that lost its messages, costs some seconds.
"""

import logging
import os
import signal
import threading
import time

from celery import signals

from app.broker.notifier import OutageLog
from app.broker.notifiers import ServerNotifier
from app.container import Container
from app.worker.process import STOP_SECONDS, WorkerProcess
from core.errors import HopweaveError
from core.record_policy.claims import next_corpus

_FIRST_PAUSE_SECONDS = 0.5

_log = logging.getLogger("hopweave.worker")


class ServerWorkerProcess(WorkerProcess):
    """Works on the corpora that have work in turn, and notifies other workers while there is more than it can do."""

    def __init__(self, container: Container) -> None:
        super().__init__(container)
        self._notifier = ServerNotifier(container.settings)
        self._last = ""
        self._is_busy = threading.Event()
        self._outages = OutageLog(_log)

    def prepare(self) -> None:
        signal.signal(signal.SIGTERM, self._handle_early_signal)
        signals.worker_shutting_down.connect(self._handle_shutdown, weak=False)
        _log.info("worker process %d is ready", os.getpid())

    def handle_message(self, corpus_id: str) -> None:
        """Works on the named corpus first, unless it had the last turn and others wait. Then works on the others."""
        if not isinstance(corpus_id, str):  # a message of another program in this queue
            raise TypeError(f"the name of a corpus is no {type(corpus_id).__name__}")
        with self._working:
            waiting = self._try_list_waiting() if corpus_id == self._last else []
            self._work_in_turn(next_corpus(waiting, corpus_id) or corpus_id)

    def poll(self) -> None:
        """While idle, looks for work now and then, and does it. While busy, looks for work for idle workers."""
        try:
            while not self._stopping.is_set():
                if self._is_busy.is_set():
                    self._is_busy.clear()
                    self._notify_while_busy()
                self._look_for_work()
                self._is_busy.wait(self._settings.worker.sweep_seconds)
        except BaseException:  # noqa: BLE001 - without this thread, an outage of the broker would end all work
            _log.exception("the search for work broke; the process ends, to be replaced")
            os._exit(1)

    def exit(self) -> None:
        os.kill(os.getpid(), signal.SIGTERM)  # Celery's warm shutdown, which also gives the message back
        time.sleep(STOP_SECONDS)
        _log.warning("still busy after %d s; what was claimed is free when its lease runs out", STOP_SECONDS)
        os._exit(1)

    def finish(self) -> None:
        super().finish()
        self._working.acquire(timeout=STOP_SECONDS)  # the polling thread may be working
        self._notifier.disconnect()

    def _handle_early_signal(self, *_: object) -> None:
        """Celery handles the signal only while it runs, and polling may start work before that."""
        self._stopping.set()
        threading.Thread(target=self._exit_when_idle, name="exit", daemon=True).start()

    def _exit_when_idle(self) -> None:
        is_idle = self._working.acquire(timeout=STOP_SECONDS)  # a worker that stops releases its claims
        os._exit(0 if is_idle else 1)

    def _handle_shutdown(self, **_: object) -> None:
        """Runs in a signal handler, so it must only set what the main thread never waits for."""
        self._stopping.set()

    def _work_in_turn(self, corpus_id: str | None) -> None:
        """Works on corpora that have work, one after the other, until one has more to do than a run takes."""
        self._is_busy.set()
        tried: set[str] = set()
        while corpus_id and not self._stopping.is_set():
            self._last = corpus_id
            tried.add(corpus_id)
            more = self.work(corpus_id)
            waiting = self._try_list_waiting()
            if more:
                self._try_to_notify(next_corpus(waiting, corpus_id) or corpus_id)
                return
            corpus_id = next_corpus(waiting, corpus_id, leaving_out=tried)

    def _look_for_work(self) -> None:
        waiting = self._try_list_waiting()
        if not waiting or not self._working.acquire(blocking=False):
            return
        try:
            self._try_to_notify(next_corpus(waiting, self._last))  # another worker may be idle too
            self._work_in_turn(next_corpus(waiting, self._last))
        finally:
            self._is_busy.clear()  # set by this thread; a message that waits for the lock has not started yet
            self._working.release()

    def _notify_while_busy(self) -> None:
        """Notifies other workers while this worker is busy and more corpora have work, at growing intervals."""
        pause = min(_FIRST_PAUSE_SECONDS, self._settings.worker.sweep_seconds)
        while self._working.locked() and not self._stopping.wait(pause):
            pause = min(2 * pause, self._settings.worker.sweep_seconds)
            if self._may_others_be_idle():
                self._try_to_notify(next_corpus(self._try_list_waiting(), self._last))

    def _try_list_waiting(self) -> list[str]:
        """Returns nothing if the record is unavailable: its work is found later."""
        try:
            waiting = self.list_waiting()
        except HopweaveError as error:
            self._outages.report_outage("record", error)
            return []
        self._outages.report_recovery("record")
        return waiting

    def _try_to_notify(self, corpus_id: str | None) -> None:
        if corpus_id is None:
            return
        try:
            self._notifier.notify(corpus_id)
        except HopweaveError as error:
            self._outages.report_outage("broker", error)
        else:
            self._outages.report_recovery("broker")

    def _may_others_be_idle(self) -> bool:
        try:
            return self._notifier.is_queue_empty()
        except HopweaveError as error:
            self._outages.report_outage("broker", error)
            return False
