"""Texts and terms of chunks, and extractions, as the record's file keeps them: compressed, each row by itself."""

import zlib

import numpy as np

from core.text.terms import TERM

__all__ = [
    "pack_extraction",
    "pack_terms",
    "pack_text",
    "unpack_extraction",
    "unpack_terms",
    "unpack_text",
]

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
    """Returns the JSON of an extraction compressed, with the dictionary of what they have in common."""
    packer = zlib.compressobj(_LEVEL, zlib.DEFLATED, _BARE, zdict=_EXTRACTION)
    return packer.compress(payload.encode()) + packer.flush()


def unpack_extraction(packed: bytes) -> str:
    unpacker = zlib.decompressobj(_BARE, zdict=_EXTRACTION)
    return (unpacker.decompress(packed) + unpacker.flush()).decode()
