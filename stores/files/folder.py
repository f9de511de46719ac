"""The file store in a folder, whose files are named by the hash of their content.

The paths come first. They are equal in a folder and in a bucket, so either can be copied into the other.
"""

import asyncio
import errno
import os
import re
import secrets
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from core.errors import InvalidInput, NotFound, Unavailable
from core.execution.threads import call_in_thread
from core.ids import content_hash
from stores.corpus_folders import corpus_folder, delete_folder

_DERIVED = ".derived"
_NAME = re.compile(r"[0-9a-f]{64}")


def is_name(text: str) -> bool:
    """Returns whether the text can be the name of an original: a content hash."""
    return _NAME.fullmatch(text) is not None


def original_path(corpus: Path, name: str) -> Path:
    """Returns the path of an original. Raises `InvalidInput` for a name that could lead outside of `corpus`."""
    if not is_name(name):
        raise InvalidInput(f"{name!r} is not the name of an original: names are the 64 digits that `put` returned")
    return corpus / name[:2] / name


def derived_path(original: Path) -> Path:
    """Returns the path of what is kept beside the original."""
    return original.with_name(original.name + _DERIVED)


_NO_UNNAMED_FILES = frozenset(
    {errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT, errno.EXDEV, errno.EPERM, errno.ENOSYS}
)
"""The errors of a file system without unnamed files, and of a system without `/proc`."""


class FolderFileStore:
    """Fills `core.ports.files.FileStore`: root/<corpus>/<first two digits>/<hash>. Files are written atomically."""

    def __init__(self, root: Path) -> None:
        self._root = root

    async def put(self, corpus_id: str, contents: Iterable[bytes]) -> list[str]:
        return await asyncio.to_thread(self.put_now, corpus_id, contents)

    def put_now(self, corpus_id: str, contents: Iterable[bytes]) -> list[str]:
        """As `put`, in the thread of the caller."""
        corpus, names = self._corpus_folder(corpus_id), list[str]()
        with _translate_errors(corpus):
            corpus.mkdir(parents=True, exist_ok=True)
            for content in contents:
                name = content_hash(content)
                path = original_path(corpus, name)
                if not path.exists():
                    _write(path, content)
                names.append(name)
        return names

    async def get(self, corpus_id: str, name: str) -> bytes:
        path = original_path(self._corpus_folder(corpus_id), name)

        def work() -> bytes:
            with _translate_errors(path):
                try:
                    return path.read_bytes()
                except FileNotFoundError as error:
                    raise NotFound(f"no original {name} is kept for corpus {corpus_id}") from error

        return await call_in_thread(work)

    async def put_derived(self, corpus_id: str, name: str, content: bytes) -> None:
        original = original_path(self._corpus_folder(corpus_id), name)
        path = derived_path(original)

        def work() -> None:
            with _translate_errors(path):
                if original.exists():
                    _replace(path, content)
                if not original.exists():  # `delete` deletes the original first
                    path.unlink(missing_ok=True)

        await asyncio.to_thread(work)

    async def get_derived(self, corpus_id: str, name: str) -> bytes | None:
        path = derived_path(original_path(self._corpus_folder(corpus_id), name))

        def work() -> bytes | None:
            with _translate_errors(path):
                return path.read_bytes() if path.exists() else None

        return await call_in_thread(work)

    async def delete(self, corpus_id: str, names: Iterable[str]) -> None:
        corpus = self._corpus_folder(corpus_id)
        paths = [original_path(corpus, name) for name in names]

        def work() -> None:
            with _translate_errors(corpus):
                for path in paths:
                    path.unlink(missing_ok=True)
                    derived_path(path).unlink(missing_ok=True)

        await asyncio.to_thread(work)

    async def delete_corpus(self, corpus_id: str) -> None:
        corpus = self._corpus_folder(corpus_id)

        def work() -> None:
            with _translate_errors(corpus):
                delete_folder(corpus)

        await asyncio.to_thread(work)

    async def names(self, corpus_id: str) -> list[str]:
        corpus = self._corpus_folder(corpus_id)

        def work() -> list[str]:
            with _translate_errors(corpus):
                return sorted(path.name for path in corpus.glob("??/*") if is_name(path.name))

        return await asyncio.to_thread(work)

    async def check(self) -> str:
        """Returns the folder. Raises `Unavailable` if it cannot be written."""

        def work() -> str:
            with _translate_errors(self._root):
                self._root.mkdir(parents=True, exist_ok=True)
                with tempfile.TemporaryFile(dir=self._root):
                    return f"the folder {self._root}"

        return await asyncio.to_thread(work)

    async def close(self) -> None:
        """Does nothing: no file stays open."""

    def _corpus_folder(self, corpus_id: str) -> Path:
        return corpus_folder(self._root, corpus_id)


def _write(path: Path, content: bytes) -> None:
    """Writes a file that appears at `path` when it is complete, so that a crash or another writer leaves no half."""
    path.parent.mkdir(exist_ok=True)
    if not _write_unnamed(path, content):
        _replace(path, content)


def _replace(path: Path, content: bytes) -> None:
    """Writes a file, which replaces an existing file."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        draft.write_bytes(content)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _write_unnamed(path: Path, content: bytes) -> bool:
    """Writes a file without a name, then names it: a process that is killed in between leaves nothing.

    Returns False, and writes nothing, if the system or the file system does not support unnamed files.
    """
    if not hasattr(os, "O_TMPFILE"):
        return False
    try:
        with os.fdopen(os.open(path.parent, os.O_TMPFILE | os.O_WRONLY, 0o666), "wb") as file:
            file.write(content)
            file.flush()
            # Without `src_dir_fd`, Python calls link(), which does not follow the link in /proc to the file.
            open_files = os.open("/proc/self/fd", os.O_RDONLY)
            try:
                os.link(str(file.fileno()), path, src_dir_fd=open_files, follow_symlinks=True)
            finally:
                os.close(open_files)
    except FileExistsError:  # another writer was faster; the name is the hash of the content
        return True
    except OSError as error:
        if error.errno in _NO_UNNAMED_FILES:
            return False
        raise
    return True


@contextmanager
def _translate_errors(place: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        message = (
            f"originals cannot be read or written at {place}: {error.strerror}; check its permissions and free space"
        )
        raise Unavailable(message) from error
