"""Inserting chunks with their mentions, facts and NEXT relationships, of many documents in few statements."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from operator import itemgetter
from typing import Any

from core.graph import Fact, Mention
from core.ports.record import ChunkRow, Claim, Commit
from stores.neo4j.commit.changes import Change, chunk_properties
from stores.neo4j.commit.entities import Neo4jCommitEffects, update_entities
from stores.neo4j.driver.database import Transaction
from stores.neo4j.driver.node_uids import document_uid, uid_of
from stores.neo4j.driver.statements import statements

__all__ = ["Pair", "insert_changes", "insert_chunks", "link_chunks", "write_links"]

Pair = tuple[str, str]
"""The uids of two consecutive chunks."""


def insert_changes(tx: Transaction, changes: Sequence[Change], effects: Neo4jCommitEffects) -> list[str]:
    """Inserts the new chunks of revisions, updates the stored ones, and inserts the graph of new and changed ones.

    Returns the ids of the entities that have lost their last form. These include the ones that lost it by deletions
    that `effects` counts.
    """
    rows = _Rows(effects)
    for one in changes:
        rows.add(one.commit, new=one.new, changed=one.changed)
        rows.updates += [*one.updates, *(chunk_properties(effects.corpus_id, row) for row in one.changed)]
        effects.view_ids -= {row.chunk.view_id for row in one.changed}
        effects.written |= one.written
    return rows.write(tx)


def insert_chunks(
    tx: Transaction, one: Commit, chunks: Sequence[ChunkRow], suffix: str, effects: Neo4jCommitEffects
) -> None:
    """Inserts some chunks of a revision with their graph. `suffix` ends the uids of the chunks and facts."""
    rows = _Rows(effects, suffix)
    rows.add(one, new=chunks, changed=())
    rows.write(tx)


def link_chunks(tx: Transaction, changes: Sequence[Change]) -> None:
    """Makes the NEXT relationships of documents follow the order of their chunks."""
    uids = sorted(one.uid for one in changes if one.current is not None)
    stored = {(row["first"], row["second"]) for row in tx.rows_in_batches(statements("commits")["links"], uids)}
    wanted = {pair for one in changes for pair in _links(one.commit)}
    write_links(tx, wrong=stored - wanted, missing=wanted - stored)


def write_links(tx: Transaction, *, wrong: Iterable[Pair], missing: Iterable[Pair]) -> None:
    """Deletes and creates NEXT relationships."""
    for name, pairs in (("delete_links", wrong), ("create_links", missing)):
        tx.run_batches(statements("commits")[name], [{"first": a, "second": b} for a, b in sorted(pairs)])


def _links(one: Commit) -> set[Pair]:
    ordered = sorted(one.chunks, key=lambda row: row.chunk.position)
    return set(pairwise(uid_of(one.claim.corpus_id, row.chunk.id) for row in ordered))


@dataclass
class _Rows:
    """The parameters of the statements: `add` collects them, `write` runs the statements.

    `suffix` ends the uids of new chunks and facts. `updates` are properties of stored chunks. `ends` are the subjects
    and objects of the facts.
    """

    effects: Neo4jCommitEffects
    suffix: str = ""
    chunks: list[dict[str, Any]] = field(default_factory=list)
    updates: list[Mapping[str, Any]] = field(default_factory=list)
    mentions: list[list[Any]] = field(default_factory=list)
    facts: list[list[str]] = field(default_factory=list)
    ends: set[str] = field(default_factory=set)

    def add(self, one: Commit, *, new: Sequence[ChunkRow], changed: Sequence[ChunkRow]) -> None:
        """Adds the chunks `new`, and the graph of the chunks `new` and `changed`.

        If a mention or a fact is given twice, the last one counts.
        """
        ids = {row.chunk.id for row in (*new, *changed)}
        mentions = {(m.chunk_id, m.entity_id, m.form): m for m in one.mentions if m.chunk_id in ids}
        facts = {f.id: f for f in one.facts if f.chunk_id in ids}
        self.chunks += _chunk_rows(one.claim, new, self.suffix)
        self.mentions += _mention_rows(mentions.values())
        self.facts += _fact_rows(one.claim.document_id, facts.values())
        self.ends |= {id for fact in facts.values() for id in (fact.subject_id, fact.object_id)}
        for mention in mentions.values():
            self.effects.forms[mention.entity_id, mention.form] += mention.count
            self.effects.names[mention.entity_id] = mention.name

    def write(self, tx: Transaction) -> list[str]:
        """Returns the ids of the entities that have lost their last form."""
        formless = update_entities(tx, self.effects, self.ends)
        commits = statements("commits")
        ends = {"corpus_id": self.effects.corpus_id, "suffix": self.suffix}
        tx.run_batches(commits["create_chunks"], sorted(self.chunks, key=lambda row: str(row["chunk"]["uid"])))
        tx.run_batches(commits["update_chunks"], sorted(self.updates, key=lambda row: str(row["uid"])))
        tx.run_batches(commits["create_mentions"], sorted(self.mentions, key=itemgetter(0, 1)), **ends)
        tx.run_batches(commits["create_facts"], sorted(self.facts), **ends)
        return formless


def _chunk_rows(claim: Claim, rows: Iterable[ChunkRow], suffix: str) -> list[dict[str, Any]]:
    """Returns new chunks, which belong to the claimed revision and to later ones."""
    document = document_uid(claim)
    chunks = [chunk_properties(claim.corpus_id, row) for row in rows]
    return [
        {"document": document, "chunk": {**chunk, "uid": chunk["uid"] + suffix, "first": claim.revision}}
        for chunk in chunks
    ]


def _mention_rows(mentions: Collection[Mention]) -> list[list[Any]]:
    """Returns one row for each pair of a chunk and an entity, with all forms."""
    forms: dict[tuple[str, str], list[Mention]] = {}
    for mention in mentions:
        forms.setdefault((mention.chunk_id, mention.entity_id), []).append(mention)
    return [
        [chunk, entity, [mention.form for mention in some], [mention.count for mention in some]]
        for (chunk, entity), some in forms.items()
    ]


def _fact_rows(document_id: str, facts: Collection[Fact]) -> list[list[str]]:
    return [[f.id, f.triple_id, f.chunk_id, document_id, f.subject_id, f.predicate, f.object_id] for f in facts]
