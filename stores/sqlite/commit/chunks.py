"""The rows of chunks, mentions and facts in a commit."""

import sqlite3
from collections.abc import Collection, Iterable, Set
from dataclasses import dataclass
from itertools import islice
from typing import Any

from core.ports.record import ChunkRow, Commit
from core.record_policy.commits import ChunkChanges, compare_chunks, joined_names
from stores.sqlite.commit.effects import SqliteCommitEffects
from stores.sqlite.compression import pack_terms, pack_text
from stores.sqlite.database import Connection
from stores.sqlite.rows import id_list, marks
from stores.sqlite.short_values import pack_hash, pack_ids

__all__ = ["RevisionChanges", "add_graph", "delete_chunks", "insert_chunks", "read_changes", "update_chunks"]

_SHOWN = ("position", "title_names", "terms", "page", "span_start", "span_end", "tokens")
"""The columns of a kept chunk that are written where they differ; most are where it stands.

Its text and heading are the same: the id of its view entries is a digest of them.
"""
_COMPARED = f"SELECT id, view_id, extract_hash, {', '.join(_SHOWN)} FROM chunks"
_COLUMNS = (
    "corpus, id, document, view_id, position, title_names, terms, text, heading, page, span_start, span_end, "
    "extract_hash, tokens"
)
_PACKED = {"terms": "pack_terms(?)", "title_names": "pack_ids(?)"}
_ROWS_AT_ONCE = 512


@dataclass(frozen=True, kw_only=True)
class RevisionChanges:
    """`chunks` are how the chunks of a document change, `moved` the ids of the kept ones with columns to write."""

    chunks: ChunkChanges
    moved: Set[str]


def read_changes(
    cx: Connection, document: int, rows: Iterable[ChunkRow], effects: SqliteCommitEffects, *, is_hidden: bool
) -> RevisionChanges:
    """Compares the stored chunks of the document with this number with the rows of its new revision, some at a time."""
    corpus_id, after = effects.corpus_id, iter(rows)
    listed = cx.execute("SELECT id FROM chunk_rows WHERE document = ?", (document,))
    deleted = {row["id"].hex() for row in listed}
    is_new = not deleted
    made, changed, kept, logged, moved = set[str](), set[str](), set[str](), set[str](), set[str]()
    while some := list(islice(after, _ROWS_AT_ONCE)):
        before: dict[str, sqlite3.Row] = {}
        if not is_new:
            ids = id_list([row.chunk.id for row in some])
            where = "WHERE corpus_id = ? AND raw_id IN (SELECT from_hex(value) FROM json_each(?))"
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
    values = (effects.corpus, id_list(ids))
    chunks = "SELECT number FROM chunk_rows WHERE corpus = ? AND id IN (SELECT from_hex(value) FROM json_each(?))"
    mentions = f"""
        SELECT e.id, f.form, m.count FROM mention_rows m JOIN form_rows f ON f.number = m.form
        JOIN entity_rows e ON e.number = f.entity WHERE m.chunk IN ({chunks})
    """
    for entity_id, form, count in cx.execute(mentions, values):
        effects.forms[entity_id.hex(), form] -= count
    facts = cx.execute(f"SELECT triple FROM fact_rows WHERE chunk IN ({chunks})", values)
    effects.triples |= {row["triple"].hex() for row in facts}
    views = cx.execute(f"SELECT view_id FROM chunk_rows WHERE number IN ({chunks})", values)
    effects.old_views |= {row["view_id"].hex() for row in views}
    cx.execute(f"DELETE FROM mention_rows WHERE chunk IN ({chunks})", values)
    cx.execute(f"DELETE FROM fact_rows WHERE chunk IN ({chunks})", values)
    cx.execute(f"DELETE FROM chunk_rows WHERE number IN ({chunks})", values)


def insert_chunks(cx: Connection, document: int, rows: Iterable[ChunkRow], effects: SqliteCommitEffects) -> None:
    """Writes the chunks of a revision that are new or changed. `document` is the number."""
    cx.executemany(
        f"INSERT OR REPLACE INTO chunk_rows ({_COLUMNS}) VALUES ({marks(_COLUMNS.split())})",
        (
            (
                effects.corpus,
                bytes.fromhex(row.chunk.id),
                document,
                bytes.fromhex(row.chunk.view_id),
                row.chunk.position,
                pack_ids(joined_names(row)),
                pack_terms(row.terms),
                pack_text(row.chunk.text),
                row.chunk.heading,
                row.chunk.page,
                row.chunk.span.start if row.chunk.span else None,
                row.chunk.span.end if row.chunk.span else None,
                pack_hash(row.extract_hash),
                row.tokens,
            )
            for row in rows
        ),
    )


def update_chunks(cx: Connection, rows: Iterable[ChunkRow], effects: SqliteCommitEffects) -> None:
    """Writes where kept chunks stand now."""
    columns = ", ".join(f"{column} = {_PACKED.get(column, '?')}" for column in _SHOWN)
    cx.executemany(
        f"UPDATE chunk_rows SET {columns} WHERE corpus = ? AND id = from_hex(?)",
        ((*_shown(row), effects.corpus, row.chunk.id) for row in rows),
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


def add_graph(one: Commit, chunk_ids: Collection[str], effects: SqliteCommitEffects) -> None:
    """Adds the mentions and facts of chunks that are new or changed. Those of the others are stored already."""
    for m in one.mentions:
        if m.chunk_id in chunk_ids:
            effects.forms[m.entity_id, m.form] += m.count
            effects.names[m.entity_id] = m.name
            effects.mentions.append(m)
    effects.facts += [fact for fact in one.facts if fact.chunk_id in chunk_ids]
