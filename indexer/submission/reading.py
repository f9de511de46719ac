"""From the user's files and folders to submissions, as a stream."""

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from core.documents import Submission, check_key
from core.errors import InvalidInput, NotFound, UnsupportedMedia
from indexer.selection.loaders import media_type_of
from indexer.submission.document_json import DOCUMENT_MEDIA_TYPE, check_document, parse_json
from indexer.submission.json_lines import GIVEN_FILE, LocatedSubmission, Rejection, read_lines
from indexer.submission.submissions import submission_from_json

__all__ = ["Rejection", "read_paths"]

_BESIDE_CORPUS = frozenset({GIVEN_FILE, "questions.jsonl"})


def read_paths(paths: Iterable[str | os.PathLike[str]], *, with_given: bool) -> Iterator[Submission | Rejection]:
    """The documents of files, folders and JSON lines, in order; what cannot be taken in is `Rejection` and passed over.

    A file's key is its path within the folder that was named (its name, if it was named itself), a line's its `id`. Of
    two with one key the first is taken. Raises `NotFound` at once for a path that does not exist.
    """
    roots = [Path(path) for path in paths]
    missing = [str(root) for root in roots if not root.exists()]
    if missing:
        raise NotFound(f"there is no file or folder {', '.join(missing)}; check the path")
    return _without_duplicates(found for root in roots for found in _read_root(root, with_given=with_given))


def _without_duplicates(found: Iterable[LocatedSubmission | Rejection]) -> Iterator[Submission | Rejection]:
    sources: dict[str, str] = {}
    for one in found:
        if isinstance(one, Rejection):
            yield one
        elif one.submission.key in sources:
            first = sources[one.submission.key]
            reason = f"key {one.submission.key!r} was taken already by {first}; give each document a key of its own"
            yield Rejection(source=one.source, reason=reason)
        else:
            sources[one.submission.key] = one.source
            yield one.submission


def _read_root(root: Path, *, with_given: bool) -> Iterator[LocatedSubmission | Rejection]:
    if not root.is_dir():
        yield from _read_file(root, root.name, with_given=with_given)
        return
    for path in _walk(root):
        if isinstance(path, Rejection):
            yield path
        else:
            yield from _read_file(path, path.relative_to(root).as_posix(), with_given=with_given)


def _walk(root: Path) -> Iterator[Path | Rejection]:
    """Files below `root`, each folder's by name before its folders'; no hidden ones, and no folder twice."""
    seen: set[tuple[int, int]] = set()
    unreadable: list[OSError] = []
    for folder, folders, files in os.walk(root, followlinks=True, onerror=unreadable.append):
        here = Path(folder)
        status = here.stat()
        if (status.st_dev, status.st_ino) in seen:  # a link led back
            folders.clear()
            continue
        seen.add((status.st_dev, status.st_ino))
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        skipped = _BESIDE_CORPUS if "corpus.jsonl" in files else frozenset()
        yield from (here / name for name in sorted(files) if not name.startswith(".") and name not in skipped)
    for error in unreadable:
        yield Rejection(source=_shown(str(error.filename)), reason=f"the folder cannot be read: {error.strerror}")


def _read_file(path: Path, key: str, *, with_given: bool) -> Iterator[LocatedSubmission | Rejection]:
    source = _shown(key)
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            yield Rejection(source=source, reason="it is no regular file")
        elif path.suffix.lower() == ".jsonl":
            yield from read_lines(path, source, with_given=with_given)
        else:
            yield LocatedSubmission(submission=_whole_file(path, key), source=source)
    except OSError as error:
        yield Rejection(source=source, reason=f"it cannot be read: {error.strerror}")
    except (InvalidInput, UnsupportedMedia) as error:
        yield Rejection(source=source, reason=str(error))


def _whole_file(path: Path, key: str) -> Submission:
    media_type = media_type_of(path)
    check_key(key)
    content = path.read_bytes()
    if media_type == DOCUMENT_MEDIA_TYPE:
        return submission_from_json(check_document(parse_json(content.removeprefix(b"\xef\xbb\xbf"))), key=key)
    return Submission(key=key, content=content, media_type=media_type)


def _shown(path: str) -> str:
    """A path for messages: bytes that are no text are replaced."""
    return os.fsencode(path).decode("utf-8", "replace")
