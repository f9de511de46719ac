"""The files of a folder: which are looked at, in which order, and each only once."""

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from core.errors import InvalidInput
from indexer.submission.json_lines import GIVEN_FILE, Rejection

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


_BESIDE_CORPUS = frozenset({GIVEN_FILE, "questions.jsonl"})
_GITIGNORE = ".gitignore"


@dataclass(frozen=True, kw_only=True)
class Selection:
    """Which files of a folder are documents. `include` and `exclude` are patterns as in a .gitignore file.

    - Without `include`, all files are documents. `exclude` takes precedence.
    - `gitignore`: whether files that a .gitignore file in the folder, or below it, names are left out.
    - `follow_links`: whether links that lead out of the folder are followed; else each is rejected.
    - `within`: links that lead out of this folder, or to something hidden in it, are rejected.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    gitignore: bool = True
    follow_links: bool = False
    within: Path | None = None

    def covers(self, path: str) -> bool:
        """Whether the patterns select a path within the folder. Raises `InvalidInput` for a pattern that is wrong."""
        return (not self.include or self._included.match_file(path)) and not self._excluded.match_file(path)

    def find_refusal(self, link: Path, root: Path) -> str:
        """Returns why the file or folder that a link in `root` leads to may not be read; '' if it may."""
        real = Path(os.path.realpath(link))  # `resolve` raises for a circle
        if self.within is not None:
            is_read = real.is_relative_to(self.within) and not is_hidden(real.relative_to(self.within))
            return "" if is_read else "it leads out of the folder that may be read, or to a hidden file"
        if self.follow_links or real.is_relative_to(os.path.realpath(root)):
            return ""
        return "it is a link that leads out of the folder; follow links (--follow-links), or name what it leads to"

    def skips_folder(self, path: str) -> bool:
        """Whether everything in a folder within the folder is excluded."""
        return bool(self.exclude) and self._excluded.match_file(path + "/")

    @cached_property
    def _included(self) -> "GitIgnoreSpec":
        return _make_spec(self.include, "--include")

    @cached_property
    def _excluded(self) -> "GitIgnoreSpec":
        return _make_spec(self.exclude, "--exclude")


EVERYTHING = Selection()


@dataclass(frozen=True, slots=True)
class _Ignored:
    """The patterns of a .gitignore file in the folder `base`."""

    base: str
    spec: "GitIgnoreSpec"

    def decision(self, path: str) -> bool | None:
        """Whether the file ignores a path, or None if none of its patterns fits."""
        return self.spec.check_file(path[len(self.base) :]).include


def walk(root: Path, selection: Selection = EVERYTHING) -> Iterator[Path | Rejection]:
    """Yields files below `root`: the files of a folder by name, then of its folders, and last the targets of links.

    Skips hidden files and folders, and links to a file or folder that was visited already; so no loop is followed. A
    folder that cannot be read is a `Rejection` that `hides` documents.
    """
    return _Walk(root, selection).run()


class _Walk:
    def __init__(self, root: Path, selection: Selection) -> None:
        self._root = root
        self._selection = selection
        self._seen: set[tuple[int, int]] = set()
        self._links: list[tuple[Path, tuple[_Ignored, ...]]] = []

    def run(self) -> Iterator[Path | Rejection]:
        yield from self._folder(self._root, ())
        while self._links:
            links, self._links = sorted(self._links, key=lambda one: one[0]), []
            for link, ignored in links:
                yield from self._link(link, ignored)

    def _folder(self, start: Path, ignored: tuple[_Ignored, ...]) -> Iterator[Path | Rejection]:
        """Walks without recursion, since folders are nested to any depth."""
        waiting = [(start, ignored)]
        while waiting:
            folder, above = waiting.pop()
            try:
                here = folder.stat()
                if not self._add(here):
                    continue
                with os.scandir(folder) as entries:
                    found = sorted(entries, key=lambda entry: entry.name)
                rules = (*above, *self._read_gitignore(folder))
            except OSError as error:
                yield _unreadable(folder, error)
                continue
            files, folders = self._sort(folder, found, rules, here.st_dev)
            yield from files
            waiting += [(one, rules) for one in reversed(folders)]

    def _sort(
        self, folder: Path, found: Sequence[os.DirEntry[str]], rules: tuple[_Ignored, ...], device: int
    ) -> tuple[list[Path], list[Path]]:
        """Returns the files and folders of a folder that are selected, and keeps its links for later."""
        names = {entry.name for entry in found}
        skipped = _BESIDE_CORPUS if "corpus.jsonl" in names else frozenset()
        files, folders = list[Path](), list[Path]()
        for entry in found:
            path = folder / entry.name
            if entry.name.startswith(".") or entry.name in skipped:
                continue
            if entry.is_symlink():
                self._links.append((path, rules))
            elif entry.is_dir():
                if self._is_selected(path, rules, is_folder=True):
                    folders.append(path)
            elif self._is_selected(path, rules, is_folder=False):
                self._seen.add((device, entry.inode()))
                files.append(path)
        return files, folders

    def _link(self, link: Path, rules: tuple[_Ignored, ...]) -> Iterator[Path | Rejection]:
        if reason := self._selection.find_refusal(link, self._root):
            if self._is_selected(link, rules, is_folder=link.is_dir()):
                yield Rejection(source=printable(link.relative_to(self._root).as_posix()), reason=reason)
            return
        try:
            status = link.stat()
        except OSError:  # it leads nowhere, or in a circle: whoever reads it says so
            if self._is_selected(link, rules, is_folder=False):
                yield link
            return
        is_folder = stat.S_ISDIR(status.st_mode)
        if not self._is_selected(link, rules, is_folder=is_folder):
            return
        if is_folder:
            yield from self._folder(link, rules)
        elif self._add(status):
            yield link

    def _add(self, status: os.stat_result) -> bool:
        """Whether a file or folder is seen for the first time."""
        identity = (status.st_dev, status.st_ino)
        is_new = identity not in self._seen
        self._seen.add(identity)
        return is_new

    def _is_selected(self, path: Path, rules: tuple[_Ignored, ...], *, is_folder: bool) -> bool:
        shown = path.relative_to(self._root).as_posix()
        if is_folder and self._selection.skips_folder(shown):
            return False
        if not is_folder and not self._selection.covers(shown):
            return False
        decisions = (rule.decision(shown + "/" * is_folder) for rule in reversed(rules))  # the innermost file decides
        return not next((decision for decision in decisions if decision is not None), False)

    def _read_gitignore(self, folder: Path) -> tuple[_Ignored, ...]:
        file = folder / _GITIGNORE
        if not self._selection.gitignore or not file.is_file():
            return ()
        from pathspec import GitIgnoreSpec

        base = folder.relative_to(self._root).as_posix() + "/"
        lines = file.read_text("utf-8", "surrogateescape").splitlines()
        return (_Ignored("" if base == "./" else base, GitIgnoreSpec.from_lines(_usable(lines))),)


def _usable(lines: Sequence[str]) -> Iterator[str]:
    """Yields the valid patterns. Git also skips invalid patterns."""
    from pathspec import GitIgnoreSpec

    for line in lines:
        try:
            GitIgnoreSpec.from_lines([line])
        except ValueError:
            continue
        yield line


def _make_spec(patterns: Sequence[str], option: str) -> "GitIgnoreSpec":
    from pathspec import GitIgnoreSpec

    try:
        return GitIgnoreSpec.from_lines(patterns)
    except ValueError as error:
        shown = ", ".join(map(repr, patterns))
        raise InvalidInput(f"{option} {shown} is no valid pattern; write it as in a .gitignore file") from error


def _unreadable(folder: Path, error: OSError) -> Rejection:
    reason = f"the folder cannot be read: {error.strerror}"
    return Rejection(source=printable(str(folder)), reason=reason, hides=True, folder=folder)


def is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def printable(path: str) -> str:
    """Returns a path for messages, on one line. Bytes that are no text are replaced; controls, also of the direction of
    writing, are escaped.
    """
    shown = os.fsencode(path).decode("utf-8", "replace")
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode("ascii") for one in shown)
