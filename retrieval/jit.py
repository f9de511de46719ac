"""Loops over plain arrays, compiled by numba when they first run."""

import threading
from collections.abc import Callable
from typing import Any

__all__ = ["JitFunction"]


class JitFunction:
    """`function` compiled for the signature that `signature(numba.types)` gives; calling this object returns it.

    Threads that come at once wait for one compilation, whose result is cached on disk. The compiled function releases
    the GIL.
    """

    def __init__(self, function: Callable[..., Any], signature: Callable[[Any], Any]) -> None:
        self._function = function
        self._signature = signature
        self._compiled: Callable[..., Any] | None = None
        self._compiling = threading.Lock()

    def __call__(self) -> Callable[..., Any]:
        if self._compiled is not None:
            return self._compiled
        with self._compiling:
            if self._compiled is None:
                self._compiled = self._compile()
            return self._compiled

    def _compile(self) -> Callable[..., Any]:
        from numba import njit, types  # heavy: only who calls pays for it

        signature = self._signature(types)
        try:
            compiled: Callable[..., Any] = njit(signature, cache=True, nogil=True)(self._function)
        except RuntimeError:  # numba finds no folder that it may write its cache to: an install that is read only
            compiled = njit(signature, nogil=True)(self._function)
        return compiled
