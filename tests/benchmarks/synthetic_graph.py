"""A graph of any size, shaped like a corpus of passages, written straight into Neo4j."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from core.ids import assertion_id, chunk_id, document_id, entity_id, triple_id, view_id
from core.text.terms import TERM
from stores.neo4j.driver.database import Neo4jDatabase
from stores.neo4j.driver.transaction import Transaction, batches
from stores.neo4j.record.change_log import log_changes, raise_generation

__all__ = ["Size", "add_facts", "remove", "write"]

_BATCH = 5_000
_TERMS = 60
_SEED = 3


@dataclass(frozen=True, kw_only=True)
class Size:
    chunks: int = 50_000
    entities: int = 100_000
    mentions: int = 700_000
    facts: int = 250_000
    synonyms: int = 50_000

    @property
    def edges(self) -> int:
        return self.mentions + self.facts + self.synonyms


def write(database: Neo4jDatabase, corpus_id: str, size: Size) -> None:
    """Mentions fall on entities by Zipf's law; facts join entities of one chunk's neighbourhood."""
    rng = np.random.default_rng(_SEED)
    database.write_now(None, lambda tx: tx.run(_CORPUS, corpus=corpus_id))
    _write(database, _CHUNKS, _chunks(corpus_id, 0, size.chunks))
    names = ((f"entity number {n}", n) for n in range(size.entities))
    _write(database, _ENTITIES, ({"corpus": corpus_id, "id": _entity(n), "name": name} for name, n in names))
    popular = _zipf(rng, size.entities, size.mentions)
    where = np.arange(size.mentions) % size.chunks
    pairs = np.unique(np.stack([where, popular], axis=1), axis=0).tolist()
    _write(database, _MENTIONS, ({"c": _uid(corpus_id, _chunk(c)), "e": _uid(corpus_id, _entity(e))} for c, e in pairs))
    _write(database, _FACTS, _facts(corpus_id, rng, size.facts, 0, size.chunks, size.entities))
    firsts, seconds = rng.integers(0, size.entities, (2, size.synonyms))
    _write(database, _SYNONYMS, _synonyms(corpus_id, firsts, seconds))


def add_facts(database: Neo4jDatabase, corpus_id: str, size: Size, facts: int, number: int) -> int:
    """New chunks with ten facts each, in one transaction, as a commit writes them; returns the generation.

    `number` says how often it was done before.
    """
    rng = np.random.default_rng(_SEED + 1 + number)
    chunks = facts // 10
    first = size.chunks + number * chunks

    def work(tx: Transaction) -> int:
        tx.run(_CHUNKS, rows=list(_chunks(corpus_id, first, chunks)))
        tx.run(_FACTS, rows=list(_facts(corpus_id, rng, facts, first, chunks, size.entities)))
        mentions = [(first + n % chunks, int(e)) for n, e in enumerate(rng.integers(0, size.entities, 2 * facts))]
        rows = [{"c": _uid(corpus_id, _chunk(c)), "e": _uid(corpus_id, _entity(e))} for c, e in sorted(set(mentions))]
        tx.run(_MENTIONS, rows=rows)
        generation = raise_generation(tx, corpus_id)
        log_changes(tx, corpus_id, generation, put=[_chunk(first + n) for n in range(chunks)])
        return generation

    return database.write_now(corpus_id, work)


def remove(database: Neo4jDatabase, corpus_id: str) -> None:
    """All of it, in slices; edges first, since a few nodes may have more of them than a transaction can hold."""
    for label, kinds in (("Chunk", "MENTIONS"), ("Entity", "FACT|SYNONYM")):
        edges = f"MATCH (:{label} {{corpus_id: $corpus}})-[r:{kinds}]->() WITH r LIMIT 20000 DELETE r"
        _repeat(database, edges, corpus_id)
    for label in ("Chunk", "Entity", "Document", "Change"):
        _repeat(database, f"MATCH (n:{label} {{corpus_id: $corpus}}) WITH n LIMIT 5000 DETACH DELETE n", corpus_id)
    database.write_now(None, lambda tx: tx.run("MATCH (c:Corpus {id: $corpus}) DELETE c", corpus=corpus_id))


def _repeat(database: Neo4jDatabase, statement: str, corpus_id: str) -> None:
    def work(tx: Transaction) -> int:
        return int(tx.rows(statement + " RETURN count(*) AS n", corpus=corpus_id)[0]["n"])

    while database.write_now(None, work):
        pass


def _write(database: Neo4jDatabase, statement: str, rows: Iterator[dict[str, Any]]) -> None:
    held: list[dict[str, Any]] = []
    for row in rows:
        held.append(row)
        if len(held) == 4 * _BATCH:
            _write_now(database, statement, held)
            held = []
    _write_now(database, statement, held)


def _write_now(database: Neo4jDatabase, statement: str, rows: Sequence[dict[str, Any]]) -> None:
    def work(tx: Transaction) -> None:
        for batch in batches(rows, _BATCH):
            tx.run(statement, rows=batch)

    database.write_now(None, work)


def _chunks(corpus_id: str, first: int, count: int) -> Iterator[dict[str, Any]]:
    terms = np.zeros(_TERMS, TERM)
    for n in range(first, first + count):
        terms["stem"] = np.arange(_TERMS) * 1_000 + n % 1_000
        terms["count"] = 1
        id, document = _chunk(n), document_id(f"d{n // 10}")
        yield {
            "document": {
                "uid": _uid(corpus_id, document),
                "corpus_id": corpus_id,
                "id": document,
                "key": f"d{n // 10}",
            },
            "chunk": {
                "uid": _uid(corpus_id, id),
                "corpus_id": corpus_id,
                "id": id,
                "document_id": document,
                "view_id": view_id(id, ""),
                "view_uid": _uid(corpus_id, view_id(id, "")),
                "position": n % 10,
                "title_names": _entity(n),
                "terms": terms.tobytes(),
                "text": f"Passage {n}. " + "It goes on for a while and says little. " * 10,
                "heading": "",
                "first": 1,
            },
        }


def _facts(
    corpus_id: str, rng: np.random.Generator, count: int, first: int, chunks: int, entities: int
) -> Iterator[dict[str, Any]]:
    subjects, objects = _zipf(rng, entities, count), rng.integers(0, entities, count)
    for n, (subject, object_) in enumerate(zip(subjects.tolist(), objects.tolist(), strict=True)):
        chunk, s, o = _chunk(first + n % chunks), _entity(subject), _entity(object_)
        triple = triple_id(s, f"is told of {n}", o)
        id = assertion_id(triple, chunk)
        yield {
            "s": _uid(corpus_id, s),
            "o": _uid(corpus_id, o),
            "fact": {
                "uid": _uid(corpus_id, id),
                "corpus_id": corpus_id,
                "id": id,
                "triple_id": triple,
                "triple_uid": _uid(corpus_id, triple),
                "chunk_id": chunk,
                "chunk_uid": _uid(corpus_id, chunk),
                "predicate": f"is told of {n}",
            },
        }


def _synonyms(corpus_id: str, firsts: NDArray[np.int64], seconds: NDArray[np.int64]) -> Iterator[dict[str, Any]]:
    for a, b in zip(firsts.tolist(), seconds.tolist(), strict=True):
        if a != b:
            first, second = sorted([_entity(a), _entity(b)])
            yield {"a": _uid(corpus_id, first), "b": _uid(corpus_id, second)}


def _zipf(rng: np.random.Generator, count: int, draws: int) -> NDArray[np.int64]:
    """Ranks 0 … count-1 with probability proportional to 1 / (rank + 10)."""
    cumulative = np.cumsum(1 / np.arange(10, count + 10))
    ranks: NDArray[np.int64] = np.searchsorted(cumulative, rng.random(draws) * cumulative[-1]).astype(np.int64)
    return ranks


def _uid(corpus_id: str, id: str) -> str:
    return f"{corpus_id}:{id}"


def _chunk(n: int) -> str:
    return chunk_id("synthetic", str(n), 0)


def _entity(n: int) -> str:
    return entity_id(f"entity number {n}")


_CORPUS = """
CREATE (:Corpus {id: $corpus, settings: '{}', generation: 1, changes_floor: 0, created_at: 0.0, revisions: 0,
    tombstones: 0})
