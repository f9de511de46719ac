"""Runs `hopweave ingest --watch`: an ingest of everything, then an ingest of each burst of changes.

A thread says when something has changed in a folder. A comparison finds what has changed.
"""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType, TracebackType
from typing import NoReturn

import watchfiles

from app.composition import choose_composition
from cli.flows.ingest import OtherCorpus, Summary, ingest
from cli.flows.reading import ChangesReading, Reading, Request, Server, check_prunable
from cli.output.console import print_status
from cli.output.progress import Progress
from cli.output.summaries import show_changes, show_summary
from cli.runtime import run_with_container
from core.errors import NotFound, Unavailable
from core.settings import read_settings
from indexer import Comparison, Rejection, Tracker

_GITIGNORE = ".gitignore"
_WAKE_MILLISECONDS = 500
_FALLBACK_SECONDS = 10.0
_LONGEST_BURST = 10
"""How many quiet periods a burst of changes may last before a comparison is due all the same."""


class _FolderEvents:
    """Watches files and folders while its block lasts. `poll`: compare every so many seconds, without events.

    A folder that is replaced, or mounted again, is watched again. `ignored` are folders whose events do not count.
    """

    def __init__(
        self, roots: Sequence[Path], *, poll: float | None, quiet_seconds: float, ignored: Sequence[Path] = ()
    ) -> None:
        self._roots = roots
        self._poll = poll
        self._quiet_seconds = quiet_seconds
        self._ignored = ignored
        self._changed = threading.Event()
        self._stopped = threading.Event()
        self._threads: list[threading.Thread] = []
        self._watched: tuple[object, ...] = ()

    def __enter__(self) -> "_FolderEvents":
        self._watch_again()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stop()

    def wait(self, seconds: float) -> None:
        """Returns after `seconds`, or earlier: once something has changed, and then nothing for the quiet period."""
        if self._poll is not None:
            self._stopped.wait(min(seconds, self._poll))
            return
        self._watch_again()
        if self._changed.wait(seconds):
            for _ in range(_LONGEST_BURST):
                self._changed.clear()
                if not self._changed.wait(self._quiet_seconds):
                    break
        self._changed.clear()

    def _watch_again(self) -> None:
        """Starts the threads, again if the files or folders are not the same any more."""
        if self._poll is not None:
            return
        present = tuple(map(_identify, self._roots))
        if present == self._watched:
            return
        self._stop()
        self._watched, self._stopped = present, threading.Event()
        folders = [root for root in self._roots if root.is_dir()]
        # A file is watched by its folder, since many programs replace a file when they write it.
        files = {root.parent for root in self._roots if root.is_file()}
        for paths, recursive in ((folders, True), (sorted(files), False)):
            if paths:
                watch = threading.Thread(
                    target=self._watch, args=(paths, self._stopped), kwargs={"recursive": recursive}, daemon=True
                )
                watch.start()
                self._threads.append(watch)

    def _watch(self, paths: Sequence[Path], stopped: threading.Event, *, recursive: bool) -> None:
        try:
            for _ in watchfiles.watch(
                *paths,
                watch_filter=self._make_filter(),
                stop_event=stopped,
                rust_timeout=_WAKE_MILLISECONDS,
                recursive=recursive,
                ignore_permission_denied=True,
            ):
                self._changed.set()
        except OSError as error:
            print_status(
                f"the system does not tell of changes ({error}): comparing every {_FALLBACK_SECONDS:g} s instead; "
                "--poll SECONDS sets the time"
            )
            self._poll = _FALLBACK_SECONDS
            self._changed.set()

    def _make_filter(self) -> Callable[[watchfiles.Change, str], bool]:
        """Returns whether an event counts: not in hidden files and folders, except .gitignore files."""
        roots = [str(root) for root in self._roots]
        ignored = tuple(f"{folder}{os.sep}" for folder in self._ignored)

        def counts(change: watchfiles.Change, path: str) -> bool:  # noqa: ARG001 - part of the interface
            if path.startswith(ignored):
                return False
            root = next((one for one in roots if path.startswith(one)), "")
            parts = Path(path[len(root) :]).parts
            return not any(part.startswith(".") and part != _GITIGNORE for part in parts)

        return counts

    def _stop(self) -> None:
        self._stopped.set()
        for thread in self._threads:
            thread.join()
        self._threads = []


