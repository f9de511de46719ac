"""Tracking of files: what was read of paths, so that a later comparison reads only what has changed since.

Open this module to see when a file counts as written, as gone, and as merely out of reach.
"""

import os
import stat
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from core.documents import Submission
from indexer.submission.json_lines import GIVEN_FILE, Rejection
from indexer.submission.reading import check_roots, read_file, taken_already
from indexer.submission.walking import EVERYTHING, Selection, printable, walk

_Signature = tuple[int, int, int]
_NOTHING: _Signature = (-1, -1, -1)


@dataclass(frozen=True, kw_only=True, slots=True)
class _File:
    """A file as it was seen: its key, its signature (size, times of modification and change), and the device of its
    folder. `changed_at` is the later of the two times, in seconds.
    """

    root: Path
    key: str
    signature: _Signature
    changed_at: float
    device: int


@dataclass(kw_only=True, slots=True)
class _Tracked:
    """A file that was read, and the keys of its documents, also of rejected documents."""

    file: _File
    keys: set[str] = field(default_factory=set)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Root:
    """What a path was: a folder or a file, and its device and inode."""

    is_folder: bool
    identity: tuple[int, int]


class Tracker:
    """Compares paths with what was read of them before.

    A file is read once it has not changed for `quiet_seconds`. The content of a folder counts as unchanged if the
    folder cannot be read, has vanished, or is on a file system that is no longer mounted.
    """

    def __init__(
        self, paths: Iterable[str | os.PathLike[str]], selection: Selection = EVERYTHING, *, quiet_seconds: float
    ) -> None:
        """Raises `NotFound` if a path does not exist, and `InvalidInput` if a pattern of the selection is wrong."""
        self.selection = selection
        self.quiet_seconds = quiet_seconds
        self._roots = [root.absolute() for root in check_roots(paths, selection)]
        self._tracked: dict[Path, _Tracked] = {}
        self._known_roots: dict[Path, _Root] = {}
        self._is_whole = False
        self._pending: dict[Path, tuple[_Signature, float]] = {}

    @property
    def roots(self) -> tuple[Path, ...]:
        return tuple(self._roots)

    def forget(self) -> None:
        """Lets the next comparison read everything again."""
        self._tracked, self._known_roots, self._is_whole = {}, {}, False

    def accept(self, comparison: "Comparison") -> None:
        """Remembers what was read. To be called once the changes are carried out; else they are found again."""
        self._tracked = comparison.tracked
        self._known_roots |= comparison.roots
        self._is_whole |= comparison.is_complete

    def compare(self) -> "Comparison":
        """Looks at all files, and reads none."""
        scan = _Scan(self._roots, self.selection, self._tracked, self._known_roots, is_first=not self._is_whole)
        self._renew_devices(scan.files)
        changed = [path for path, file in scan.files.items() if self._has_changed(path, file)]
        pending = {path: self._first_seen(path, scan.files[path]) for path in changed}
        settled = [path for path in changed if self._is_settled(scan.files[path], pending[path][1])]
        self._pending = {path: pending[path] for path in pending.keys() - set(settled)}
        gone = [path for path in self._tracked if path not in scan.files and path not in scan.kept]
        return Comparison(
            self._tracked,
            scan,
            settled=settled,
            unsettled=list(self._pending),
            gone=gone,
            is_first=not self._is_whole,
        )

    def _renew_devices(self, files: Mapping[Path, _File]) -> None:
        """A file system that is mounted again may have another device number."""
        for path, file in files.items():
            before = self._tracked.get(path)
            if before is not None and before.file.device != file.device:
                before.file = replace(before.file, device=file.device)

    def _has_changed(self, path: Path, file: _File) -> bool:
        before = self._tracked.get(path)
        return before is None or (before.file.key, before.file.signature) != (file.key, file.signature)

    def _first_seen(self, path: Path, file: _File) -> tuple[_Signature, float]:
        before = self._pending.get(path)
        return before if before is not None and before[0] == file.signature else (file.signature, time.monotonic())

    def _is_settled(self, file: _File, first_seen: float) -> bool:
        """The clock of another host may differ from this host's, so a file may also be watched for the period."""
        is_old = time.time() - file.changed_at >= self.quiet_seconds
        return is_old or time.monotonic() - first_seen >= self.quiet_seconds


