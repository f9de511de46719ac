"""Opens SQLite files in WAL mode, for the record, the vectors and the model cache, and empties their logs.

The end says which errors of SQLite mean that a file is damaged, and not that it cannot be reached now.
"""

import os
import sqlite3
import time
import zlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from core.errors import Unavailable

Connection = sqlite3.Connection

BUSY_SECONDS = 30.0
_RETRY_SECONDS = 0.005


def connect(path: Path, prepare: Callable[[Connection], None], *, page_size: int | None = None) -> Connection:
    """Opens a file, which is created with its folder if it does not exist, both for this user alone, and calls
    `prepare` with the connection.

    The caller begins and ends transactions. The connection may be used by any thread, by one at a time. A power cut may
    lose the last commits, the end of a process does not. Only a new file takes `page_size`. Closes the connection if
    anything fails.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise Unavailable(
            f"the data folder {path.parent} cannot be made: {(error.strerror or str(error)).lower()}; set "
            "HOPWEAVE_DATA_DIR to another one"
        ) from error
    with suppress(OSError):  # it exists, or SQLite says why it cannot be made
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        if page_size is not None:
            connection.execute(f"PRAGMA page_size = {page_size:d}")
        _use_wal(connection)
        connection.execute("PRAGMA synchronous = normal")
        connection.execute("PRAGMA cell_size_check = on")  # finds a damaged page when it is read
        connection.execute("PRAGMA secure_delete = on")  # what is deleted is not left in free pages
        prepare(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _use_wal(connection: Connection) -> None:
    """Switches a new file to WAL mode. The switch ignores the busy timeout, so it is tried again while others do so."""
    deadline = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = wal").fetchall()  # unread, the statement would bar a commit
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(_RETRY_SECONDS)
        else:
            return


def run_script(connection: Connection, path: Path) -> None:
    """Runs a file of statements in one transaction."""
    connection.executescript(f"BEGIN IMMEDIATE; {path.read_text(encoding='utf-8')}; COMMIT")


def empty_log(connection: Connection) -> bool:
    """Moves what was committed from the log (WAL) into the file, and empties the log, which has what was deleted.

    Returns False if others read or write meanwhile; then it has to be called again. Raises `sqlite3.OperationalError`.
    """
    connection.execute("PRAGMA busy_timeout = 0")  # others would wait, too, while this waits
    try:
        (is_busy, *_) = connection.execute("PRAGMA wal_checkpoint(truncate)").fetchone()
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF not in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
            raise
        return False
    finally:
        connection.execute(f"PRAGMA busy_timeout = {1000 * BUSY_SECONDS:.0f}")
    return not is_busy


FAULTS = (sqlite3.DatabaseError, UnicodeDecodeError, zlib.error)
"""The errors of a file that cannot be used. If it is damaged, even SQLite's messages may be no UTF-8, and rows do not
unpack.
"""

_OF_OUR_STATEMENTS = (
    sqlite3.IntegrityError,
    sqlite3.ProgrammingError,
    sqlite3.DataError,
    sqlite3.NotSupportedError,
    sqlite3.InternalError,
)
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_FORMAT, sqlite3.SQLITE_ERROR})
"""Also errors without a code of their own: tables are missing, or rows cannot be unpacked."""


def is_damage(error: BaseException) -> bool:
    """Returns whether the file is damaged. Statements that a bug makes wrong are not its damage."""
    if isinstance(error, UnicodeDecodeError | zlib.error):
        return True
    if not isinstance(error, sqlite3.DatabaseError) or isinstance(error, _OF_OUR_STATEMENTS):
        return False
    code = getattr(error, "sqlite_errorcode", None)
    return code is not None and code & 0xFF in _DAMAGED


def make_unavailable(what: str, error: Exception, *, else_do: str, remedy: str) -> Unavailable | None:
    """Returns the error for users: with `remedy` for a damaged file, with `else_do` for an unreachable file.

    `what` begins the message, and names the file. Returns None for errors that a bug raises.
    """
    if is_damage(error):
        said = "it is no UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)
        return Unavailable(f"{what} is damaged ({said}): {remedy}")
    return (
        Unavailable(f"{what} cannot be used: {error}; {else_do}")
        if isinstance(error, sqlite3.OperationalError)
        else None
    )
