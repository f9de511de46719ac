"""Rules of commits: which claims of one corpus they take, how a document's chunks change, and which synonyms are
pending.
"""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Protocol

from core.errors import InvalidInput
from core.ports.record.commits import ChunkRow, Commit

__all__ = ["ChunkChanges", "StoredChunk", "check_one_corpus", "compare_chunks", "joined_names", "misses_entities"]


class StoredChunk(Protocol):
    """The row of a stored chunk with the columns `extract_hash`, `view_id`, `position`, `title_names` and `terms`."""

    def __getitem__(self, column: str, /) -> Any: ...


@dataclass(frozen=True, kw_only=True)
class ChunkChanges:
    """How the chunks of a document change, by ids.

    The mentions, facts and view entries of `kept` chunks stay as they are; those of `changed` and `deleted` ones are
    deleted, and those of `changed` and `made` ones inserted. `logged` are the chunks that snapshots have to read again.
    """

    made: AbstractSet[str]
    changed: AbstractSet[str]
    kept: AbstractSet[str]
    deleted: AbstractSet[str]
    logged: AbstractSet[str]


def check_one_corpus(commits: Sequence[Commit]) -> str:
    """Returns the id of the corpus. Raises `InvalidInput` if there is none, or more than one."""
    corpora = {one.claim.corpus_id for one in commits}
    if len(corpora) != 1:
        raise InvalidInput("a commit takes revisions of one corpus, and at least one")
    return corpora.pop()


def misses_entities(seen: int | None, generation: int) -> bool:
    """Whether the search for synonyms may have missed entities of other commits.

    `seen` is the generation before the search (None: there was none), `generation` that before this commit.
    """
    return seen is not None and generation != seen


def compare_chunks(before: Mapping[str, StoredChunk], after: Iterable[ChunkRow], *, is_hidden: bool) -> ChunkChanges:
    """Compares the stored chunks of a document, by id, with those of its new revision, which are read once.

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
