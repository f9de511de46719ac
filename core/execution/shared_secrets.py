"""`SharedSecret`: a secret that all processes of an installation share, of the settings or of a file that the first
process makes. Sessions of the web page and certificates of deletions have one each.
"""

import asyncio
import contextlib
import os
import re
import secrets
import tempfile
from pathlib import Path

from core.errors import InvalidSettings, Unavailable

_FORM = re.compile(r"[0-9a-f]{64}\n?", re.ASCII)
_BYTES = 32


class SharedSecret:
    """The secret of the settings, or else of a file, which the first process that needs it makes.

    `what` names it in messages, `setting` is its setting.
    """

    def __init__(self, given: str, path: Path, *, what: str, setting: str) -> None:
        self._path = path
        self._secret = given.encode() or None
        self._what = what
        self._setting = setting

    async def read(self) -> bytes | None:
        """Returns the secret; None if no process has made it yet. Raises as `make`."""
        if self._secret is None:
            self._secret = await asyncio.to_thread(self._read)
        return self._secret

    async def make(self) -> bytes:
        """Returns the secret, and makes it if there is none yet. Raises `Unavailable` if the file cannot be read or
        written, and `InvalidSettings` if it has been changed.
        """
        if self._secret is None:
            self._secret = await asyncio.to_thread(self._make)
        return self._secret

    def _make(self) -> bytes:
        """Of several processes, the first makes the file: it appears whole, and no other process replaces it."""
        if (secret := self._read()) is not None:
            return secret
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(prefix=f".{self._path.name}.", dir=self._path.parent)  # for this user only
            try:
                with os.fdopen(handle, "w", encoding="ascii") as file:
                    file.write(secrets.token_hex(_BYTES) + "\n")
                    file.flush()
                    os.fsync(handle)
                with contextlib.suppress(FileExistsError):
                    os.link(name, self._path)
            finally:
                Path(name).unlink()
        except OSError as error:
            raise self._unavailable("made", error) from error
        secret = self._read()
        if secret is None:
            raise Unavailable(f"{self._what}, {self._path}, was deleted as soon as it was made; set {self._setting}")
        return secret

    def _read(self) -> bytes | None:
        try:
            text = self._path.read_text("ascii", "replace")
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._unavailable("read", error) from error
        if not _FORM.fullmatch(text):
            raise InvalidSettings(
                f"{self._path} is not {self._what}; delete it, and a new one is made, or set {self._setting}"
            )
        return text.strip().encode()

    def _unavailable(self, verb: str, error: OSError) -> Unavailable:
        return Unavailable(
            f"{self._what}, {self._path}, cannot be {verb}: {error.strerror or error}; let the server write this "
            f"folder, or set {self._setting}"
        )
