"""What every worker process is: one event loop for its life, a Celery consumer, and a thread that looks for work."""

import asyncio
import gc
import logging
import os
import sys
import threading
from abc import ABC, abstractmethod
from typing import Any

from app.broker.notifier import TASK, make_celery
from app.container import Container
from core.errors import HopweaveError, Unavailable
from core.ids import new_id
from core.settings import Settings
from indexer import Worker, WorkerOptions

__all__ = ["FAREWELL_SECONDS", "Process"]

FAREWELL_SECONDS = 30.0
_SWITCH_SECONDS = 0.001  # a fifth of what is usual: the event loop, which a model waits for, shares with busy threads
_GARBAGE = (20_000, 50, 100)  # a look at all objects takes tenths of a second once the libraries of models are loaded

_log = logging.getLogger("hopweave.worker")


class Process(ABC):
    """One event loop for the worker's life: clients of models belong to one loop."""

    def __init__(self, container: Container) -> None:
        sys.setswitchinterval(_SWITCH_SECONDS)
        gc.set_threshold(*_GARBAGE)
        self._container = container
        self._settings = container.settings
        self._loop = asyncio.new_event_loop()
        self._stopping = threading.Event()
        self._working = threading.Lock()
        self._worker = Worker(
            f"{os.uname().nodename}-{os.getpid()}-{new_id()[:8]}",
            container.indexing,
            _options(container.settings),
            is_stopping=self._stopping.is_set,
        )

    def run(self, parent: int | None) -> int:
        """Answer the doorbell until told to stop; returns the exit code."""
        self.prepare()
        celery = make_celery(self._settings)
        celery.task(self.answer, name=TASK)
        celery.finalize()
        if parent is not None:
            threading.Thread(target=self._watch, args=(parent,), name="parent", daemon=True).start()
        threading.Thread(target=self.sweep, name="sweeper", daemon=True).start()
        worker: Any = celery.Worker(
            pool_cls="solo",
            concurrency=1,
            loglevel="WARNING",
            without_gossip=True,
            without_mingle=True,
            without_heartbeat=True,
            quiet=True,
        )
        worker.start()
        self.finish()
        self._loop.run_until_complete(self._container.close())
        return int(worker.exitcode or 0)

    @abstractmethod
    def prepare(self) -> None:
        """What is done before the first ring is heard."""

    @abstractmethod
    def answer(self, corpus_id: str) -> None:
        """The task."""

    @abstractmethod
    def sweep(self) -> None:
        """Look for work that no message told of, until the end."""

    @abstractmethod
    def leave(self) -> None:
        """The parent is gone: end the process, in peace if that is soon."""

    def finish(self) -> None:
        """Celery has ended: nothing new is begun."""
        self._stopping.set()

    def work(self, corpus_id: str) -> bool:
        """A shift on the corpus; returns whether there is more to do. What goes wrong is logged, and waits."""
        try:
            more = self._loop.run_until_complete(self._worker.work(corpus_id))
            self._loop.run_until_complete(self._container.forget_removed(corpus_id))
        except Unavailable as error:
            _log.warning("corpus %s waits: %s", corpus_id, error)
            return False
        except HopweaveError:
            _log.exception("corpus %s", corpus_id)
            return False
        return more

    def waiting(self) -> list[str]:
        """Ids of the corpora that wait, from any thread."""
        return asyncio.run(self._container.record.maintenance.list_corpora_with_work())

    def _watch(self, parent: int) -> None:
        os.read(parent, 1)  # nothing is ever written: this returns when the other end closes
        _log.info("the parent is gone; finishing")
        self._stopping.set()
        self.leave()


def _options(settings: Settings) -> WorkerOptions:
    options = settings.worker
    return WorkerOptions(
        lease_seconds=options.lease_seconds,
        renew_seconds=options.renew_seconds,
        batch_bytes=options.batch_bytes,
        task_seconds=options.task_seconds,
        retry_seconds=60 * options.retry_minutes,
    )
