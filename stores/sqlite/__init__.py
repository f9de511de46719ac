"""The record, vectors and the model cache in SQLite files."""

from stores.sqlite.model_cache import SqliteModelCache
from stores.sqlite.packing import pack_text
from stores.sqlite.record import SqliteRecord
from stores.sqlite.schema import SCHEMA_VERSION as SQLITE_SCHEMA
from stores.sqlite.schema import read_schema_version as sqlite_schema_of
from stores.sqlite.spool import Spool, SpooledRow
from stores.sqlite.vectors import SqliteVectorStore

__all__ = [
    "SQLITE_SCHEMA",
    "Spool",
    "SpooledRow",
    "SqliteModelCache",
    "SqliteRecord",
    "SqliteVectorStore",
    "pack_text",
    "sqlite_schema_of",
]