class Comparison:
    """What has changed since the last comparison that was accepted."""

    def __init__(
        self,
        tracked: Mapping[Path, _Tracked],
        scan: "_Scan",
        *,
        settled: list[Path],
        unsettled: list[Path],
        gone: list[Path],
        is_first: bool,
    ) -> None:
        self.is_first = is_first
        """Whether no comparison was complete before, so that documents may be gone that are not known."""
        self._tracked = tracked
        self._files = scan.files
        self._gone = gone
        self._unsettled = unsettled
        absent = set(gone)
        self._next: dict[Path, _Tracked] = {path: one for path, one in tracked.items() if path not in absent}
        self._hides = bool(scan.obstacles)
        self.roots: Mapping[Path, _Root] = scan.roots
        self.obstacles = tuple(scan.obstacles)
        """The folders whose documents are out of reach, and so are kept."""
        self._to_read = self._with_heirs(settled)

    @property
    def has_changes(self) -> bool:
        return bool(self._to_read or self._gone)

    @property
    def is_waiting(self) -> bool:
        """Whether files are still being written, so that another comparison is due soon."""
        return bool(self._unsettled)

    @property
    def is_complete(self) -> bool:
        """Whether all documents of the paths are known, once `read` has ended."""
        return not self._hides and not self._unsettled

    def read(self, *, with_given: bool) -> Iterator[Submission | Rejection]:
        """Yields the documents of the files that have changed. A file that changes meanwhile is left for later."""
        owners = {key: path for path, one in self._next.items() for key in one.keys}
        for path in self._to_read:
            before = self._next.pop(path, None)
            for key in before.keys if before else ():
                owners.pop(key, None)
            one = _Tracked(file=self._files[path])
            for found in read_file(path, one.file.key, with_given=with_given):
                if isinstance(found, Rejection):
                    self._hides |= found.hides
                    one.keys |= {found.key} if found.key is not None else set()
                    one.keys |= before.keys if found.hides and before else set()
                    yield found
                    continue
                if _sign(path)[0] != one.file.signature:  # it is being written; the next comparison reads it
                    one.file = before.file if before else _unread(one.file)
                    one.keys |= before.keys if before else {one.file.key}
                    self._unsettled.append(path)
                    break
                key = found.submission.key
                one.keys.add(key)
                if key in owners and owners[key] != path:
                    yield taken_already(found, printable(self._files[owners[key]].key))
                else:
                    owners[key] = path
                    yield found.submission
            self._next[path] = one

    @property
    def keys(self) -> set[str]:
        """The keys of all documents of the paths, after `read`."""
        return {key for one in self._next.values() for key in one.keys} | {self._files[p].key for p in self._unsettled}

    @property
    def known_keys(self) -> set[str]:
        """The keys of the documents before."""
        return {key for one in self._tracked.values() for key in one.keys}

    @property
    def lost_keys(self) -> set[str]:
        """The keys of the documents that are gone, after `read`."""
        return self.known_keys - self.keys

    @property
    def tracked(self) -> dict[Path, _Tracked]:
        """The files and the keys of their documents, after `read`."""
        return dict(self._next)

    def _with_heirs(self, settled: list[Path]) -> list[Path]:
        """Returns the files to read: also those with a key that a file which is gone or changed had before them."""
        lost = {key for path in (*self._gone, *settled) if path in self._tracked for key in self._tracked[path].keys}
        chosen = set(settled)
        heirs = [
            path
            for path, one in self._next.items()
            if path in self._files and path not in chosen and not lost.isdisjoint(one.keys)
        ]
        return [*settled, *heirs]


