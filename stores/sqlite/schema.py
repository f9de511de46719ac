"""The schema of the record's file: its version, its creation, and its migration from older versions."""

import fcntl
import logging
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from importlib import resources
from pathlib import Path

from core.errors import Unavailable
from stores.sqlite.connection import FAULTS
from stores.sqlite.migrations import steps_from

SCHEMA_VERSION = 21

_log = logging.getLogger("hopweave.stores")


def read_schema_version(path: Path) -> int | None:
    """Reads the version of the schema in a file without opening it for writing. Returns None if there is no file."""
    if not path.exists():
        return None
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    except sqlite3.OperationalError as error:
        raise Unavailable(f"the record {path.name} cannot be read: {error}") from error
    with closing(connection):
        try:
            return int(connection.execute("pragma user_version").fetchone()[0]) or None
        except FAULTS as error:
            raise Unavailable(f"the record {path.name} cannot be read: {error}") from error


@contextmanager
def migrating_alone(path: Path) -> Iterator[None]:
    """Waits, before an older file is migrated in the block, while another process does so: it may take minutes."""
    try:
        version = read_schema_version(path)
    except Unavailable:
        version = None  # opening it fails, too, and says more
    if version is None or version >= SCHEMA_VERSION:
        yield
        return
    marker = path.with_name(f"{path.name}.migration")
    with marker.open("ab") as file:
        _log.info(
            "%s has schema %d and becomes %d; a million passages take minutes", path.name, version, SCHEMA_VERSION
        )
        fcntl.flock(file, fcntl.LOCK_EX)
        try:
            yield
        finally:
            marker.unlink(missing_ok=True)  # whoever waits has opened it


def create_schema(connection: sqlite3.Connection, name: str) -> bool:
    """Creates the tables of a new file, or migrates the tables of an older file, in the transaction of the caller.

    Returns whether it migrated. Raises `Unavailable` if this release cannot read the version. `name` is the file's
    name.
    """
    version = connection.execute("pragma user_version").fetchone()[0]
    if version == SCHEMA_VERSION:
        return False
    for statement in _statements_from(version, name):
        connection.execute(statement)
    connection.execute(f"pragma user_version = {SCHEMA_VERSION:d}")
    return bool(version)


def _statements_from(version: int, name: str) -> list[str]:
    if version == 0:
        return _split(resources.files(__package__).joinpath("schema.sql").read_text(encoding="utf-8"))
    steps = steps_from(version, SCHEMA_VERSION)
    if steps is None:
        raise Unavailable(
            f"the record {name} has schema {version}, and this release reads {SCHEMA_VERSION}: "
            "use the release that wrote it, or ingest again into a new data folder"
        )
    return steps


def _split(script: str) -> list[str]:
    """Splits a script into statements. `executescript` would commit, and two processes may create a file at once."""
    statements, pending = [], ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            statements.append(pending)
            pending = ""
    return statements
