"""The functions of a connection that the views of the schema and the statements on ids call."""

import sqlite3
from collections.abc import Callable
from typing import Any

from core.ids import assertion_id
from stores.sqlite import compression, short_values

__all__ = ["add_functions"]

_FUNCTIONS: tuple[Callable[[Any], Any], ...] = (
    compression.pack_extraction,
    compression.pack_terms,
    compression.pack_text,
    compression.unpack_extraction,
    compression.unpack_terms,
    compression.unpack_text,
    short_values.from_hex,
    short_values.pack_hash,
    short_values.pack_ids,
    short_values.pack_media_type,
    short_values.unpack_hash,
    short_values.unpack_ids,
    short_values.unpack_media_type,
)


def add_functions(connection: sqlite3.Connection) -> None:
    """Without them a view can be listed, and not read."""
    connection.create_function("assertion_id", 2, assertion_id, deterministic=True)
    for function in _FUNCTIONS:
        connection.create_function(function.__name__, 1, function, deterministic=True)
