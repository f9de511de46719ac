"""Values as the rows of the record keep them, in fewer bytes than others see.

First ids, hashes and media types; then texts and terms of chunks, and extractions, which are compressed row by row.
`add_functions` gives all of it to a connection, for the views of the schema and the statements on ids.
"""

import sqlite3
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from core.ids import assertion_id
from core.text.terms import TERM

_ID_BYTES = 16

_MEDIA_TYPES = (
    "text/plain",
    "text/markdown",
    "text/html",
    "application/pdf",
    "application/vnd.hopweave.document+json",
)
"""Rows of every data folder store a media type as its place here, so add new types only at the end."""
_PLACES = {name: place for place, name in enumerate(_MEDIA_TYPES)}


def from_hex(id: str) -> bytes | None:
    """Returns the bytes of an id; None if it is no id, also if its digits are capitals."""
    try:
        packed = bytes.fromhex(id)
    except ValueError:
        return None
    return packed if packed.hex() == id else None


def pack_hash(value: str) -> str | bytes:
    """Returns the bytes of a hash in hexadecimal digits; any other value as it is."""
    packed = from_hex(value)
    return value if packed is None else packed


def unpack_hash(packed: str | bytes) -> str:
    return packed if isinstance(packed, str) else packed.hex()


def pack_ids(joined: str) -> bytes:
    """Returns the bytes of ids that are joined by spaces, without the spaces."""
    return bytes.fromhex(joined)


def unpack_ids(packed: bytes) -> str:
    return packed.hex(" ", _ID_BYTES) if packed else ""


def pack_media_type(name: str) -> str | int:
    """Returns the number of a media type that most documents have; any other as it is."""
    return _PLACES.get(name, name)


def unpack_media_type(packed: str | int) -> str:
    return packed if isinstance(packed, str) else _MEDIA_TYPES[packed]


_LEVEL = 6
_BARE = -zlib.MAX_WBITS
_EXTRACTION = (
    b'{"entities":[["",1],["",2]],"malformed":0,"triples":[["","is",""],["","",""]]}'
    b'{"entities":[],"malformed":0,"triples":[["'
)
"""What extractions have in common. Rows of every data folder need it to be read, so it never changes."""


def pack_text(text: str) -> str | bytes:
    """Returns compressed UTF-8, or the text itself if it would not be shorter."""
    plain = text.encode()
    packed = zlib.compress(plain, _LEVEL)
    return packed if len(packed) < len(plain) else text


def unpack_text(packed: str | bytes) -> str:
    return packed if isinstance(packed, str) else zlib.decompress(packed).decode()


def pack_terms(terms: bytes) -> bytes:
    """Returns rows of `TERM` by columns, compressed: of the eight bytes of a row the counts are mostly equal."""
    columns = np.frombuffer(terms, np.uint8).reshape(-1, TERM.itemsize).T
    return zlib.compress(columns.tobytes(), _LEVEL)


def unpack_terms(packed: bytes) -> bytes:
    columns = np.frombuffer(zlib.decompress(packed), np.uint8)
    return columns.reshape(TERM.itemsize, -1).T.tobytes()


def pack_extraction(payload: str) -> bytes:
    """Returns the JSON of an extraction, compressed with a dictionary of what extractions have in common."""
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, _BARE, zdict=_EXTRACTION)
    return packer.compress(payload.encode()) + packer.flush()


def unpack_extraction(packed: bytes) -> str:
    unpacker = zlib.decompressobj(_BARE, zdict=_EXTRACTION)
    return (unpacker.decompress(packed) + unpacker.flush()).decode()


_FUNCTIONS: tuple[Callable[[Any], Any], ...] = (
    pack_extraction,
    pack_terms,
    pack_text,
    unpack_extraction,
    unpack_terms,
    unpack_text,
    from_hex,
    pack_hash,
    pack_ids,
    pack_media_type,
    unpack_hash,
    unpack_ids,
    unpack_media_type,
)


def add_functions(connection: sqlite3.Connection) -> None:
    """Without them a view can be listed, and not read."""
    connection.create_function("assertion_id", 2, assertion_id, deterministic=True)
    for function in _FUNCTIONS:
        connection.create_function(function.__name__, 1, function, deterministic=True)
