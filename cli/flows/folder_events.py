"""Events of folders: a thread that says when something has changed in them. A comparison finds what has changed."""

import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType

import watchfiles

from cli.output.console import print_status

__all__ = ["FolderEvents"]

_GITIGNORE = ".gitignore"
_WAKE_MILLISECONDS = 500
_FALLBACK_SECONDS = 10.0
_LONGEST_BURST = 10
"""How many quiet periods a burst of changes may last before a comparison is due all the same."""


class FolderEvents:
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

    def __enter__(self) -> "FolderEvents":
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
