"""`FileMapping`: a file that is mapped into memory, and whether it was changed since. Open it before mapping a file."""

import mmap
import os
import weakref
from typing import Self

__all__ = ["FileMapping"]


class FileMapping(mmap.mmap):
    """The pages of a file, which cannot be written to.

    Hopweave replaces mapped files by renaming others, so the file of a mapping never changes. If another program makes
    it shorter, the operating system ends each process that reads a page beyond its end (SIGBUS), without an exception.
    So ask `is_intact` before reading, and open the file again if it is not. That narrows the gap and does not close it:
    a file that becomes shorter while pages are read still ends the process.
    """

    _file: int
    _state: tuple[int, int]

    def __new__(cls, file: int) -> Self:
        """Maps an open file, which may be closed then. Raises `OSError`, and `ValueError` for an empty file."""
        state = _read_state(file)
        mapping = super().__new__(cls, file, state[0], access=mmap.ACCESS_READ)
        mapping._state = state
        mapping._file = os.dup(file)  # that of `mmap` cannot be asked for the time of the last change
        weakref.finalize(mapping, os.close, mapping._file)
        return mapping

    def is_intact(self) -> bool:
        """Returns whether the file has the size and the time of its last change that it had when it was mapped."""
        return _read_state(self._file) == self._state


def _read_state(file: int) -> tuple[int, int]:
    status = os.fstat(file)
    return status.st_size, status.st_mtime_ns
