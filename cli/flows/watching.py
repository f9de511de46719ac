"""Runs `hopweave ingest --watch`: an ingest of everything, then an ingest of each burst of changes."""

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

from app.composition import choose_composition
from cli.flows.folder_events import FolderEvents
from cli.flows.ingest import OtherCorpus, Summary, ingest
from cli.flows.reading import ChangesReading, Reading, Request, Server, check_prunable
from cli.output.console import print_status
from cli.output.progress import Progress
from cli.output.summaries import show_changes, show_summary
from cli.runtime import run_with_container
from core.errors import NotFound, Unavailable
from core.settings import read_settings
from indexer import Comparison, Rejection, Tracker

__all__ = ["watch"]

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
        FolderEvents(
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

    def run(self, events: FolderEvents) -> NoReturn:
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
        reading = ChangesReading(comparison, self._request.selection, self._corpus_id)
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
