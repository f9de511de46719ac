"""The port of a service that converts files: it reads their layout and their tables with models of its own."""

from typing import Protocol

from core.ports.indexing import Source


class FileConverter(Protocol):
    """Converts one file at a time, in the thread that calls it. Several threads may call at once."""

    def convert(self, source: Source, format: str) -> bytes:
        """Returns the reply of the service, unread. `format` is the name of the loader that would read the file.

        Raises `LoadFailed` if the service cannot convert this file or refuses it, and `Unavailable` if it cannot be
        reached or is busy, so that a later call may succeed.
        """
        ...

    def interrupt(self) -> None:
        """Ends the waiting for files that are being converted, which fail. Without effect on later calls."""
        ...

    def close(self) -> None:
        """Closes connections. A later call opens new ones."""
        ...
