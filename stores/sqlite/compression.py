"""Texts and terms of chunks as the record's file keeps them: compressed, each row by itself."""

import zlib

import numpy as np

from core.text.terms import TERM

__all__ = ["pack_terms", "pack_text", "unpack_terms", "unpack_text"]

_LEVEL = 6


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
