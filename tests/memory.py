"""The memory that work takes, on a process whose other threads allocate meanwhile."""

import gc
import math
import time
import tracemalloc
from collections.abc import Callable

__all__ = ["find_peak"]

_TRIES = 10
_PAUSE_SECONDS = 1.0


def find_peak(work: Callable[[], object], below: float = math.inf) -> int:
    """Returns the most bytes that Python holds while `work` runs: the first such number below `below`, or the least.

    `tracemalloc` counts what all threads allocate. A thread that another test has left may import or compile modules
    just now: it makes the number larger, never smaller, so `work` is done again, a little later.
    """
    peak = _measure(work)
    for _ in range(_TRIES - 1):
        if peak < below:
            break
        time.sleep(_PAUSE_SECONDS)
        peak = min(peak, _measure(work))
    return peak


def _measure(work: Callable[[], object]) -> int:
    gc.collect()
    gc.freeze()  # with many objects of other tests, garbage is collected late
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        gc.unfreeze()
