"""The progress of an ingest: a bar on a terminal, otherwise a line every few seconds."""

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from cli.output.console import print_status

if TYPE_CHECKING:
    from collections.abc import Mapping

    from core.jobs import Job

__all__ = ["Progress"]

_EVERY_SECONDS = 3.0
_WAITING = ("queued", "loading", "extracting", "writing", "deleting", "paused")


class Progress:
    """Shows progress on stderr while its block runs."""

    def __init__(self) -> None:
        self._bar: Bar | None = None
        self._task: TaskID | None = None
        self._last = time.monotonic()

    def __enter__(self) -> "Progress":
        if sys.stderr.isatty():
            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
            self._bar = Bar(*columns, console=Console(stderr=True), transient=True)
            self._task = self._bar.add_task("reading", total=None)
            self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()

    def show_submitted(self, documents: int) -> None:
        self._show("reading", documents, None)

    def watch(self, job: "Job") -> None:
        """Shows the job's counts."""
        self.watch_counts(job.counts)

    def watch_counts(self, counts: "Mapping[str, int]") -> None:
        """Shows the counts of a job, or of several, by the state of the documents."""
        total = sum(counts.values())
        waiting = sum(counts.get(state, 0) for state in _WAITING)
        failed = counts.get("failed", 0)
        self._show("indexing" + (f" ({failed} failed)" if failed else ""), total - waiting, total)

    def _show(self, what: str, done: int, total: int | None) -> None:
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, description=what, completed=done, total=total)
        elif time.monotonic() - self._last >= _EVERY_SECONDS:
            self._last = time.monotonic()
            print_status(f"{what}: {done:,}" + ("" if total is None else f" of {total:,}") + " documents")
