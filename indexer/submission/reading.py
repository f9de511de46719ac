"""Reading of files and folders as a stream of submissions."""

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
    """Yields the documents of files, folders and JSON lines, in order, and a `Rejection` for each that is unusable.

    The key of a file is its path within the given folder, or its name if the file itself was given. The key of a line
    is its `id`. Of two documents with one key, the first is used. With `with_given`, the entities and triples of
    `openie.jsonl` join the documents beside it. Raises `NotFound` at once if a path does not exist.
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
    """Yields files below `root`: those of a folder by name, then those of its folders. Skips hidden ones and loops."""
    seen: set[tuple[int, int]] = set()
    unreadable: list[OSError] = []
    for folder, folders, files in os.walk(root, followlinks=True, onerror=unreadable.append):
        here = Path(folder)
        status = here.stat()
        if (status.st_dev, status.st_ino) in seen:  # a link leads back to it
            folders.clear()
            continue
        seen.add((status.st_dev, status.st_ino))
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        skipped = _BESIDE_CORPUS if "corpus.jsonl" in files else frozenset()
        yield from (here / name for name in sorted(files) if not name.startswith(".") and name not in skipped)
    for error in unreadable:
        yield Rejection(source=_printable(str(error.filename)), reason=f"the folder cannot be read: {error.strerror}")


def _read_file(path: Path, key: str, *, with_given: bool) -> Iterator[LocatedSubmission | Rejection]:
    source = _printable(key)
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            yield Rejection(source=source, reason="it is no regular file")
        elif path.suffix.lower() == ".jsonl":
            yield from read_lines(path, source, with_given=with_given)
        else:
            yield LocatedSubmission(submission=_read_document(path, key), source=source)
    except OSError as error:
        yield Rejection(source=source, reason=f"it cannot be read: {error.strerror}")
    except (InvalidInput, UnsupportedMedia) as error:
        yield Rejection(source=source, reason=str(error))


def _read_document(path: Path, key: str) -> Submission:
    media_type = media_type_of(path)
    check_key(key)
    content = path.read_bytes()
    if media_type == DOCUMENT_MEDIA_TYPE:
        return submission_from_json(check_document(parse_json(content.removeprefix(b"\xef\xbb\xbf"))), key=key)
    return Submission(key=key, content=content, media_type=media_type)


def _printable(path: str) -> str:
    """Returns a path for messages. Bytes that are no text are replaced."""
    return os.fsencode(path).decode("utf-8", "replace")
