"""The entry point of a worker process. `app.supervision` starts it; nothing imports it.

`python -P -m app.worker.worker_process [--parent FD] [--log FILE]`: FD is the reading end of a pipe that its parent
holds open; when it closes, however the parent ended, the worker finishes what it is writing and ends too.
"""

import argparse
import contextlib
import logging
import os
import signal
import sys
import time
import warnings
from pathlib import Path

from celery.platforms import SecurityWarning

from app.container import Container
from app.supervision.folder_lock import FolderLock
from app.supervision.worker_pool import EXIT_SETTINGS
from app.telemetry.logs import configure_logs, log_to_file
from app.telemetry.opentelemetry import start_traces
from app.telemetry.prometheus import start_metrics
from app.worker.embedded import EmbeddedWorkerProcess
from app.worker.servers import ServerWorkerProcess
from core.errors import FolderHeld, InvalidSettings
from core.settings import Settings, read_settings

EXIT_HELD = 75
_LOCK_SECONDS = 3.0

_log = logging.getLogger("hopweave.worker")


def _main() -> int:
    parser = argparse.ArgumentParser(prog="hopweave worker")
    parser.add_argument("--parent", type=int, default=None, help="the pipe whose end means: stop")
    parser.add_argument("--log", type=Path, default=None, help="the file of the log, which is kept within bounds")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore", category=SecurityWarning)  # about root and pickle; all messages are JSON
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent handles a Ctrl-C in the terminal
    settings = read_settings()
    configure_logs(settings.log)
    start_metrics(settings.metrics)
    start_traces("hopweave-worker")
    container = Container(_disable_cache(settings))
    return _RUN[container.composition.worker](container, arguments)


def _run_embedded(container: Container, arguments: argparse.Namespace) -> int:
    os.umask(0o077)  # all that it writes is the data of this user
    with contextlib.ExitStack() as stack:
        try:
            lock = _take_lock(stack, container.settings.data_dir)
        except FolderHeld as error:
            _log.info("%s", error)
            return EXIT_HELD
        if arguments.log is not None:
            log_to_file(container.settings.log, arguments.log)
        return EmbeddedWorkerProcess(container, lock).run(arguments.parent)


def _run_on_servers(container: Container, arguments: argparse.Namespace) -> int:
    try:
        return ServerWorkerProcess(container).run(arguments.parent)
    except InvalidSettings as error:
        _log.error("%s", error)
        return EXIT_SETTINGS


_RUN = {"embedded": _run_embedded, "server": _run_on_servers}


def _take_lock(stack: contextlib.ExitStack, folder: Path) -> FolderLock:
    """Tries for some seconds: other processes test the lock by taking it for a moment. Raises `FolderHeld`."""
    deadline = time.monotonic() + _LOCK_SECONDS
    while True:
        try:
            return stack.enter_context(FolderLock(folder))
        except FolderHeld:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def _disable_cache(settings: Settings) -> Settings:
    """Disables the model cache. The record keeps extractions, and deletes them with their document.

    An answer that could not be used must not be returned again when its document is retried.
    """
    return settings.model_copy(update={"llm": settings.llm.model_copy(update={"cache": False})})


if __name__ == "__main__":
    sys.exit(_main())
