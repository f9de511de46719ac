"""Functions that numba compiles on first use. Open it when compilation, its cache or its thread safety matters."""

import threading
from collections.abc import Callable
from typing import Any


class JitFunction:
    """A function that is compiled for one signature; calling this object returns the compiled function.

    `signature` is called with `numba.types` and returns the signature. If several threads call at once, one compiles
    and the others wait. The result is cached on disk if numba can write there. The compiled function releases the GIL.
    """

    def __init__(self, function: Callable[..., Any], signature: Callable[[Any], Any]) -> None:
        self._function = function
        self._signature = signature
        self._compiled: Callable[..., Any] | None = None
        self._compiling = threading.Lock()

    @property
    def is_compiled(self) -> bool:
        """Whether a call would not wait for the compiler."""
        return self._compiled is not None

    def __call__(self) -> Callable[..., Any]:
        if self._compiled is not None:
            return self._compiled
        with self._compiling:
            if self._compiled is None:
                self._compiled = self._compile()
            return self._compiled

    def _compile(self) -> Callable[..., Any]:
        from numba import njit, types  # takes a second to import, so only when a function is compiled

        signature = self._signature(types)
        try:
            compiled: Callable[..., Any] = njit(signature, cache=True, nogil=True)(self._function)
        except RuntimeError:  # numba finds no folder for its cache that it may write to: a read-only installation
            compiled = njit(signature, nogil=True)(self._function)
        return compiled
