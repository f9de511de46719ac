"""The progress of an ingest: a bar on a terminal, otherwise a line every few seconds."""

import sys
import time
from collections.abc import Mapping
from types import TracebackType

from rich.console import Console
from rich.filesize import decimal
from rich.progress import BarColumn, TaskID, TextColumn
from rich.progress import Progress as Bar

from cli.output.console import print_status
from core.jobs import Job, JobProgress

__all__ = ["Progress", "describe_progress"]

_EVERY_SECONDS = 3.0
_WAITING = ("queued", "loading", "extracting", "writing", "deleting", "paused")


class Progress:
    """Shows progress on stderr while its block runs."""

    def __init__(self) -> None:
        self._bar: Bar | None = None
        self._task: TaskID | None = None
        self._began = self._last = time.monotonic()
        self._shown = ""

    def __enter__(self) -> "Progress":
        if sys.stderr.isatty():
            columns = (TextColumn("{task.description}"), BarColumn(bar_width=20), TextColumn("{task.fields[left]}"))
            self._bar = Bar(*columns, console=Console(stderr=True), transient=True, redirect_stdout=False)
            self._task = self._bar.add_task("reading", total=None, left="")
            self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()

    def show_submitted(self, documents: int, share: float | None = None) -> None:
        """Shows how many documents were read, and the time left for the rest if the share of these is known."""
        left = ""
        if share and share < 1:
            seconds = round((time.monotonic() - self._began) * (1 - share) / share)
            left = f"about {_describe_seconds(seconds)} left"
        self._show(f"reading: {documents:,} documents", share or 0.0, None if share is None else 1.0, left)

    def watch(self, job: Job, is_waiting: bool) -> None:
        """Shows the state of the job. If the worker waits for something, no time is left that could be told."""
        self.watch_counts(job.counts, job.progress, is_waiting=is_waiting)

    def watch_counts(self, counts: Mapping[str, int], progress: JobProgress, *, is_waiting: bool = False) -> None:
        """Shows the counts of a job, or of several, by the state of the documents, and its progress."""
        total = sum(counts.values())
        done = total - sum(counts.get(state, 0) for state in _WAITING)
        if progress.bytes_total:
            part, whole = float(progress.bytes), float(progress.bytes_total)
        else:
            part, whole = float(done), float(total)
        left = "" if progress.seconds_left is None else f"about {_describe_seconds(progress.seconds_left)} left"
        left = "waiting" if is_waiting else left
        self._show(describe_progress(counts, progress), part, whole, left)

    def _show(self, what: str, done: float, total: float | None, left: str) -> None:
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, description=what, completed=done, total=total, left=left)
            return
        line = f"{what}, {left}" if left else what
        if time.monotonic() - self._last >= _EVERY_SECONDS and line != self._shown:
            self._last, self._shown = time.monotonic(), line
            print_status(line)


def describe_progress(counts: Mapping[str, int], progress: JobProgress) -> str:
    """Returns a line such as `indexing: 3 of 38 documents, 120 of 800 passages, 0.9 MB of 2.3 MB`."""
    total = sum(counts.values())
    done = total - sum(counts.get(state, 0) for state in _WAITING)
    failed = counts.get("failed", 0)
    parts = [f"{done:,} of {total:,} documents" + (f" ({failed:,} failed)" if failed else "")]
    if progress.passages_total:
        parts.append(f"{progress.passages:,} of {progress.passages_total:,} passages")
    if progress.bytes_total:
        parts.append(f"{decimal(progress.bytes)} of {decimal(progress.bytes_total)}")
    return "indexing: " + ", ".join(parts)


def _describe_seconds(seconds: int) -> str:
    if seconds < 90:
        return f"{seconds} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes / 60:.1f} h"
