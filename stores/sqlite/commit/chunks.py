"""The rows of chunks, mentions and facts in a commit."""

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Set
from dataclasses import dataclass
from itertools import islice
from typing import Any

from core.graph import Mention
from core.ports.record import ChunkRow, Commit
from core.record_policy.commits import ChunkChanges, compare_chunks, joined_names
from stores.sqlite.commit.effects import SqliteCommitEffects
from stores.sqlite.database import Connection
from stores.sqlite.rows import id_list

__all__ = ["RevisionChanges", "delete_chunks", "insert_chunks", "insert_graph", "read_changes", "update_chunks"]

_SHOWN = ("position", "title_names", "terms", "page", "span_start", "span_end", "tokens")
"""The columns of a kept chunk that are written where they differ; most are where it stands.

Its text and heading are the same: the id of its view entries is a digest of them.
"""
_COMPARED = f"SELECT id, view_id, extract_hash, {', '.join(_SHOWN)} FROM chunks"
_ROWS_AT_ONCE = 512


@dataclass(frozen=True, kw_only=True)
class RevisionChanges:
    """`chunks` are how the chunks of a document change, `moved` the ids of the kept ones with columns to write."""

    chunks: ChunkChanges
    moved: Set[str]


def read_changes(
    cx: Connection, document_id: str, rows: Iterable[ChunkRow], effects: SqliteCommitEffects, *, is_hidden: bool
) -> RevisionChanges:
    """Compares the stored chunks of a document with the rows of its new revision, some rows at a time."""
    corpus_id, after = effects.corpus_id, iter(rows)
    listed = cx.execute("SELECT id FROM chunks WHERE corpus_id = ? AND document_id = ?", (corpus_id, document_id))
    deleted = {row["id"] for row in listed}
    is_new = not deleted
    made, changed, kept, logged, moved = set[str](), set[str](), set[str](), set[str](), set[str]()
    while some := list(islice(after, _ROWS_AT_ONCE)):
        before: dict[str, sqlite3.Row] = {}
        if not is_new:
            ids = id_list([row.chunk.id for row in some])
            where = "WHERE corpus_id = ? AND id IN (SELECT value FROM json_each(?))"
            before = {row["id"]: row for row in cx.execute(f"{_COMPARED} {where}", (corpus_id, ids))}
        part = compare_chunks(before, some, is_hidden=is_hidden)
        made |= part.made
        changed |= part.changed
        kept |= part.kept
        logged |= part.logged
        deleted -= before.keys()
        moved |= {
            id
            for id, row in ((row.chunk.id, row) for row in some)
            if id in part.kept and _shown(row) != tuple(before[id][column] for column in _SHOWN)
        }
    chunks = ChunkChanges(made=made, changed=changed, kept=kept, deleted=deleted, logged=logged)
    return RevisionChanges(chunks=chunks, moved=moved)


def delete_chunks(cx: Connection, ids: Collection[str], effects: SqliteCommitEffects) -> None:
    """Deletes chunks with their mentions and facts, and notes which entities and triples lose support."""
    if not ids:
        return
    values = (effects.corpus_id, id_list(ids))
    among = "corpus_id = ? AND chunk_id IN (SELECT value FROM json_each(?))"
    for row in cx.execute(f"SELECT entity_id, form, count FROM mentions WHERE {among}", values):
        effects.forms[row["entity_id"], row["form"]] -= row["count"]
    # Without the index's name, SQLite reads all triples of the corpus, since the other index has all that is asked for.
    triples = cx.execute(f"SELECT triple_id FROM facts INDEXED BY facts_by_chunk WHERE {among}", values)
    effects.triples |= {row["triple_id"] for row in triples}
    chunks = "corpus_id = ? AND id IN (SELECT value FROM json_each(?))"
    effects.old_views |= {row["view_id"] for row in cx.execute(f"SELECT view_id FROM chunks WHERE {chunks}", values)}
    cx.execute(f"DELETE FROM mentions WHERE {among}", values)
    cx.execute(f"DELETE FROM facts WHERE {among}", values)
    cx.execute(f"DELETE FROM chunks WHERE {chunks}", values)


def insert_chunks(cx: Connection, rows: Iterable[ChunkRow], effects: SqliteCommitEffects) -> None:
    """Writes the chunks of a revision that are new or changed."""
    cx.executemany(
        "INSERT OR REPLACE INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            (
                effects.corpus_id,
                row.chunk.id,
                row.chunk.document_id,
                row.chunk.view_id,
                row.chunk.position,
                joined_names(row),
                row.terms,
                row.chunk.text,
                row.chunk.heading,
                row.chunk.page,
                row.chunk.span.start if row.chunk.span else None,
                row.chunk.span.end if row.chunk.span else None,
                row.extract_hash,
                row.tokens,
            )
            for row in rows
        ),
    )


def update_chunks(cx: Connection, rows: Iterable[ChunkRow], effects: SqliteCommitEffects) -> None:
    """Writes where kept chunks stand now."""
    columns = ", ".join(f"{column} = ?" for column in _SHOWN)
    cx.executemany(
        f"UPDATE chunks SET {columns} WHERE corpus_id = ? AND id = ?",
        ((*_shown(row), effects.corpus_id, row.chunk.id) for row in rows),
    )


def _shown(row: ChunkRow) -> tuple[Any, ...]:
    """Returns the columns `_SHOWN` of a row."""
    span = row.chunk.span
    return (
        row.chunk.position,
        joined_names(row),
        row.terms,
        row.chunk.page,
        span.start if span else None,
        span.end if span else None,
        row.tokens,
    )


def insert_graph(cx: Connection, one: Commit, chunk_ids: Collection[str], effects: SqliteCommitEffects) -> None:
    """Inserts the mentions and facts of chunks that are new or changed. Those of the others are stored already."""
    cx.executemany(
        "INSERT OR REPLACE INTO mentions VALUES (?, ?, ?, ?, ?)", _mention_rows(one.mentions, chunk_ids, effects)
    )
    cx.executemany(
        "INSERT OR REPLACE INTO facts VALUES (?, ?, ?, ?, ?, ?, ?)",
        (
            (effects.corpus_id, f.id, f.triple_id, f.chunk_id, f.subject_id, f.predicate, f.object_id)
            for f in one.facts
            if f.chunk_id in chunk_ids
        ),
    )


def _mention_rows(
    mentions: Iterable[Mention], chunk_ids: Collection[str], effects: SqliteCommitEffects
) -> Iterator[tuple[str, str, str, str, int]]:
    """Yields the rows of the mentions of these chunks, and counts their effects."""
    for m in mentions:
        if m.chunk_id in chunk_ids:
            effects.forms[m.entity_id, m.form] += m.count
            effects.names[m.entity_id] = m.name
            yield effects.corpus_id, m.chunk_id, m.entity_id, m.form, m.count
