"""`compute`: few threads, and the caller's context."""

import asyncio
import threading
from contextvars import ContextVar

import pytest

from core.execution.processes import count_cores
from core.execution.threads import compute

_ASKED = ContextVar("asked", default="")


async def test_as_many_run_at_once_as_there_are_cores() -> None:
    cores = max(2, count_cores())
    together = threading.Barrier(cores)
    running, most, lock = 0, 0, threading.Lock()

    def work() -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        together.wait(timeout=60)  # as many as that do run at once, or it raises
        with lock:
            running -= 1

    await asyncio.gather(*(compute(work) for _ in range(5 * cores)))
    assert most == cores


async def test_work_has_the_context_of_its_caller() -> None:
    _ASKED.set("here")
    assert await compute(_ASKED.get) == "here"


async def test_an_error_reaches_the_caller() -> None:
    with pytest.raises(ZeroDivisionError):
        await compute(divmod, 1, 0)


async def test_work_that_has_not_begun_is_dropped_with_its_caller() -> None:
    cores = max(2, count_cores())
    go, done = threading.Event(), list[int]()
    busy = [asyncio.create_task(compute(go.wait, 60)) for _ in range(cores)]
    await asyncio.sleep(0)
    waiting = asyncio.create_task(compute(done.append, 1))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    go.set()
    await asyncio.gather(*busy)
    await compute(int)
    assert done == []
