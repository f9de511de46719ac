"""Gives the space that a migration left in the record's file back to the file system."""

import logging
import shutil
import sqlite3
from pathlib import Path

__all__ = ["give_back_space"]

_log = logging.getLogger("hopweave.stores")

_FREE_SHARE = 0.25
_COPIES = 3
"""SQLite writes the rows into a temporary file, then into its log (WAL), and some space must be left over."""


def give_back_space(connection: sqlite3.Connection, path: Path) -> None:
    """Writes the file anew (VACUUM) if more than a quarter of its pages are free, outside of a transaction.

    Without the room for the copies, or while others use the file, it stays as large as it is: its free pages are used
    for later rows. The log says so.
    """
    page_size, pages, free = (
        connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_size", "page_count", "freelist_count")
    )
    if free <= _FREE_SHARE * pages:
        return
    needed, room = _COPIES * (pages - free) * page_size, shutil.disk_usage(path.parent).free
    if room < needed:
        _log.warning(
            "%s keeps %s of free pages, which later rows use: to give them back takes %s on the disk, and %s are free; "
            "make room, and run VACUUM on the file with SQLite's tools while nothing uses it",
            *(path.name, _size(free * page_size), _size(needed), _size(room)),
        )
        return
    _log.info("%s is written anew, to give back %s of free pages", path.name, _size(free * page_size))
    try:
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except sqlite3.OperationalError as error:
        _log.warning("%s keeps %s of free pages, which later rows use: %s", path.name, _size(free * page_size), error)


def _size(bytes: int) -> str:
    return f"{bytes / 1e6:,.0f} MB"
