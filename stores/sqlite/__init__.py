"""The record, vectors and answers of models in SQLite files."""

from stores.sqlite.model_cache import SqliteModelCache
from stores.sqlite.record import SqliteRecord
from stores.sqlite.vectors import SqliteVectorStore

__all__ = ["SqliteModelCache", "SqliteRecord", "SqliteVectorStore"]
