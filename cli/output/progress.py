"""The progress of an ingest, or of a task with several stages: bars on a terminal, else a line every few seconds.

With `-v`, each document of an ingest has a line once it is final.
"""

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from types import TracebackType
from typing import Protocol

import typer
from rich.console import Console
from rich.filesize import decimal
from rich.progress import BarColumn, MofNCompleteColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar

from cli.output.console import counted, print_status
from core.documents import RevisionState
from core.errors import Unavailable
from core.jobs import Job, JobAhead, JobProgress
from indexer import Rejection

_EVERY_SECONDS = 3.0
_WAITING = ("queued", "loading", "extracting", "writing", "deleting", "paused")


class Progress:
    """Shows progress on stderr while its block runs."""

    def __init__(self) -> None:
        self._bar: Bar | None = None
        self._task: TaskID | None = None
        self._began = self._last = time.monotonic()
        self._shown = self._left = ""

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
        """Shows the state of the job. If the worker waits for something, no time left is shown."""
        self.watch_counts(job.counts, job.progress, ahead=job.ahead, is_waiting=is_waiting)

    def watch_counts(
        self,
        counts: Mapping[str, int],
        progress: JobProgress,
        *,
        ahead: JobAhead | None = None,
        is_waiting: bool = False,
    ) -> None:
        """Shows the counts of a job, or of several, by the state of the documents, and its progress."""
        self._left = describe_left(counts, progress)
        left = "" if progress.seconds_left is None else f"about {_describe_seconds(progress.seconds_left)} left"
        left = "waiting" if is_waiting else left or describe_ahead(ahead)
        self._show(describe_progress(counts, progress), _percent(counts, progress), 100.0, left)

    @property
    def left(self) -> str:
        """What the job had left when it was shown last, such as `; 3 documents, 1.4 MB are left`; '' before."""
        return f"; {self._left}" if self._left else ""

    def _show(self, what: str, done: float, total: float | None, left: str) -> None:
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, description=what, completed=done, total=total, left=left)
            return
        line = f"{what}, {left}" if left else what
        if time.monotonic() - self._last >= _EVERY_SECONDS and line != self._shown:
            self._last, self._shown = time.monotonic(), line
            print_status(line)


def describe_progress(counts: Mapping[str, int], progress: JobProgress) -> str:
    """Returns a line such as `indexing: 39 %, 3 of 38 documents, 120 of 800 passages, 0.9 MB of 2.3 MB`. The share is
    the share of the bytes, as in the bar.
    """
    total = sum(counts.values())
    done = total - _count_waiting(counts)
    failed = counts.get("failed", 0)
    parts = [f"{_percent(counts, progress)} %"] if total else []
    parts += [f"{done:,} of {total:,} documents" + (f" ({failed:,} failed)" if failed else "")]
    if progress.passages_total:
        parts.append(f"{progress.passages:,} of {progress.passages_total:,} passages")
    if progress.bytes_total:
        parts.append(f"{decimal(progress.bytes)} of {decimal(progress.bytes_total)}")
    return "indexing: " + ", ".join(parts)


def describe_left(counts: Mapping[str, int], progress: JobProgress) -> str:
    """Returns what is not done, such as `35 documents, 1.4 MB are left`, or '' if nothing is."""
    waiting = _count_waiting(counts)
    return f"{_describe_size(waiting, progress.bytes_total - progress.bytes)} are left" if waiting else ""


def describe_ahead(ahead: JobAhead | None) -> str:
    """Returns what is done before a job, such as `3 documents, 41 MB ahead of it`, or '' if nothing is."""
    return f"{_describe_size(ahead.documents, ahead.bytes)} ahead of it" if ahead and ahead.documents else ""


def _describe_size(documents: int, size: int) -> str:
    return f"{documents:,} {'document' if documents == 1 else 'documents'}, {decimal(size)}"


def _count_waiting(counts: Mapping[str, int]) -> int:
    return sum(counts.get(state, 0) for state in _WAITING)


