"""Names of collections and filter expressions, made only of characters that need no escapes."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from core.errors import InvalidInput
from core.ports.views import VectorKind

__all__ = ["KEY_LENGTH", "batched", "collection_name", "is_key", "make_in_filter", "select_keys"]

KEY_LENGTH = 128
_PREFIX = "hopweave"
_KEY = re.compile(rf"[0-9A-Za-z_.:-]{{1,{KEY_LENGTH}}}", re.ASCII)
_CORPUS = re.compile(r"[0-9A-Za-z_]{1,128}", re.ASCII)


def collection_name(corpus_id: str, kind: VectorKind) -> str:
    """Returns the name of a collection. Its prefix avoids conflicts with other applications."""
    if not _CORPUS.fullmatch(corpus_id):
        raise InvalidInput(
            f"{corpus_id[:80]!r} cannot be part of the name of a Milvus collection: give the id of a corpus"
        )
    return f"{_PREFIX}_{corpus_id}_{kind}"


def is_key(value: str) -> bool:
    """Returns whether a row can have this id or document. Quotes and backslashes are not allowed."""
    return _KEY.fullmatch(value) is not None


def select_keys(values: Iterable[str]) -> list[str]:
    """Returns the values that a row can have, each once. No row has the others, so results do not change."""
    return [value for value in dict.fromkeys(values) if is_key(value)]


def make_in_filter(field: str, values: Sequence[str]) -> str:
    """Returns `field in [...]`. The values come from `select_keys` and need no escapes."""
    quoted = ",".join(f'"{value}"' for value in values)
    return f"{field} in [{quoted}]"


def batched(values: Iterable[str], size: int) -> Iterator[list[str]]:
    rest = iter(values)
    while part := list(islice(rest, size)):
        yield part
