"""Shows what a process does that seems to hang: on SIGUSR2 it writes the stack of each thread and task."""

import asyncio
import faulthandler
import os
import signal
import sys
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime
from types import FrameType
from typing import Any

__all__ = ["write_stacks_on_signal"]

_NEXT = ("cr_await", "gi_yieldfrom", "ag_await")
_FRAMES = ("cr_frame", "gi_frame", "ag_frame")
_WRAPPED = "_work"
"""The attribute in which an awaitable of ours keeps the coroutine that it awaits."""


def write_stacks_on_signal() -> None:
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
