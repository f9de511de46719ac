"""Rows in: chunks with what they mention and assert, gathered from many documents and written in batches."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

from core.ports.record import ChunkRow, Commit
from stores.neo4j.commit.chunk_rows import chunk_rows, fact_rows, graph_part, mention_rows
from stores.neo4j.commit.effects import Effects
from stores.neo4j.commit.entities import count_forms
from stores.neo4j.driver.database import Transaction
from stores.neo4j.driver.statements import statements

__all__ = ["Arrivals"]


@dataclass
class Arrivals:
    """What `add` gathers, `write` writes; `moved` are properties of chunks that are there.
    `suffix` ends the uids of new chunks and facts.
    """

    effects: Effects
    suffix: str = ""
    chunks: list[dict[str, Any]] = field(default_factory=list)
    mentions: list[list[Any]] = field(default_factory=list)
    facts: list[list[str]] = field(default_factory=list)
    moved: list[Mapping[str, Any]] = field(default_factory=list)
    ends: set[str] = field(default_factory=set)

    def add(self, one: Commit, *, made: Sequence[ChunkRow], changed: Sequence[ChunkRow]) -> None:
        """`made` are chunks to create, `changed` ones that are there; the graph of both is new."""
        part = graph_part(one, {row.chunk.id for row in (*made, *changed)})
        self.chunks += chunk_rows(one.claim, made, self.suffix)
        self.mentions += mention_rows(part)
        self.facts += fact_rows(one.claim.document_id, part)
        self.ends |= part.ends
        for mention in part.mentions:
            self.effects.forms[mention.entity_id, mention.form] += mention.count
            self.effects.names[mention.entity_id] = mention.name

    def write(self, tx: Transaction) -> list[str]:
        """Returns the entities that have lost their last form, for what went before counts in their support, too."""
        dead = count_forms(tx, self.effects, self.ends)
        commits = statements("commits")
        ends = {"corpus_id": self.effects.corpus_id, "suffix": self.suffix}
        tx.run_batches(commits["create_chunks"], sorted(self.chunks, key=lambda row: str(row["chunk"]["uid"])))
        tx.run_batches(commits["update_chunks"], sorted(self.moved, key=lambda row: str(row["uid"])))
        tx.run_batches(commits["create_mentions"], sorted(self.mentions, key=itemgetter(0, 1)), **ends)
        tx.run_batches(commits["create_facts"], sorted(self.facts), **ends)
        return dead
