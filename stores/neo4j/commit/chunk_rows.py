"""Chunks, mentions and facts as the parameters of the statements that write them."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.graph import Fact, Mention
from core.ports.record import ChunkRow, Claim, Commit
from stores.neo4j.driver.database import Row
from stores.neo4j.driver.uids import document_uid, uid_of

__all__ = ["GraphPart", "chunk_rows", "differs", "fact_rows", "graph_part", "is_kept", "mention_rows", "properties"]

_ALWAYS_SAME = {"uid", "corpus_id", "id", "document_id", "text", "first", "last"}


@dataclass(frozen=True, kw_only=True)
class GraphPart:
    """What some chunks mention and assert, each row once."""

    mentions: Sequence[Mention]
    facts: Sequence[Fact]

    @property
    def ends(self) -> set[str]:
        return {id for fact in self.facts for id in (fact.subject_id, fact.object_id)}


def graph_part(one: Commit, chunks: Collection[str]) -> GraphPart:
    """The mentions and facts of some of a commit's chunks; of what is given twice the last counts."""
    mentions = {(m.chunk_id, m.entity_id, m.form): m for m in one.mentions if m.chunk_id in chunks}
    facts = {f.id: f for f in one.facts if f.chunk_id in chunks}
    return GraphPart(mentions=list(mentions.values()), facts=list(facts.values()))


def properties(corpus_id: str, row: ChunkRow) -> dict[str, Any]:
    """A chunk's properties, without the revisions that it belongs to."""
    chunk = row.chunk
    return {
        "uid": uid_of(corpus_id, chunk.id),
        "corpus_id": corpus_id,
        "id": chunk.id,
        "document_id": chunk.document_id,
        "view_id": chunk.view_id,
        "view_uid": uid_of(corpus_id, chunk.view_id),
        "position": chunk.position,
        "title_names": " ".join(row.title_names),
        "terms": row.terms,
        "text": chunk.text,
        "heading": chunk.heading,
        "page": chunk.page,
        "span_start": chunk.span.start if chunk.span else None,
        "span_end": chunk.span.end if chunk.span else None,
        "extract_hash": row.extract_hash,
        "tokens": row.tokens,
    }


def is_kept(before: Row, row: ChunkRow) -> bool:
    """Whether the graph and the view entries of a chunk that is there are still right."""
    return bool(before["extract_hash"] == row.extract_hash and before["view_id"] == row.chunk.view_id)


def differs(before: Row, after: Mapping[str, Any]) -> dict[str, Any]:
    """The properties of a chunk that is there that are to be written."""
    return {name: value for name, value in after.items() if name not in _ALWAYS_SAME and before.get(name) != value}


def chunk_rows(claim: Claim, rows: Iterable[ChunkRow], suffix: str = "") -> list[dict[str, Any]]:
    """New chunks, which belong to the claim's revision and later ones. `suffix` ends their uids."""
    document = document_uid(claim)
    made = [properties(claim.corpus_id, row) for row in rows]
    return [
        {"document": document, "chunk": {**chunk, "uid": chunk["uid"] + suffix, "first": claim.revision}}
        for chunk in made
    ]


def mention_rows(part: GraphPart) -> list[list[Any]]:
    """One for each chunk and entity, with all forms."""
    forms: dict[tuple[str, str], list[Mention]] = {}
    for mention in part.mentions:
        forms.setdefault((mention.chunk_id, mention.entity_id), []).append(mention)
    return [
        [chunk, entity, [mention.form for mention in mentions], [mention.count for mention in mentions]]
        for (chunk, entity), mentions in forms.items()
    ]


def fact_rows(document_id: str, part: GraphPart) -> list[list[str]]:
    return [[f.id, f.triple_id, f.chunk_id, document_id, f.subject_id, f.predicate, f.object_id] for f in part.facts]
