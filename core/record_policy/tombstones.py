"""Rules of tombstones: their kinds of ids, when one is needless, and which of its ids are orphans."""

from collections.abc import Collection, Mapping

from core.documents import RevisionState
from core.ports.record.tombstones import Tombstone

__all__ = ["BLOCKING", "KINDS", "ids_of", "is_empty", "make_tombstone", "merge_ids", "without"]

KINDS = ("view_ids", "entity_ids", "triple_ids", "content_hashes")

BLOCKING = tuple(
    state.value
    for state in (RevisionState.QUEUED, RevisionState.LOADING, RevisionState.EXTRACTING, RevisionState.WRITING)
)
"""A tombstone is not due while a document that it was written for has a revision in one of these states: its worker
may write the same ids again.
"""


def ids_of(tombstone: Tombstone) -> dict[str, list[str]]:
    """Returns the ids of a tombstone by kind."""
    return {kind: list(getattr(tombstone, kind)) for kind in KINDS}


def is_empty(tombstone: Tombstone) -> bool:
    """Whether there is nothing to delete, so that the tombstone is not written."""
    return not any(ids_of(tombstone).values())


def make_tombstone(id: int, corpus_id: str, ids: Mapping[str, Collection[str]]) -> Tombstone:
    """The reverse of `ids_of`."""
    return Tombstone(id=id, corpus_id=corpus_id, **{kind: tuple(ids[kind]) for kind in KINDS})


def without(tombstone: Tombstone, named: Mapping[str, Collection[str]]) -> Tombstone:
    """Returns the tombstone without the ids that the record names, given by kind; the others keep their order."""
    left = {kind: [id for id in ids if id not in named[kind]] for kind, ids in ids_of(tombstone).items()}
    return make_tombstone(tombstone.id, tombstone.corpus_id, left)


def merge_ids(tombstones: Collection[Tombstone]) -> dict[str, list[str]]:
    """Returns the ids of several tombstones by kind, each once and ascending."""
    return {kind: sorted({id for one in tombstones for id in getattr(one, kind)}) for kind in KINDS}
