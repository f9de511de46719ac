"""Logs by structlog: all loggers of the process, as text or JSON, with time, level, request id and fields.

A process that seems to hang shows what it does: on SIGUSR2 it writes the stack of each thread and task.
"""

import asyncio
import faulthandler
import logging
import os
import signal
import sys
import traceback
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from types import FrameType
from typing import Any

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from core.execution.files import try_lock, unlock
from core.settings import LogSettings
from core.telemetry.logs import FIELDS, current_request_id

_NEXT = ("cr_await", "gi_yieldfrom", "ag_await")
_FRAMES = ("cr_frame", "gi_frame", "ag_frame")
_WRAPPED = "_work"
"""The attribute in which an awaitable of ours keeps the coroutine that it awaits."""


def _write_stacks_on_signal() -> None:
    """From now on SIGUSR2 writes to standard error: functions, files and lines, and no value. To be called in the main
    thread.

    Threads are written at once, also while one of them holds the interpreter, innermost call first; then the tasks of
    the event loop of the main thread, as soon as that thread runs Python, outermost call first.
    """
    signal.signal(signal.SIGUSR2, _write_tasks)
    faulthandler.register(signal.SIGUSR2, all_threads=True, chain=True)


def _write_tasks(_signal: int, _frame: FrameType | None) -> None:
    try:
        tasks = asyncio.all_tasks()
    except RuntimeError:  # no event loop runs in this thread
        return
    lines = [f"Tasks of process {os.getpid()}, {datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}; its threads are above.\n"]
    for task in sorted(tasks, key=asyncio.Task.get_name):
        lines.append(f"Task {task.get_name()}:\n")
        lines += traceback.format_list(list(_stack(task.get_coro())))
    sys.stderr.writelines(lines)
    sys.stderr.flush()


def _stack(awaited: Any) -> Iterator[traceback.FrameSummary]:
    """Yields what a task is in, outermost first."""
    while awaited is not None:
        frame = next((found for name in _FRAMES if (found := getattr(awaited, name, None))), None)
        if frame is not None:
            code = frame.f_code
            yield traceback.FrameSummary(code.co_filename, frame.f_lineno, code.co_name)
        following = next((found for name in _NEXT if (found := getattr(awaited, name, None))), None)
        if following is None and frame is not None:
            following = getattr(frame.f_locals.get("self"), _WRAPPED, None)
        awaited = following


_MEGABYTE = 1_000_000
_QUIET = {
    "kombu.connection": logging.ERROR,  # it logs that a broker of files has no host
    "uvicorn.access": logging.WARNING,  # it logs query strings, which may be questions; `api.telemetry` logs requests
    "httpx": logging.WARNING,  # it logs each request
    "httpcore": logging.WARNING,
    "openai": logging.INFO,  # at DEBUG it logs prompts
    "celery": logging.WARNING,
    "mcp": logging.WARNING,  # it logs each request
    "amqp": logging.WARNING,
}


def configure_logs(settings: LogSettings) -> None:
    """Sends all logs of this process to standard error, in the form that the settings choose."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_make_formatter(settings))
    _install(handler, settings)


def log_to_file(settings: LogSettings, path: Path) -> None:
    """Sends all logs of this process to a file that is replaced when it is full, with its standard output and error.

    Several processes may do this for one file.
    """
    handler = _BoundedFile(path, max_bytes=int(settings.file_mb * _MEGABYTE), backups=settings.files)
    handler.setFormatter(_make_formatter(settings))
    _install(handler, settings)


class _BoundedFile(RotatingFileHandler):
    """A rotating file, which is also standard output and error: what libraries write there stays bounded, too.

    Several processes append to it. The process that locks the folder may replace the file; the others then reopen it.
    """

    def __init__(self, path: Path, *, max_bytes: int, backups: int) -> None:
        super().__init__(path, maxBytes=max_bytes, backupCount=backups, encoding="utf-8")
        self._folder = os.open(path.parent, os.O_RDONLY | os.O_CLOEXEC)
        self._redirect()

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._follow()
            if self.shouldRollover(record):
                self._replace(record)
            logging.StreamHandler.emit(self, record)
        except OSError:  # such as a folder that was deleted
            self.handleError(record)

    def _replace(self, record: logging.LogRecord) -> None:
        """Replaces the full file, unless another process does or has done it."""
        if not try_lock(self._folder):  # another replaces it, or was stopped while it did: a line need not wait
            return
        try:
            self._follow()
            if self.shouldRollover(record):
                self.doRollover()
        finally:
            unlock(self._folder)

    def close(self) -> None:
        super().close()
        if self._folder >= 0:
            os.close(self._folder)
            self._folder = -1

    def _open(self) -> TextIOWrapper:
        opened = super()._open()
        os.fchmod(opened.fileno(), 0o600)
        return opened

    def _follow(self) -> None:
        """Opens the file again if another process has replaced it."""
        if self.stream is not None:
            with suppress(FileNotFoundError):  # another process is replacing it
                if os.path.samestat(Path(self.baseFilename).stat(), os.fstat(self.stream.fileno())):
                    return
            self.stream.close()
            self.stream = None
        self.stream = self._open()
        self._redirect()

    def doRollover(self) -> None:  # noqa: N802 - the name of the overridden method
        super().doRollover()
        self._redirect()

    def _redirect(self) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        if self.stream is not None:
            for descriptor in (1, 2):
                os.dup2(self.stream.fileno(), descriptor)


def _install(handler: logging.Handler, settings: LogSettings) -> None:
    if not faulthandler.is_enabled():  # a process that a fault ends, such as SIGBUS, or that hangs tells where it is
        faulthandler.enable()
        _write_stacks_on_signal()
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(settings.level.upper())
    for name, level in _QUIET.items():
        logging.getLogger(name).setLevel(max(level, root.level))


def _make_formatter(settings: LogSettings) -> logging.Formatter:
    last: Processor = _render_text
    if settings.format == "json":
        last = structlog.processors.JSONRenderer(ensure_ascii=False)
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[
            structlog.stdlib.add_log_level,
            structlog.stdlib.add_logger_name,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            _add_fields,
        ],
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.format_exc_info,
            structlog.processors.UnicodeDecoder(),
            last,
        ],
    )


def _add_fields(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """Adds the fields of `log_event`, the process, and the id of the request."""
    record: logging.LogRecord = event["_record"]
    event["pid"] = record.process
    if request_id := current_request_id():
        event["request_id"] = request_id
    event.update(getattr(record, FIELDS, {}))
    return event


_plain = structlog.processors.LogfmtRenderer(bool_as_flag=False)


def _render_text(logger: WrappedLogger, method: str, event: EventDict) -> str:
    """Renders `TIME LEVEL LOGGER MESSAGE name=value …`, in one line but for a traceback."""
    time, level, name = (event.pop(key, "") for key in ("timestamp", "level", "logger"))
    message = str(event.pop("event", "")).replace("\n", "\\n").replace("\r", "\\r")
    traceback = event.pop("exception", "")
    fields = _plain(logger, method, event)
    line = " ".join(filter(None, (str(time), f"{level:<7}", str(name), message, str(fields))))
    return f"{line}\n{traceback}" if traceback else line
