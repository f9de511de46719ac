"""The worker: a process of its own that answers the doorbell. Started by `app.supervision`, never imported.

`python -P -m app.worker_process [--parent FD]`: FD is the reading end of a pipe that its parent holds open; when it
closes, however the parent ended, the worker finishes what it is writing and ends too.
"""

import argparse
import asyncio
import contextlib
import gc
import logging
import os
import signal
import sys
import threading
import time
import warnings
from typing import Any

from celery.platforms import SecurityWarning

from app.bell import TASK, Bell, make_celery, recreate_broker
from app.container import Container
from app.folder_lock import FolderLock
from core.errors import FolderHeld, HopweaveError, Unavailable
from core.ids import new_id
from core.settings import Settings, read_settings
from indexer import Pace, Worker

__all__ = ["EXIT_HELD"]

EXIT_HELD = 75
_LOCK_PATIENCE_SECONDS = 3.0
_FAREWELL_SECONDS = 30.0
_SWITCH_SECONDS = 0.001  # a fifth of what is usual: the event loop, which a model waits for, shares with busy threads
_GARBAGE = (20_000, 50, 100)  # a look at all objects takes tenths of a second once the libraries of models are loaded

_log = logging.getLogger("hopweave.worker")


def _main() -> int:
    parser = argparse.ArgumentParser(prog="hopweave worker")
    parser.add_argument("--parent", type=int, default=None, help="the pipe whose end means: stop")
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    logging.getLogger("kombu.connection").setLevel(logging.ERROR)  # it misses a host in the filesystem broker's URL
    warnings.filterwarnings("ignore", category=SecurityWarning)  # about root and pickle; messages are JSON only
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Ctrl-C in the terminal is the parent's to handle
    settings = read_settings()
    with contextlib.ExitStack() as stack:
        try:
            _take_lock(stack, settings)
        except FolderHeld as error:
            _log.info("%s", error)
            return EXIT_HELD
        return _Process(settings).run(arguments.parent)


def _take_lock(stack: contextlib.ExitStack, settings: Settings) -> None:
    """Others look at the lock by taking it for a moment, so one refusal is no answer yet."""
    deadline = time.monotonic() + _LOCK_PATIENCE_SECONDS
    while True:
        try:
            stack.enter_context(FolderLock(settings.data_dir))
        except FolderHeld:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
        else:
            return


def _without_cache(settings: Settings) -> Settings:
    """The record keeps what is extracted, and drops it with its document; an answer that could not be used must not be
    given again when its document is retried.
    """
    return settings.model_copy(update={"llm": settings.llm.model_copy(update={"cache": False})})


class _Process:
    """One event loop for the worker's life: clients of models belong to one loop."""

    def __init__(self, settings: Settings) -> None:
        sys.setswitchinterval(_SWITCH_SECONDS)
        gc.set_threshold(*_GARBAGE)
        self._settings = settings
        self._container = Container(_without_cache(settings))
        self._loop = asyncio.new_event_loop()
        self._stopping = threading.Event()
        self._working = threading.Lock()
        pace = settings.worker
        self._worker = Worker(
            f"{os.uname().nodename}-{os.getpid()}-{new_id()[:8]}",
            self._container.indexing,
            Pace(
                lease_seconds=pace.lease_seconds,
                renew_seconds=pace.renew_seconds,
                batch_bytes=pace.batch_bytes,
                task_seconds=pace.task_seconds,
                retry_seconds=60 * pace.retry_minutes,
            ),
            stopping=self._stopping.is_set,
        )

    def run(self, parent: int | None) -> int:
        """Answer the doorbell until told to stop; returns the exit code."""
        expired = self._loop.run_until_complete(self._container.record.work.expire())
        if expired:
            _log.info("took over %d revisions from a worker that is gone", expired)
        recreate_broker(self._settings)
        celery = make_celery(self._settings)
        celery.task(self._answer, name=TASK)
        celery.finalize()
        if parent is not None:
            threading.Thread(target=self._watch, args=(parent,), name="parent", daemon=True).start()
        threading.Thread(target=self._sweep, name="sweeper", daemon=True).start()
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
        self._stopping.set()
        self._loop.run_until_complete(self._container.close())
        return int(worker.exitcode or 0)

    def _answer(self, corpus_id: str) -> None:
        """The task: work on the corpus for a while, and ring again if there is more."""
        with self._working:
            if not self._stopping.is_set():
                self._work(corpus_id)

    def _work(self, corpus_id: str) -> None:
        try:
            more = self._loop.run_until_complete(self._worker.work(corpus_id))
            self._loop.run_until_complete(self._container.forget_removed(corpus_id))
            if more:
                self._container.bell.ring(corpus_id)
        except Unavailable as error:
            _log.warning("corpus %s waits: %s", corpus_id, error)
        except HopweaveError:
            _log.exception("corpus %s", corpus_id)

    def _watch(self, parent: int) -> None:
        os.read(parent, 1)  # nothing is ever written: this returns when the other end closes
        _log.info("the parent is gone; finishing")
        self._stopping.set()
        if self._working.acquire(timeout=_FAREWELL_SECONDS):
            asyncio.run(self._container.close())
            os._exit(0)  # nothing is being written; Celery's own warm shutdown takes seconds to find that out
        _log.warning("still busy after %d s; the work stays queued", _FAREWELL_SECONDS)
        os._exit(1)

    def _sweep(self) -> None:
        """Ring for what is queued, expired or to be removed: a lost message costs some seconds, never work."""
        bell = Bell(self._settings)
        while not self._stopping.is_set():
            try:
                for corpus_id in asyncio.run(self._container.record.work.waiting()):
                    bell.ring(corpus_id)
            except Unavailable as error:
                _log.warning("cannot look for work: %s", error)
            self._stopping.wait(self._settings.worker.sweep_seconds)


if __name__ == "__main__":
    sys.exit(_main())
