"""The names of the entities of a snapshot: one text that a file can hold, and an index by hash.

A name is looked up exactly, or without case, diacritics and punctuation.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from retrieval.graph.arrays import Ids, Places, find_positions
from retrieval.graph.terms import copy_runs, make_offsets

_MARKS = re.compile(r"[\u0300-\u036f]")
_SYMBOLS = re.compile(r"(?<=[^\W_])(?:\+\+|[+#](?!\w))|[^\W_]|[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
_ASCII = re.compile(r"[a-z0-9]+(?: [a-z0-9]+)*")
_LONG = 6


@dataclass(frozen=True, kw_only=True)
class Names:
    """Names in UTF-8, one after the other: name i is `text[offsets[i]:offsets[i + 1]]`."""

    offsets: Places
    text: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, at: int) -> str:
        return self.text[self.offsets[at] : self.offsets[at + 1]].tobytes().decode("utf-8", "surrogatepass")

    def __iter__(self) -> Iterator[str]:
        """Reads all names, each when it is its turn."""
        return (self[at] for at in range(len(self)))

    def take(self, at: Iterable[int]) -> list[str]:
        return [self[int(one)] for one in at]

    def select(self, kept: NDArray[np.bool_]) -> "Names":
        """Returns the names whose mask is True."""
        if kept.all():
            return self
        edges = self.offsets[np.flatnonzero(np.diff(kept, prepend=False, append=False))]
        runs = [self.text[start:end] for start, end in edges.reshape(-1, 2).tolist()]
        return Names(offsets=make_offsets(np.diff(self.offsets)[kept]), text=np.concatenate([self.text[:0], *runs]))


@dataclass(frozen=True, kw_only=True)
class NameIndex:
    """Entities by their folded names (`fold_name`).

    `names` are the names of the entities in their order, then the names of the entities that are merged into them.
    `entity_of` has the entity of each name. `hashes` has the hash of each name, the same in every process; `order`
    sorts them. `added` is the index of entities that came later, and `gone` are entities of this index that are not
    there any more.
    """

    names: Names
    entity_of: NDArray[np.int32]
    hashes: NDArray[np.int64]
    order: NDArray[np.int64]
    added: "NameIndex | None" = None
    gone: frozenset[int] = frozenset()

    def known(self, keys: Sequence[str]) -> NDArray[np.bool_]:
        """Returns the mask of the keys that an entity has. Hashes are compared, so a false positive is possible."""
        found = find_positions(self.hashes, np.array([_hash(key) for key in keys], np.int64), self.order) >= 0
        return found if self.added is None else found | self.added.known(keys)

    def entities(self, key: str) -> list[int]:
        """Returns all entities with this key, ascending."""
        return sorted(set(self.list_entities(key, None)))

    def find_exact(self, key: str, name: str) -> list[int]:
        """Returns the entities with this normalised name, whose key is `key`, ascending."""
        return sorted(set(self.list_entities(key, name)))

    def list_names(self) -> Iterator[tuple[int, str]]:
        """Reads all names, each with its entity."""
        there = (pair for pair in zip(self.entity_of.tolist(), self.names, strict=True) if pair[0] not in self.gone)
        return there if self.added is None else chain(there, self.added.list_names())

    def list_entities(self, key: str, name: str | None) -> Iterator[int]:
        """Returns the entities with this key, and with this name unless it is None."""
        ends = [np.searchsorted(self.hashes, _hash(key), side=side, sorter=self.order) for side in ("left", "right")]
        for place in self.order[slice(*ends)].tolist():
            entity, present = int(self.entity_of[place]), self.names[place]
            if entity not in self.gone and (fold_name(present) == key if name is None else present == name):
                yield entity
        if self.added is not None:
            yield from self.added.list_entities(key, name)


def build_name_index(
    names: Names,
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
    hashes[fresh] = [_hash(fold_name(names[at])) for at in np.flatnonzero(fresh).tolist()]
    entity_of = np.arange(len(names), dtype=np.int32)
    if further := list(others):
        size = len(names)
        places = np.arange(size + len(further), dtype=np.int32)
        names = merge_names(len(places), (places[:size], names), (places[size:], pack_names(n for _, n in further)))
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


def pack_names(names: Iterable[str]) -> Names:
    encoded = [name.encode("utf-8", "surrogatepass") for name in names]
    return Names(
        offsets=make_offsets(np.fromiter(map(len, encoded), np.int64, len(encoded))),
        text=np.frombuffer(bytearray().join(encoded), np.uint8),
    )


def merge_names(size: int, *parts: tuple[NDArray[np.int32], Names]) -> Names:
    """Returns `size` names; each part has the positions of its names, ascending. A later part replaces an earlier."""
    counts = np.zeros(size, np.int64)
    for at, part in parts:
        counts[at] = np.diff(part.offsets)
    offsets = make_offsets(counts)
    text = np.empty(offsets[-1], np.uint8)
    for at, part in parts:
        same = np.diff(part.offsets) == counts[at]
        copy_runs(text, offsets, at[same], part.text, part.offsets, np.flatnonzero(same))
    return Names(offsets=offsets, text=text)
