"""Work in threads: `compute` for work that keeps a core busy, and calls whose large results are freed soon."""

import asyncio
import contextvars
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

from core.execution.processes import count_cores

P = ParamSpec("P")
T = TypeVar("T")

_FEWEST = 2
"""Threads on one core, so that long work does not keep short work waiting."""


class _Pool:
    """The threads of this process, started when they are first needed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._threads: ThreadPoolExecutor | None = None

    def get(self) -> ThreadPoolExecutor:
        with self._lock:
            if self._threads is None:
                self._threads = ThreadPoolExecutor(max(_FEWEST, count_cores()), thread_name_prefix="compute")
            return self._threads

    def forget(self) -> None:
        """Leaves the threads to the parent: a forked process has none of them."""
        self._lock = threading.Lock()
        self._threads = None


_pool = _Pool()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.forget)


async def compute(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Returns the result of `work`, with the context variables of the caller. If the task is cancelled, work that has
    not begun is dropped.
    """
    context = contextvars.copy_context()
    return await asyncio.get_running_loop().run_in_executor(
        _pool.get(), partial(context.run, partial(work, *args, **kwargs))
    )


async def call_in_thread(work: Callable[[], T]) -> T:
    """Returns the result of `work`, which runs in a thread.

    The future of `asyncio.to_thread` refers to itself and to the result, so the result stays in memory until the
    garbage collector looks at its oldest generation.
    """
    result: list[T] = []
    await asyncio.to_thread(lambda: result.append(work()))
    return result.pop()
