"""Chunkers by name: the modules of `indexer.chunkers`."""

from core.ports.indexing import Chunker
from core.strategies import build, load_module, parse_spec

__all__ = ["chunker_version", "make_chunker"]

_PACKAGE = "indexer.chunkers"


def make_chunker(text: str) -> Chunker:
    """Makes the chunker that `text` names, such as `sentences:max_tokens=128`. Raises `InvalidStrategy`."""
    chunker: Chunker = build(_PACKAGE, parse_spec(text), "chunker", None)
    return chunker


def chunker_version(text: str) -> str:
    """Returns the fingerprint of the chunker that `text` names. Raises `InvalidStrategy`."""
    return str(load_module(_PACKAGE, parse_spec(text).name, "chunker").FINGERPRINT)
