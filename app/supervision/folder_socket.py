"""The socket of the server that runs on a data folder: where it is, and who may use it.

A Unix domain socket in the folder is open to those who can write the folder, and they have all rights over its data
anyway. So requests over it need no key.
"""

import hashlib
import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from core.settings import Settings

NAME = "server.sock"
SETTINGS_HEADER = "Hopweave-Settings"
"""The header in which a command sends the fingerprint of its settings: a server with other settings refuses."""
ADDRESS_HEADER = "Hopweave-Address"
"""The header of responses over the socket with the address of the server, if it has a port, too."""

_LONGEST = 100
"""Bytes of a path that every system takes as a socket's address."""


@contextmanager
def listen_in_folder(folder: Path) -> Iterator[socket.socket | None]:
    """Yields a bound socket in the folder, and removes it afterwards.

    Yields None where another server answers on it, or where the system or the file system has no such sockets.
    """
    path = folder / NAME
    if not hasattr(socket, "AF_UNIX") or _is_served(path):
        yield None
        return
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o177)  # only this user may connect
    try:
        path.unlink(missing_ok=True)
        with _short_address(path) as address:
            listening.bind(address)
    except OSError:
        listening.close()
        yield None
        return
    finally:
        os.umask(before)
    own = path.stat().st_ino
    try:
        yield listening
    finally:
        listening.close()
        if path.exists() and path.stat().st_ino == own:
            path.unlink(missing_ok=True)


def connect_to_server(folder: Path) -> socket.socket | None:
    """Returns a connection to the server that runs on the folder; None if there is none."""
    if not hasattr(socket, "AF_UNIX"):
        return None
    connection = _try_connect(folder / NAME)
    if connection is not None:
        connection.settimeout(None)
    return connection


def fingerprint_settings(settings: Settings) -> str:
    """Returns a digest of all settings that change what a command finds or answers, and of the version."""
    kept = settings.model_dump(exclude={"api", "mcp", "worker", "data_dir"})
    text = json.dumps(kept, default=_reveal, sort_keys=True)
    return hashlib.sha256(f"{version('hopweave')}\n{text}".encode()).hexdigest()


def _reveal(value: Any) -> str:
    return value.get_secret_value() if isinstance(value, SecretStr) else str(value)


def _is_served(path: Path) -> bool:
    connection = _try_connect(path)
    if connection is None:
        return False
    connection.close()
    return True


def _try_connect(path: Path) -> socket.socket | None:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with _short_address(path) as address:
            connection.connect(address)
    except OSError:  # no file, or a file that a killed server has left: no server
        connection.close()
        return None
    return connection


@contextmanager
def _short_address(path: Path) -> Iterator[str]:
    """Yields the path, or a short path through an open folder: systems accept about a hundred bytes."""
    if len(os.fsencode(path)) <= _LONGEST:
        yield str(path)
        return
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)
