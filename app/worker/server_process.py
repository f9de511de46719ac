"""One of many workers over a record that they share, on this host or others.

The record is the queue. The bell only saves time: a worker that is idle and finds work in the record does it, whether
or not anybody rang, so a broker that is away, or that forgot its messages, costs some seconds.
"""

import logging
import os
import signal
import threading
import time
from collections.abc import Collection, Sequence

from celery import signals

from app.broker.notifier import Bell
from app.container import Container
from app.worker.outages import Outages
from app.worker.process import FAREWELL_SECONDS, Process
from core.errors import HopweaveError

__all__ = ["ServerProcess", "next_turn"]

_FIRST_LOOK_SECONDS = 0.5

_log = logging.getLogger("hopweave.worker")


class ServerProcess(Process):
    """Takes the corpora that wait in turn, and has others woken as long as there is more than it does itself."""

    def __init__(self, container: Container) -> None:
        super().__init__(container)
        self._bell = Bell(container.settings)
        self._last = ""
        self._begun = threading.Event()
        self._outages = Outages(_log)

    def prepare(self) -> None:
        signal.signal(signal.SIGTERM, self._told_early)
        signals.worker_shutting_down.connect(self._told_to_stop, weak=False)
        _log.info("worker process %d is ready", os.getpid())

    def answer(self, corpus_id: str) -> None:
        """What is named is done first, unless it was the last and others wait; then the others, until one has more."""
        if not isinstance(corpus_id, str):  # somebody else's message in our queue
            raise TypeError(f"the name of a corpus is no {type(corpus_id).__name__}")
        with self._working:
            waiting = self._waiting() if corpus_id == self._last else []
            self._go_round(next_turn(waiting, corpus_id) or corpus_id)

    def sweep(self) -> None:
        """Idle: look for work now and then, and do it. Busy: look more often, for others who may be idle."""
        try:
            while not self._stopping.is_set():
                if self._begun.is_set():
                    self._begun.clear()
                    self._look_after_others()
                self._look_for_work()
                self._begun.wait(self._settings.worker.sweep_seconds)
        except BaseException:  # noqa: BLE001 - without this thread a broker that is away would be the end of all work
            _log.exception("the search for work broke; the process ends, to be replaced")
            os._exit(1)

    def leave(self) -> None:
        os.kill(os.getpid(), signal.SIGTERM)  # Celery's warm shutdown, which hands back the message too
        time.sleep(FAREWELL_SECONDS)
        _log.warning("still busy after %d s; what was claimed is free when its lease runs out", FAREWELL_SECONDS)
        os._exit(1)

    def finish(self) -> None:
        super().finish()
        self._working.acquire(timeout=FAREWELL_SECONDS)  # the sweeper may be at work
        self._bell.hang_up()

    def _told_early(self, *_: object) -> None:
        """Celery sees to the signal only once it runs, and work that nobody rang for may have begun before."""
        self._stopping.set()
        threading.Thread(target=self._depart, name="departure", daemon=True).start()

    def _depart(self) -> None:
        is_idle = self._working.acquire(timeout=FAREWELL_SECONDS)  # what is worked on is handed back
        os._exit(0 if is_idle else 1)

    def _told_to_stop(self, **_: object) -> None:
        """Called where a signal is handled: sets what this thread waits for nowhere else."""
        self._stopping.set()

    def _go_round(self, corpus_id: str | None) -> None:
        """Work on corpora that wait, one after the other, until one has more than a shift takes."""
        self._begun.set()
        tried: set[str] = set()
        while corpus_id and not self._stopping.is_set():
            self._last = corpus_id
            tried.add(corpus_id)
            more = self.work(corpus_id)
            waiting = self._waiting()
            if more:
                self._ring(next_turn(waiting, corpus_id) or corpus_id)
                return
            corpus_id = next_turn(waiting, corpus_id, leaving_out=tried)

    def _look_for_work(self) -> None:
        waiting = self._waiting()
        if not waiting or not self._working.acquire(blocking=False):
            return
        try:
            self._ring(next_turn(waiting, self._last))  # for another one, who may be idle too
            self._go_round(next_turn(waiting, self._last))
        finally:
            self._begun.clear()  # by us; whoever waits for the lock has not begun yet
            self._working.release()

    def _look_after_others(self) -> None:
        """While this worker is busy: wake another as long as more waits, ever less often."""
        pause = min(_FIRST_LOOK_SECONDS, self._settings.worker.sweep_seconds)
        while self._working.locked() and not self._stopping.wait(pause):
            pause = min(2 * pause, self._settings.worker.sweep_seconds)
            if self._may_somebody_be_idle():
                self._ring(next_turn(self._waiting(), self._last))

    def _waiting(self) -> list[str]:
        """None where the record is away: what is there is found later."""
        try:
            waiting = self.waiting()
        except HopweaveError as error:
            self._outages.began("record", error)
            return []
        self._outages.ended("record")
        return waiting

    def _ring(self, corpus_id: str | None) -> None:
        if corpus_id is None:
            return
        try:
            self._bell.ring(corpus_id)
        except HopweaveError as error:
            self._outages.began("broker", error)
        else:
            self._outages.ended("broker")

    def _may_somebody_be_idle(self) -> bool:
        try:
            return self._bell.is_silent()
        except HopweaveError as error:
            self._outages.began("broker", error)
            return False


def next_turn(waiting: Sequence[str], after: str, *, leaving_out: Collection[str] = ()) -> str | None:
    """Whose turn it is after one that was worked on: the next by id, around; itself last."""
    left = sorted(set(waiting) - set(leaving_out))
    return next((one for one in left if one > after), left[0] if left else None)
