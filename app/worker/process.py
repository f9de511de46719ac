"""The part that all worker processes share: an event loop, a Celery consumer, and a thread that looks for work."""

import asyncio
import logging
import os
import threading
import time
from abc import ABC, abstractmethod
from typing import Any

from celery import signals

from app.broker.broker import make_celery
from app.broker.notifier import TASK
from app.container import Container
from core.errors import HopweaveError, Unavailable
from core.execution.processes import favour_event_loop
from core.ids import new_id
from core.settings import WorkerSettings
from indexer import DocumentLimits, Worker, WorkerOptions

STOP_SECONDS = 30.0
_PRUNE_SECONDS = 60.0  # between two rounds of housekeeping that no work causes

_log = logging.getLogger("hopweave.worker")


class WorkerProcess(ABC):
    """Has one event loop for its whole life: clients of models belong to one loop."""

    def __init__(self, container: Container) -> None:
        favour_event_loop()
        self._container = container
        self._settings = container.settings
        self._loop = asyncio.new_event_loop()
        self._stopping = threading.Event()
        self._working = threading.Lock()
        self._pruned_at = -_PRUNE_SECONDS
        self._worker = Worker(
            f"{os.uname().nodename}-{os.getpid()}-{new_id()[:8]}",
            container.indexing,
            _make_options(container.settings.worker),
            is_stopping=self._stopping.is_set,
            report_waiting=self.report_waiting,
            report_end=self.end_run,
            report_failure=_log_failure,
        )
        self._reported = ""

    def run(self, parent: int | None) -> int:
        """Handles messages until it is stopped. Returns the exit code. `parent` is a pipe that its end closes."""
        self.prepare()
        celery = make_celery(self._settings)
        celery.conf.worker_consumer = "app.worker.consumer:PatientConsumer"
        celery.task(self.handle_message, name=TASK)
        celery.finalize()
        signals.setup_logging.connect(_keep_logs, weak=False)
        if parent is not None:
            threading.Thread(target=self._wait_for_parent, args=(parent,), name="parent", daemon=True).start()
        threading.Thread(target=self.poll, name="poll", daemon=True).start()
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
        """Called before the first message is received."""

    @abstractmethod
    def handle_message(self, corpus_id: str) -> None:
        """The Celery task."""

    @abstractmethod
    def poll(self) -> None:
        """Looks for work without messages until the process ends. Runs in a thread of its own."""

    @abstractmethod
    def exit(self) -> None:
        """Ends the process after its parent has ended. Finishes current work if that is possible soon."""

    def report_waiting(self, reason: str) -> None:
        """Logs the reason why work waits, once, while the worker tries again; '' when work goes on."""
        if reason and reason != self._reported:
            self._reported = reason
            _log.warning("work waits: %s", reason)

    def finish(self) -> None:
        """Called when Celery has ended. No new work is started."""
        self._stopping.set()

    def work(self, corpus_id: str) -> bool:
        """Makes one run on the corpus. Returns whether there is more to do. Logs errors; the work stays queued."""
        try:
            more = self._loop.run_until_complete(self._worker.work(corpus_id))
        except Unavailable as error:
            _log.warning("corpus %s waits: %s", corpus_id, error)
            return False
        except HopweaveError:
            _log.exception("corpus %s", corpus_id)
            return False
        return more

    async def end_run(self, corpus_id: str, _more: bool) -> None:
        """Called after each run, also if runs overlap, with whether there is more to do."""
        await self._container.delete_cached_answers(corpus_id)

    def list_waiting(self) -> list[str]:
        """Returns the ids of the corpora that have work. May be called from any thread.

        Now and then it also prunes the record: without work nothing else closes the jobs whose makers have died.
        """
        maintenance = self._container.record.maintenance
        if time.monotonic() - self._pruned_at >= _PRUNE_SECONDS:
            asyncio.run(maintenance.prune())
            self._pruned_at = time.monotonic()
        return asyncio.run(maintenance.list_corpora_with_work())

    def _wait_for_parent(self, parent: int) -> None:
        os.read(parent, 1)  # nothing is ever written: it returns when the other end is closed
        _log.info("the process that started this worker has ended, so this worker ends after what it is writing")
        self._stopping.set()
        self.exit()


def _log_failure(corpus_id: str, error: HopweaveError) -> None:
    _log.warning("corpus %s waits: %s", corpus_id, error)


def _keep_logs(**_: object) -> None:
    """Leaves the logs as they are: Celery would replace the handlers of this process."""


def _make_options(settings: WorkerSettings) -> WorkerOptions:
    return WorkerOptions(
        lease_seconds=settings.lease_seconds,
        renew_seconds=settings.renew_seconds,
        batch_bytes=settings.batch_bytes,
        task_seconds=settings.task_seconds,
        retry_seconds=60 * settings.retry_minutes,
        document=DocumentLimits(
            content=int(1_000_000 * settings.document_mb),
            chunks=settings.document_passages,
            seconds=settings.document_seconds,
        ),
    )
