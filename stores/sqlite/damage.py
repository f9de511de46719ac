"""Which errors of SQLite mean that a file is damaged, and not that it cannot be reached now."""

import sqlite3
import zlib

from core.errors import Unavailable

__all__ = ["FAULTS", "is_damage", "make_unavailable"]

FAULTS = (sqlite3.DatabaseError, UnicodeDecodeError, zlib.error)
"""What is raised for a file that cannot be used. Of a damaged one, even SQLite's messages may be no UTF-8, and rows are
not unpacked.
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
    """Returns the error for users: with `remedy` for a damaged file, and `else_do` for one that cannot be reached now.

    `what` begins the message, and names the file. Returns None for what a bug raises.
    """
    if is_damage(error):
        said = "it is no UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)
        return Unavailable(f"{what} is damaged ({said}): {remedy}")
    return (
        Unavailable(f"{what} cannot be used: {error}; {else_do}")
        if isinstance(error, sqlite3.OperationalError)
        else None
    )
