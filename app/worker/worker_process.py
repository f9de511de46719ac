"""The worker: a process of its own that answers the doorbell. Started by its parent, never imported.

`python -P -m app.worker.worker_process [--parent FD]`: FD is the reading end of a pipe that its parent holds open; when
it closes, however the parent ended, the worker finishes what it is writing and ends too.
"""

import argparse
import contextlib
import logging
import signal
import sys
import time
import warnings

from celery.platforms import SecurityWarning

from app.container import Container
from app.worker.child import EXIT_SETTINGS
from app.worker.embedded_process import EmbeddedProcess
from app.worker.folder_lock import FolderLock
from app.worker.server_process import ServerProcess
from core.errors import FolderHeld, InvalidSettings
from core.settings import Settings, read_settings

__all__ = ["EXIT_HELD"]

EXIT_HELD = 75
_LOCK_PATIENCE_SECONDS = 3.0

_log = logging.getLogger("hopweave.worker")


def _main() -> int:
    parser = argparse.ArgumentParser(prog="hopweave worker")
    parser.add_argument("--parent", type=int, default=None, help="the pipe whose end means: stop")
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    logging.getLogger("kombu.connection").setLevel(logging.ERROR)  # it misses a host in the filesystem broker's URL
    warnings.filterwarnings("ignore", category=SecurityWarning)  # about root and pickle; messages are JSON only
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Ctrl-C in the terminal is the parent's to handle
    settings = _without_cache(read_settings())
    with contextlib.ExitStack() as stack:
        if settings.on_servers:
            return _serve(settings, arguments.parent)
        try:
            _take_lock(stack, settings)
        except FolderHeld as error:
            _log.info("%s", error)
            return EXIT_HELD
        return EmbeddedProcess(Container(settings)).run(arguments.parent)


def _serve(settings: Settings, parent: int | None) -> int:
    try:
        return ServerProcess(Container(settings)).run(parent)
    except InvalidSettings as error:
        _log.error("%s", error)
        return EXIT_SETTINGS


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


if __name__ == "__main__":
    sys.exit(_main())
