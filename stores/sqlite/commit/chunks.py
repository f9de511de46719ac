"""The rows of chunks, mentions and facts in a commit."""

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Mapping

from core.graph import Mention
from core.ports.record import ChunkRow, Commit
from core.record_policy.commits import joined_names
from stores.sqlite.commit.effects import SqliteCommitEffects
from stores.sqlite.database import Connection
from stores.sqlite.rows import id_list

__all__ = ["COMPARED", "delete_chunks", "insert_chunks", "insert_graph", "update_chunks"]

COMPARED = ("position", "title_names", "terms", "text", "heading", "page", "span_start", "span_end", "tokens")
"""The columns of a kept chunk that are written where they differ; most are where it stands."""


def delete_chunks(cx: Connection, ids: Collection[str], effects: SqliteCommitEffects) -> None:
    """Deletes chunks with their mentions and facts, and notes which entities and triples lose support."""
    values = (effects.corpus_id, id_list(ids))
    among = "corpus_id = ? AND chunk_id IN (SELECT value FROM json_each(?))"
    for row in cx.execute(f"SELECT entity_id, form, count FROM mentions WHERE {among}", values):
        effects.forms[row["entity_id"], row["form"]] -= row["count"]
    effects.triples |= {row["triple_id"] for row in cx.execute(f"SELECT triple_id FROM facts WHERE {among}", values)}
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


def update_chunks(
    cx: Connection, rows: Iterable[ChunkRow], stored: Mapping[str, sqlite3.Row], effects: SqliteCommitEffects
) -> None:
    """Writes what differs in chunks that are kept: they may have moved. `stored` are all of the document, by id."""
    changes = []
    for row in rows:
        before, span = stored[row.chunk.id], row.chunk.span
        after = (
            row.chunk.position,
            joined_names(row),
            row.terms,
            row.chunk.text,
            row.chunk.heading,
            row.chunk.page,
            span.start if span else None,
            span.end if span else None,
            row.tokens,
        )
        if after != tuple(before[column] for column in COMPARED):
            changes.append((*after, effects.corpus_id, row.chunk.id))
    columns = ", ".join(f"{column} = ?" for column in COMPARED)
    cx.executemany(f"UPDATE chunks SET {columns} WHERE corpus_id = ? AND id = ?", changes)


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