class _Scan:
    """The files of paths as they are now, in the order of reading."""

    def __init__(
        self,
        roots: Iterable[Path],
        selection: Selection,
        tracked: Mapping[Path, _Tracked],
        known_roots: Mapping[Path, _Root],
        *,
        is_first: bool,
    ) -> None:
        self.files: dict[Path, _File] = {}
        self.roots: dict[Path, _Root] = {}
        """The paths that are what they were."""
        self.obstacles: list[Rejection] = []
        self.kept: set[Path] = set()
        """Tracked files that are out of reach."""
        self._is_first = is_first
        self._devices: dict[Path, int] = {}
        self._unreachable: set[Path] = set()
        for root in roots:
            self._add_root(root, selection, known_roots.get(root))
        for path, one in tracked.items():
            if path not in self.files and self._is_out_of_reach(path, one.file):
                self.kept.add(path)

    def _add_root(self, path: Path, selection: Selection, before: _Root | None) -> None:
        root = _look_at(path)
        if root is None:
            self._keep_root(path, "it is gone; its documents are kept, in case it comes back")
            return
        if before is not None and before.is_folder != root.is_folder:
            was, now = ("folder", "file") if before.is_folder else ("file", "folder")
            self._keep_root(path, f"it was a {was} and is a {now} now; the documents of the {was} are kept")
            return
        number = len(self.files)
        if not root.is_folder:
            self._add(path, path, path.name)
        else:
            self._add_folder(path, selection)
        if len(self.files) == number and not self._unreachable:
            if before is not None and before.identity != root.identity:
                self._keep_root(path, "it is another folder now, and has no documents; those that it had are kept")
                return
            if self._is_first:  # a folder on which a file system should be mounted is empty
                reason = "it has no documents; those that it had are kept, in case its file system is not mounted"
                self.obstacles.append(Rejection(source=printable(str(path)), reason=reason, hides=True))
        self.roots[path] = root

    def _add_folder(self, root: Path, selection: Selection) -> None:
        for found in walk(root, selection):
            if not isinstance(found, Rejection):
                self._add(root, found, found.relative_to(root).as_posix())
            elif found.folder is not None:
                self._add_obstacle(found.folder, found)

    def _keep_root(self, root: Path, reason: str) -> None:
        self._add_obstacle(root, Rejection(source=printable(str(root)), reason=reason, hides=True))

    def _add(self, root: Path, path: Path, key: str) -> None:
        if path in self.files:
            return
        signature, changed_at = _sign(path)
        if signature == _NOTHING:  # a link that leads nowhere may have led to a folder
            self._unreachable.add(path)
        self.files[path] = _File(
            root=root, key=key, signature=signature, changed_at=changed_at, device=self._device(path.parent)
        )

    def _add_obstacle(self, folder: Path, rejection: Rejection) -> None:
        self.obstacles.append(rejection)
        self._unreachable.add(folder)

    def _device(self, folder: Path) -> int:
        if folder not in self._devices:
            try:
                self._devices[folder] = folder.stat().st_dev
            except OSError:
                self._devices[folder] = -1
        return self._devices[folder]

    def _is_out_of_reach(self, path: Path, file: _File) -> bool:
        """Whether a file that is not seen any more may still exist where it was."""
        if path in self._unreachable or not self._unreachable.isdisjoint(path.parents):
            return True
        nearest = next((folder for folder in path.parents if _is_there(folder)), file.root)
        if self._device(nearest) == file.device:
            return False
        reason = "its file system is no longer mounted; its documents are kept"
        self._add_obstacle(nearest, Rejection(source=printable(str(nearest)), reason=reason, hides=True))
        return True


def _sign(path: Path) -> tuple[_Signature, float]:
    """Returns the signature of a file and when it changed last. A graph beside a corpus is a part of it."""
    try:
        status = path.stat()
    except OSError:
        return _NOTHING, 0.0
    size, modified, changed = status.st_size, status.st_mtime_ns, status.st_ctime_ns
    if path.name == "corpus.jsonl" and path.with_name(GIVEN_FILE).is_file():
        (more, later, latest), _ = _sign(path.with_name(GIVEN_FILE))
        size, modified, changed = size + more, max(modified, later), max(changed, latest)
    return (size, modified, changed), max(modified, changed) / 1e9


def _look_at(path: Path) -> _Root | None:
    """Returns what a path is; None if nothing is there, as far as that can be told."""
    try:
        status = path.stat()
    except OSError:
        return None
    return _Root(is_folder=stat.S_ISDIR(status.st_mode), identity=(status.st_dev, status.st_ino))


def _is_there(path: Path) -> bool:
    """Whether a path exists, as far as that can be told."""
    try:
        path.stat()
    except OSError:
        return False
    return True


def _unread(file: _File) -> _File:
    """Returns the file with a signature that no file has, so that it is read by the next comparison."""
    return _File(root=file.root, key=file.key, signature=(-2, -2, -2), changed_at=file.changed_at, device=file.device)
