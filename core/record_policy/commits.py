"""Rules of commits: which claims of one corpus they take, how a document's chunks change, and which synonyms are
pending.
"""

from collections.abc import Mapping, Sequence
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

    made: frozenset[str]
    changed: frozenset[str]
    kept: frozenset[str]
    deleted: frozenset[str]
    logged: frozenset[str]


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


def compare_chunks(before: Mapping[str, StoredChunk], after: Sequence[ChunkRow], *, is_hidden: bool) -> ChunkChanges:
    """Compares the stored chunks of a document, by id, with those of its new revision.

    `is_hidden`: the document is invisible, so that snapshots hold none of its chunks.
    """
    rows = {row.chunk.id: row for row in after}
    common = rows.keys() & before.keys()
    kept = {id for id in common if _has_same_contents(before[id], rows[id])}
    shown_otherwise = {id for id in kept if not _is_shown_alike(before[id], rows[id])}
    return ChunkChanges(
        made=frozenset(rows.keys() - before.keys()),
        changed=frozenset(common - kept),
        kept=frozenset(kept),
        deleted=frozenset(before.keys() - rows.keys()),
        logged=frozenset(rows.keys() if is_hidden else (rows.keys() - kept) | shown_otherwise),
    )


def joined_names(row: ChunkRow) -> str:
    """Returns `title_names` as one column."""
    return " ".join(row.title_names)


def _has_same_contents(before: StoredChunk, after: ChunkRow) -> bool:
    return bool(before["extract_hash"] == after.extract_hash and before["view_id"] == after.chunk.view_id)


def _is_shown_alike(before: StoredChunk, after: ChunkRow) -> bool:
    columns = (before["position"], before["title_names"], before["terms"])
    return columns == (after.chunk.position, joined_names(after), after.terms)
