"""Vectors in SQLite: rows in a file, searched over snapshots in memory, or in mapped files if there are many."""

from stores.sqlite.vectors.mapped.bases import BasePolicy
from stores.sqlite.vectors.store import SqliteVectorStore

__all__ = ["BasePolicy", "SqliteVectorStore"]