"""
_CHUNKS = """
UNWIND $rows AS row
MERGE (d:Document {uid: row.document.uid})
ON CREATE SET d += row.document, d.newest = 1, d.current = 1, d.hidden = false, d.title = '', d.metadata = '{}'
CREATE (d)-[:HAS_CHUNK]->(c:Chunk) SET c = row.chunk
"""
_ENTITIES = """
UNWIND $rows AS row
CREATE (:Entity {uid: row.corpus + ':' + row.id, corpus_id: row.corpus, id: row.id, name: row.name, normal: row.name,
    forms: [row.name], counts: [1]})
"""
_MENTIONS = """
UNWIND $rows AS row
MATCH (c:Chunk {uid: row.c}) MATCH (e:Entity {uid: row.e})
CREATE (c)-[:MENTIONS {count: 1, forms: [e.name], counts: [1]}]->(e)
"""
_FACTS = """
UNWIND $rows AS row
MATCH (s:Entity {uid: row.s}) MATCH (o:Entity {uid: row.o})
CREATE (s)-[f:FACT]->(o) SET f = row.fact
"""
_SYNONYMS = """
UNWIND $rows AS row
MATCH (a:Entity {uid: row.a}) MATCH (b:Entity {uid: row.b})
CREATE (a)-[:SYNONYM {score: 0.85}]->(b)
"""
