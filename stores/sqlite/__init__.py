"""The record and vectors in SQLite files."""

from stores.sqlite.record import SqliteRecord
from stores.sqlite.vectors import SqliteVectorStore

__all__ = ["SqliteRecord", "SqliteVectorStore"]
