"""Large files of commands: how they are written, the progress of reading or writing them, and what a restore has
written.
"""

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from cli.output.console import counted, print_result, print_status
from core.errors import InvalidInput
from core.execution.files import Draft

if TYPE_CHECKING:
    from app.archive import RestoreResult

__all__ = ["RowProgress", "replace_file", "show_restored"]


def replace_file(path: Path, fill: Callable[[BinaryIO], int]) -> int:
    """Writes a draft beside the file, replaces the file when the draft is complete, and returns what `fill` returns.

    A device or a pipe is written to as it is. Raises `InvalidInput` if the file cannot be written.
    """
    try:
        if path.exists() and not path.is_file():
            with path.open("wb") as file:
                return fill(file)
        with Draft(path) as draft:
            written = fill(draft.file)
            draft.keep()
    except OSError as error:
        raise InvalidInput(f"{path} cannot be written: {error.strerror}") from error
    return written


_EVERY_SECONDS = 3.0


class RowProgress:
    """Prints nothing in the first seconds, so that short tasks stay silent."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def report(self, what: str, done: int, total: int | None) -> None:
        if time.monotonic() - self._last >= _EVERY_SECONDS:
            self._last = time.monotonic()
            print_status(f"{what} {done:,}" + ("" if total is None else f" of {total:,}"))


def show_restored(result: "RestoreResult") -> None:
    there = f", {result.unchanged:,} unchanged" if result.unchanged else ""
    print_result(
        f"corpus {result.name}: {counted(result.documents, 'document')}, {counted(result.chunks, 'passage')}{there}"
    )
    if result.missing_originals:
        print_status(
            f"corpus {result.name}: {result.missing_originals:,} originals are not in the file; searches do not need "
            "them"
        )
    for note in result.notes:
        print_status(f"corpus {result.name}: {note}")