def _identify(path: Path) -> object:
    """Returns what distinguishes a file or folder from another of the same path; None if the path does not exist."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


_QUIET_SECONDS = 2.0
_ABSENT_SECONDS = 5.0
_IDLE_SECONDS = 60.0
_IDLE_SHARE = 30
"""Without events, all is compared after `_IDLE_SECONDS`, or after as many times as long as a comparison takes."""

_FIRST_COMPARISONS = 5
_LONGEST_PAUSE = 60.0

_Ingest = Callable[[Reading, Progress], Summary]


def watch(request: Request, *, server: Server | None, poll: float | None) -> NoReturn:
    """Follows the paths until Ctrl-C or SIGTERM, which raise `KeyboardInterrupt`.

    While the record or the server is unavailable, it waits and tries again. Raises `NotFound` if a path does not exist,
    and `InvalidInput` if a path is the file of one document.
    """
    check_prunable(request.paths, "--watch")
    tracker = Tracker(request.paths, request.selection, quiet_seconds=_QUIET_SECONDS)
    settings = read_settings()
    with (
        _terminating_as_interrupt(),
        _FolderEvents(
            tracker.roots, poll=poll, quiet_seconds=_QUIET_SECONDS, ignored=[settings.data_dir.absolute()]
        ) as events,
    ):
        try:
            if server is not None:
                from cli.flows.remote.ingest import ingest_remote  # imports a client of HTTP

                _Watch(request, tracker, lambda one, at: ingest_remote(request, one, server, at)).run(events)
            composition = choose_composition(settings)
            with composition.supervise() as supervision:

                def ingest_here(reading: Reading, progress: Progress) -> Summary:
                    return run_with_container(
                        lambda c: ingest(c, request, reading, supervision, progress), settings, creates=True
                    )

                _Watch(request, tracker, ingest_here).run(events)
        except KeyboardInterrupt:
            print_status("stopped; nothing is lost: the same command goes on from here")
            raise


@contextmanager
def _terminating_as_interrupt() -> Iterator[None]:
    """Lets SIGTERM end the block as Ctrl-C does, so that the worker ends, too."""

    def interrupt(number: int, frame: FrameType | None) -> NoReturn:  # noqa: ARG001 - as `signal` calls it
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


class _Watch:
    def __init__(self, request: Request, tracker: Tracker, ingest: _Ingest) -> None:
        self._request = request
        self._tracker = tracker
        self._ingest = ingest
        self._corpus_id: str | None = None
        self._first_comparisons = 0
        self._obstacles: dict[str, str] = {}
        self._outage = ""
        self._pause = 1.0

    def run(self, events: _FolderEvents) -> NoReturn:
        while True:
            began = time.monotonic()
            comparison = self._tracker.compare()
            took = time.monotonic() - began
            self._show_obstacles(comparison.obstacles)
            if self._is_due(comparison) and not self._carry_out(comparison):
                time.sleep(self._pause)
                self._pause = min(2 * self._pause, _LONGEST_PAUSE)
            elif comparison.is_waiting:
                events.wait(_QUIET_SECONDS)
            elif comparison.obstacles:  # nothing may tell when a folder comes back
                events.wait(_ABSENT_SECONDS)
            else:
                events.wait(max(_IDLE_SECONDS, _IDLE_SHARE * took))

    def _is_due(self, comparison: Comparison) -> bool:
        """The first ingest waits a little for files that are being written, so that it is of all files if possible."""
        if self._corpus_id is not None:
            return comparison.has_changes
        self._first_comparisons += 1
        return not comparison.is_waiting or self._first_comparisons > _FIRST_COMPARISONS

    def _carry_out(self, comparison: Comparison) -> bool:
        """Ingests what has changed, and shows it. Returns whether that was possible."""
        reading = ChangesReading(comparison, self._request, self._corpus_id)
        before = comparison.known_keys
        try:
            with Progress() as progress:
                summary = self._ingest(reading, progress)
        except OtherCorpus:
            print_status(f"corpus {self._request.corpus} is another one than before: comparing everything with it")
            self._tracker.forget()
            self._corpus_id = None
            return self._carry_out(self._tracker.compare())  # at once: no event announces it
        except (Unavailable, NotFound) as error:  # a corpus that is deleted meanwhile is made again
            self._show_outage(str(error))
            return False
        self._outage, self._pause = "", 1.0
        self._tracker.accept(comparison)
        if self._corpus_id is None:
            show_summary(summary)
            print_status(f"watching {', '.join(map(str, self._request.paths))}; Ctrl-C ends it")
        else:
            show_changes(summary, before)
        self._corpus_id = summary.corpus.id
        return True

    def _show_outage(self, message: str) -> None:
        if message != self._outage:
            print_status(f"{message}; trying again until it is possible")
        self._outage = message

    def _show_obstacles(self, found: tuple[Rejection, ...]) -> None:
        """Shows each obstacle once, and when it has ended."""
        present = {one.source: one.reason for one in found}
        for source, reason in present.items():
            if self._obstacles.get(source) != reason:
                print_status(f"out of reach: {source}: {reason}")
        for source in self._obstacles.keys() - present.keys():
            print_status(f"within reach again: {source}")
        self._obstacles = present
