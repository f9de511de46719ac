"""`SessionSecret`: the secret with which all processes of a server sign sessions."""

import asyncio
import contextlib
import os
import re
import secrets
import tempfile
from pathlib import Path

from core.errors import InvalidSettings, Unavailable

__all__ = ["FILE", "SessionSecret"]

FILE = "session.secret"
"""The file in the data folder. It is part of no backup."""

_FORM = re.compile(r"[0-9a-f]{64}\n?", re.ASCII)
_BYTES = 32
_SETTING = "HOPWEAVE_API__SESSION_SECRET"


class SessionSecret:
    """The secret of the settings; without one, that of a file, which the first process that needs it makes."""

    def __init__(self, given: str, folder: Path) -> None:
        self._path = folder / FILE
        self._secret = given.encode() or None

    async def read(self) -> bytes | None:
        """Returns the secret; None if no process has made one yet. Raises as `make`."""
        if self._secret is None:
            self._secret = await asyncio.to_thread(_read, self._path)
        return self._secret

    async def make(self) -> bytes:
        """Returns the secret, and makes it if there is none yet. Raises `Unavailable` if the file cannot be read or
        written, and `InvalidSettings` if it has been changed.
        """
        if self._secret is None:
            self._secret = await asyncio.to_thread(_make, self._path)
        return self._secret


def _make(path: Path) -> bytes:
    """Of several processes, the first makes the file: it appears whole, and no other one replaces it."""
    if (secret := _read(path)) is not None:
        return secret
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{FILE}.", dir=path.parent)  # for this user only
        try:
            with os.fdopen(handle, "w", encoding="ascii") as file:
                file.write(secrets.token_hex(_BYTES) + "\n")
                file.flush()
                os.fsync(handle)
            with contextlib.suppress(FileExistsError):
                os.link(name, path)
        finally:
            Path(name).unlink()
    except OSError as error:
        raise _unavailable("made", path, error) from error
    secret = _read(path)
    if secret is None:
        raise Unavailable(f"the secret of sessions, {path}, was deleted as soon as it was made; set {_SETTING}")
    return secret


def _read(path: Path) -> bytes | None:
    try:
        text = path.read_text("ascii", "replace")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unavailable("read", path, error) from error
    if not _FORM.fullmatch(text):
        raise InvalidSettings(f"{path} is no secret of sessions; delete it, and a new one is made, or set {_SETTING}")
    return text.strip().encode()


def _unavailable(verb: str, path: Path, error: OSError) -> Unavailable:
    return Unavailable(
        f"the secret of sessions, {path}, cannot be {verb}: {error.strerror or error}; let the server write this "
        f"folder, or set {_SETTING}"
    )
