"""Lookup of entities by name: exact, or without case, diacritics and punctuation."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from retrieval.graph.columns import Ids
from retrieval.graph.positions import find_positions

__all__ = ["NameIndex", "build_name_index", "fold_name"]

_MARKS = re.compile(r"[\u0300-\u036f]")
_SYMBOLS = re.compile(r"(?<=[^\W_])(?:\+\+|[+#](?!\w))|[^\W_]|[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
_ASCII = re.compile(r"[a-z0-9]+(?: [a-z0-9]+)*")
_LONG = 6


@dataclass(frozen=True, kw_only=True)
class NameIndex:
    """Entities by their folded names (`fold_name`).

    `names` are the names of the entities in their order, then further names of some of them: those of the entities that
    are merged into them. `entity_of` has the entity of each name. `hashes` are beside the names, and the same in every
    process; `order` sorts them.
    """

    names: NDArray[np.object_]
    entity_of: NDArray[np.int32]
    hashes: NDArray[np.int64]
    order: NDArray[np.int64]

    def known(self, keys: Sequence[str]) -> NDArray[np.bool_]:
        """Returns the mask of the keys that an entity has. Hashes are compared, so a false positive is possible."""
        hashes = np.array([_hash(key) for key in keys], np.int64)
        return find_positions(self.hashes, hashes, self.order) >= 0

    def entities(self, key: str) -> list[int]:
        """Returns all entities with this key, ascending."""
        return sorted({int(self.entity_of[i]) for i in self._places(key)})

    def find_exact(self, key: str, name: str) -> list[int]:
        """Returns the entities with this normalised name, whose key is `key`, ascending."""
        return sorted({int(self.entity_of[i]) for i in self._places(key) if self.names[i] == name})

    def _places(self, key: str) -> list[int]:
        """Returns the places of the names with this key."""
        ends = [np.searchsorted(self.hashes, _hash(key), side=side, sorter=self.order) for side in ("left", "right")]
        return [int(i) for i in self.order[slice(*ends)] if fold_name(self.names[i]) == key]


def build_name_index(
    names: NDArray[np.object_],
    ids: Ids | None = None,
    old: tuple[NameIndex, Ids] | None = None,
    others: Iterable[tuple[int, str]] = (),
) -> NameIndex:
    """Returns the index of these names, and of further names of entities, `others`.

    Entities that `old` (an index with its entities' ids) holds keep their hashes, so that only new names are folded.
    """
    hashes = np.zeros(len(names), np.int64)
    fresh = np.ones(len(names), np.bool_)
    if old is not None and ids is not None:
        at = find_positions(old[1], ids)
        fresh = at < 0
        hashes[~fresh] = old[0].hashes[at[~fresh]]
    hashes[fresh] = [_hash(fold_name(name)) for name in names[fresh]]
    entity_of = np.arange(len(names), dtype=np.int32)
    if further := list(others):
        added = np.empty(len(further), np.object_)
        added[:] = [name for _, name in further]
        names = np.concatenate([names, added])
        entity_of = np.concatenate([entity_of, np.array([entity for entity, _ in further], np.int32)])
        hashes = np.concatenate([hashes, np.array([_hash(fold_name(name)) for _, name in further], np.int64)])
    return NameIndex(names=names, entity_of=entity_of, hashes=hashes, order=np.argsort(hashes, kind="stable"))


def fold_name(name: str) -> str:
    """Returns what different spellings of a name share: no case, diacritics, punctuation, nor "the" before a longer
    name.

    `+` and `#` after a letter are kept: C++ is not C#.
    """
    key = name.casefold()
    if not _ASCII.fullmatch(key):
        key = unicodedata.normalize("NFC", _MARKS.sub("", unicodedata.normalize("NFKD", key))).casefold()
        key = " ".join(_keep_symbols(key).split()) or key
    return key[4:] if len(key) > _LONG + 4 and key.startswith("the ") else key


def _hash(key: str) -> int:
    return int.from_bytes(blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little", signed=True)


def _keep_symbols(text: str) -> str:
    out, end = [], 0
    for match in _SYMBOLS.finditer(text):
        if match.start() > end:
            out.append(" ")
        out.append(match.group())
        end = match.end()
    return "".join(out)
