"""The one worker of a data folder, whose lock it holds."""

import asyncio
import logging
import os

from app.broker.notifier import Bell, recreate_broker
from app.worker.process import FAREWELL_SECONDS, Process
from core.errors import Unavailable

__all__ = ["EmbeddedProcess"]

_log = logging.getLogger("hopweave.worker")


class EmbeddedProcess(Process):
    """Nobody else works here, so older leases are dead, and each corpus that waits is rung for."""

    def prepare(self) -> None:
        expired = self._loop.run_until_complete(self._container.record.maintenance.expire_leases())
        if expired:
            _log.info("took over %d revisions from a worker that is gone", expired)
        recreate_broker(self._settings)

    def answer(self, corpus_id: str) -> None:
        """Work on the corpus for a while, and ring again if there is more."""
        with self._working:
            if self._stopping.is_set() or not self.work(corpus_id):
                return
            try:
                self._container.bell.ring(corpus_id)
            except Unavailable as error:
                _log.warning("corpus %s waits: %s", corpus_id, error)

    def sweep(self) -> None:
        """Ring for what is queued, expired or to be removed: a lost message costs some seconds, never work."""
        bell = Bell(self._settings)
        while not self._stopping.is_set():
            try:
                for corpus_id in self.waiting():
                    bell.ring(corpus_id)
            except Unavailable as error:
                _log.warning("cannot look for work: %s", error)
            self._stopping.wait(self._settings.worker.sweep_seconds)

    def leave(self) -> None:
        if self._working.acquire(timeout=FAREWELL_SECONDS):
            asyncio.run(self._container.close())
            os._exit(0)  # nothing is being written; Celery's own warm shutdown takes seconds to find that out
        _log.warning("still busy after %d s; the work stays queued", FAREWELL_SECONDS)
        os._exit(1)
