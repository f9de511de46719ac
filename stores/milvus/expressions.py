"""Names and filters for Milvus, made only of what cannot mean anything else in them."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from core.errors import InvalidInput
from core.ports.views import VectorKind

__all__ = ["KEY_LENGTH", "batched", "collection_name", "is_key", "listed", "usable"]

KEY_LENGTH = 128
_PREFIX = "hopweave"
_KEY = re.compile(rf"[0-9A-Za-z_.:-]{{1,{KEY_LENGTH}}}", re.ASCII)
_CORPUS = re.compile(r"[0-9A-Za-z_]{1,128}", re.ASCII)


def collection_name(corpus_id: str, kind: VectorKind) -> str:
    """The prefix keeps Hopweave away from the collections of other applications."""
    if not _CORPUS.fullmatch(corpus_id):
        raise InvalidInput(f"{corpus_id[:80]!r} cannot be part of a Milvus collection's name: give a corpus' id")
    return f"{_PREFIX}_{corpus_id}_{kind}"


def is_key(value: str) -> bool:
    """Whether a row can have this id or document at all: no row's has quotes or backslashes."""
    return _KEY.fullmatch(value) is not None


def usable(values: Iterable[str]) -> list[str]:
    """Those that a row can have, each once; no row has the others, so that leaving them out changes no answer."""
    return [value for value in dict.fromkeys(values) if is_key(value)]


def listed(field: str, values: Sequence[str]) -> str:
    """`field in [...]`; the values are `usable` ones, which need no escapes."""
    quoted = ",".join(f'"{value}"' for value in values)
    return f"{field} in [{quoted}]"


def batched(values: Iterable[str], size: int) -> Iterator[list[str]]:
    rest = iter(values)
    while part := list(islice(rest, size)):
        yield part
