"""`read_within`: reads files by name, from one folder only."""

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from core.documents import Submission
from core.errors import InvalidInput, NotFound
from indexer.submission.json_lines import LocatedSubmission, Rejection
from indexer.submission.reading import read_file, without_duplicates
from indexer.submission.walking import Selection, is_hidden, printable, walk

__all__ = ["read_within"]


def read_within(root: Path, paths: Sequence[str]) -> Iterator[Submission | Rejection]:
    """Yields the documents of files and folders in `root`. The key of a file is its path in `root`.

    Hidden files are not read, and links that lead out of `root` are not followed. Raises `InvalidInput` at once for a
    path outside of `root` or to something hidden, and `NotFound` for a path that does not exist.
    """
    real = root.resolve()
    starts = [_check(real, path) for path in paths]
    return without_duplicates(found for start in starts for found in _read(real, start))


def _check(root: Path, path: str) -> Path:
    if "\0" in path:
        raise InvalidInput("a path holds a NUL character; remove it")
    real = Path(os.path.realpath(root / path))  # `resolve` raises for a circle of links
    if not real.is_relative_to(root):
        raise InvalidInput(f"the path {printable(path)!r} is outside of the folder that may be read; use one within it")
    if is_hidden(real.relative_to(root)):
        raise InvalidInput(f"the path {printable(path)!r} is hidden, and hidden files are not read; use another one")
    if not real.exists():
        raise NotFound(f"there is no file or folder {printable(path)!r} in the folder that may be read")
    return real


def _read(root: Path, start: Path) -> Iterable[LocatedSubmission | Rejection]:
    selection = Selection(within=root)
    for path in walk(start, selection) if start.is_dir() else (start,):
        if isinstance(path, Rejection):
            yield path
        else:
            yield from read_file(path, path.relative_to(root).as_posix(), with_given=False)