def _percent(counts: Mapping[str, int], progress: JobProgress) -> int:
    """Returns the share of the bytes that are done, or of the documents if their sizes are unknown.

    It is below 100 while documents are not done: the last passages of a document are embedded before it is committed.
    """
    total = sum(counts.values())
    waiting = _count_waiting(counts)
    if not total:
        return 0
    part, whole = (progress.bytes, progress.bytes_total) if progress.bytes_total else (total - waiting, total)
    return min(99 if waiting else 100, 100 * part // whole)


def _describe_seconds(seconds: int) -> str:
    if seconds < 90:
        return f"{seconds} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes / 60:.1f} h"


_LINE_SECONDS = 5.0


@contextmanager
def stages() -> Iterator[Callable[[str, int, int], None]]:
    """Shows progress on stderr while the block runs. Yields a function of (stage, done, total)."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield _Lines()
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Bar(*columns, console=console, transient=True) as bars:
        begun: dict[str, TaskID] = {}

        def report(stage: str, done: int, total: int) -> None:
            if stage not in begun:
                begun[stage] = bars.add_task(stage)
            bars.update(begun[stage], completed=done, total=total)

        yield report


class _Lines:
    """Prints the progress at most once every few seconds, and only if it has changed."""

    def __init__(self) -> None:
        self._printed_at = time.monotonic()
        self._printed = ""

    def __call__(self, stage: str, done: int, total: int) -> None:
        line = f"{stage}: {done} of {total}"
        if line != self._printed and time.monotonic() - self._printed_at > _LINE_SECONDS:
            self._printed, self._printed_at = line, time.monotonic()
            typer.echo(line, err=True)


_LISTED_EVERY_SECONDS = 1.0
_SHARE = 0.1  # of the time, at most, that is spent on listing documents
_FINAL = frozenset({RevisionState.INDEXED, RevisionState.FAILED, RevisionState.CANCELLED, RevisionState.PAUSED})


class ListedDocument(Protocol):
    """A document of the record, or of the HTTP API."""

    @property
    def key(self) -> str: ...
    @property
    def state(self) -> str: ...
    @property
    def reason(self) -> str | None: ...
    @property
    def chunks(self) -> int: ...
    @property
    def updated_at(self) -> datetime: ...


class FinishedDocuments:
    """Prints each document once: its key, its passages and the seconds since the beginning, or why it failed.

    `shown` are the keys of the documents that it has printed, `shown_rejected` the number of rejections.
    """

    def __init__(self, keys: Collection[str]) -> None:
        self._keys = keys
        self._began: datetime | None = None
        self.shown: set[str] = set()
        self.shown_rejected = 0
        self._next = 0.0

    def begin(self, at: datetime) -> None:
        """Documents that were final before are not shown. `at` is a time of the record's clock."""
        self._began = self._began or at

    @property
    def is_due(self) -> bool:
        """Whether it is time to list the documents again."""
        return self._began is not None and time.monotonic() >= self._next

    def show(self, documents: Iterable[ListedDocument], took: float) -> None:
        """Shows documents that are final now. `took` is how long it took to list them."""
        self._next = time.monotonic() + max(_LISTED_EVERY_SECONDS, took / _SHARE)
        for document in documents:
            if document.key in self._keys and document.state in _FINAL and document.key not in self.shown:
                self._show(document)

    def _show(self, document: ListedDocument) -> None:
        began = self._began or datetime.now(UTC)
        if document.updated_at < began:
            return
        self.shown.add(document.key)
        seconds = (document.updated_at - began).total_seconds()
        if document.state == RevisionState.INDEXED:
            print_status(f"indexed: {document.key}: {counted(document.chunks, 'passage')}, {seconds:.1f} s")
        else:
            print_status(f"{document.state}: {document.key}: {document.reason or ''}")

    def show_rejected(self, rejected: Sequence[Rejection]) -> None:
        """Shows rejections that are new in a growing list."""
        for rejection in rejected[self.shown_rejected :]:
            print_status(f"rejected: {rejection.source}: {rejection.reason}")
        self.shown_rejected = len(rejected)


@asynccontextmanager
async def follow_documents(
    list_documents: Callable[[], AsyncIterator[ListedDocument]], finished: FinishedDocuments, verbose: bool
) -> AsyncIterator[None]:
    """Shows documents while the block runs, and the last of them at its end."""
    if not verbose:
        yield
        return

    async def show() -> None:
        began = time.monotonic()
        try:
            listed = [document async for document in list_documents()]
        except Unavailable:
            return  # who waits for the job says so
        finished.show(listed, time.monotonic() - began)

    async def follow() -> None:
        while True:
            await asyncio.sleep(_LISTED_EVERY_SECONDS / 4)
            if finished.is_due:  # a list that fails is repeated; the last list raises its error
                await show()

    task = asyncio.create_task(follow())
    try:
        yield
        await show()
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
