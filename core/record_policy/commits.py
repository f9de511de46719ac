"""Rules of commits: which claims of one corpus they take, how a document's chunks change, and which synonyms are
pending.

Then come the rules of what commits leave to others: tombstones, with their kinds of ids, and the change log, by which
snapshots follow a corpus.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Protocol

from core.documents import RevisionState
from core.errors import InvalidInput
from core.ports.record.commits import ChunkRow, Commit, Tombstone


class StoredChunk(Protocol):
    """The row of a stored chunk with the columns `extract_hash`, `view_id`, `position`, `title_names` and `terms`."""

    def __getitem__(self, column: str, /) -> Any: ...


@dataclass(frozen=True, kw_only=True)
class ChunkChanges:
    """How the chunks of a document change, by ids.

    The mentions, facts and view entries of `kept` chunks stay as they are; of `changed` and `deleted` chunks they are
    deleted, and of `changed` and `made` chunks inserted. `logged` are the chunks that snapshots have to read again.
    """

    made: AbstractSet[str]
    changed: AbstractSet[str]
    kept: AbstractSet[str]
    deleted: AbstractSet[str]
    logged: AbstractSet[str]


def check_one_corpus(commits: Sequence[Commit]) -> str:
    """Returns the id of the corpus. Raises `InvalidInput` if there is none, or more than one."""
    corpora = {commit.claim.corpus_id for commit in commits}
    if len(corpora) != 1:
        raise InvalidInput("a commit takes revisions of one corpus, and at least one")
    return corpora.pop()


def misses_entities(seen: int | None, generation: int) -> bool:
    """Whether the search for synonyms may have missed entities of other commits.

    `seen` is the generation before the search (None: there was none), `generation` the generation before this commit.
    """
    return seen is not None and generation != seen


def compare_chunks(before: Mapping[str, StoredChunk], after: Iterable[ChunkRow], *, is_hidden: bool) -> ChunkChanges:
    """Compares the stored chunks of a document, by id, with the chunks of its new revision, which are read once.

    `is_hidden`: the document is invisible, so that snapshots hold none of its chunks.
    """
    made, changed, kept, logged = set[str](), set[str](), set[str](), set[str]()
    for row in after:
        id = row.chunk.id
        stored = before.get(id)
        if stored is None:
            made.add(id)
        elif _has_same_contents(stored, row):
            kept.add(id)
        else:
            changed.add(id)
        if is_hidden or id not in kept or (stored is not None and not _is_shown_alike(stored, row)):
            logged.add(id)
    deleted = before.keys() - kept - changed
    return ChunkChanges(made=made, changed=changed, kept=kept, deleted=deleted, logged=logged)


def joined_names(row: ChunkRow) -> str:
    """Returns `title_names` as one column."""
    return " ".join(row.title_names)


def _has_same_contents(before: StoredChunk, after: ChunkRow) -> bool:
    return bool(before["extract_hash"] == after.extract_hash and before["view_id"] == after.chunk.view_id)


def _is_shown_alike(before: StoredChunk, after: ChunkRow) -> bool:
    columns = (before["position"], before["title_names"], before["terms"])
    return columns == (after.chunk.position, joined_names(after), after.terms)


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
    """Returns a tombstone of these ids by kind."""
    return Tombstone(id=id, corpus_id=corpus_id, **{kind: tuple(ids[kind]) for kind in KINDS})


def without(tombstone: Tombstone, named: Mapping[str, Collection[str]]) -> Tombstone:
    """Returns the tombstone without the ids that the record names, given by kind; the others keep their order."""
    left = {kind: [id for id in ids if id not in named[kind]] for kind, ids in ids_of(tombstone).items()}
    return make_tombstone(tombstone.id, tombstone.corpus_id, left)


def merge_ids(tombstones: Collection[Tombstone]) -> dict[str, list[str]]:
    """Returns the ids of several tombstones by kind, each once and ascending."""
    return {kind: sorted({id for tombstone in tombstones for id in getattr(tombstone, kind)}) for kind in KINDS}


KEPT_SECONDS = 3600
"""Rows of the change log are deleted after this time."""


def is_covered(since: int, *, deleted_up_to: int, generation: int) -> bool:
    """Whether the log holds every change after the generation `since`.

    `deleted_up_to` is the newest generation whose rows are deleted, `generation` the current one.
    """
    return deleted_up_to <= since <= generation
