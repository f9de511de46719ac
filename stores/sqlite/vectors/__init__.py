"""Vectors in SQLite: rows in a file, searched exactly over snapshots in memory."""

from stores.sqlite.vectors.store import SqliteVectorStore

__all__ = ["SqliteVectorStore"]
