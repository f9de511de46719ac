"""Work in a thread that ends soon after its search is cancelled. A thread cannot be stopped from outside, so long loops
read a flag: open this module to make another loop stop.
"""

import asyncio
from collections.abc import Callable
from contextvars import ContextVar
from typing import ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from core.execution.threads import compute

P = ParamSpec("P")
T = TypeVar("T")

_FLAG: ContextVar[NDArray[np.uint8] | None] = ContextVar("stop flag of a search", default=None)


class Interrupted(Exception):
    """The search that the work belongs to was cancelled. Nobody waits for the result."""


async def run_interruptibly(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Returns the result of `work`, which runs in a thread.

    If the task is cancelled, work that has not begun is dropped, and work that runs finds `stop_flag` set.
    """
    flag = np.zeros(1, np.uint8)
    outer = _FLAG.set(flag)
    try:
        return await compute(work, *args, **kwargs)
    except asyncio.CancelledError:
        flag[0] = 1
        raise
    finally:
        _FLAG.reset(outer)


def stop_flag() -> NDArray[np.uint8]:
    """Returns an array of one number, which is not 0 as soon as the search of this thread is cancelled.

    Compiled loops take it as an argument. Outside of `run_interruptibly` it stays 0.
    """
    flag = _FLAG.get()
    return np.zeros(1, np.uint8) if flag is None else flag


def check_interrupted() -> None:
    """Raises `Interrupted` if the search of this thread is cancelled."""
    flag = _FLAG.get()
    if flag is not None and flag[0]:
        raise Interrupted
