"""What Neo4j counts as it writes is what reading all rows would count, and is read in the same few steps."""

import itertools
import random
from typing import Any

import pytest

from core import ids
from core.corpora import Corpus
from core.documents import OnConflict
from core.ports.record import Commit
from stores.neo4j.driver.transaction import Transaction, statements
from stores.neo4j.record import Neo4jRecord
from stores.neo4j.record.commits import Neo4jCommits
from stores.neo4j.record.corpora import count_rows
from testing.record import claim_all, commit_of, delete, put, revision

pytestmark = pytest.mark.servers

_STATES = """
MATCH (d:Document {corpus_id: $corpus}) WHERE d.key IS NOT NULL
MATCH (r:Revision {uid: d.uid + ':' + toString(d.newest)})
RETURN r.state AS state, count(*) AS documents
"""


@pytest.mark.parametrize("slice_rows", [20_000, 8])
async def test_the_counts_of_a_corpus_are_those_of_its_rows(
    record: Neo4jRecord, corpus: Corpus, slice_rows: int
) -> None:
    """Whatever happens to documents, also if a document takes several transactions."""
    record.commits = Neo4jCommits(record.database, slice_rows=slice_rows)
    rng, seen = random.Random(7), set()
    steps = ["queue", "queue", "work", "work", "delete", "disable", "cancel"]
    for step in range(60):
        key, what = rng.choice("abcde"), rng.choice(steps)
        exists = ids.document_id(key) in await record.documents.get_refs(
            corpus.id, [ids.document_id(key)], enabled=None
        )
        if what == "queue":
            await record.submissions.enqueue(corpus.id, [revision(key, f"text {step}")], OnConflict.REPLACE)
        elif what == "delete" and exists:
            await record.submissions.delete_documents(corpus.id, [ids.document_id(key)])
        elif what == "disable" and exists:
            await record.submissions.set_enabled(corpus.id, [ids.document_id(key)], enabled=rng.random() < 0.5)
        elif what == "cancel":
            jobs = [job for job in await record.jobs.list(limit=9) if not job.state.final]
            if jobs:
                await record.jobs.cancel(jobs[0].id)
        elif what == "work":
            for claim in await claim_all(record, corpus):
                commit = Commit(claim=claim) if claim.deletion else _commit_of(claim, rng)
                await record.commits.commit([commit], grace=0)
        counted = await record.corpora.count(corpus.id)
        seen.add(counted)
        assert counted == await record.database.read(lambda tx: count_rows(tx, corpus.id)), (step, what)
        assert await _count_states(record) == await record.database.read(lambda tx: _read_states(tx, corpus)), what
    assert len(seen) > 10


def _commit_of(claim: Any, rng: random.Random) -> Commit:
    names = ["Ada", "Bob", "Cid", "Dan", "Eve", f"Fay {rng.randint(0, 9)}"]
    passages = [(f"passage {rng.randint(0, 6)} {n}", rng.sample(names, rng.randint(0, 4))) for n in range(4)]
    chosen = passages[: rng.randint(0, 4)]
    facts = [(one, "met", other) for one, other in itertools.pairwise(chosen[0][1])] if chosen else []
    return commit_of(claim, chosen, facts)


async def _count_states(record: Neo4jRecord) -> dict[str, int]:
    return {one.state: one.documents for one in await record.maintenance.count_documents()}


def _read_states(tx: Transaction, corpus: Corpus) -> dict[str, int]:
    found = {row["state"]: row["documents"] for row in tx.rows(_STATES, corpus=corpus.id)}
    return {state: count for state, count in found.items() if state != "deleted"}


async def test_a_corpus_of_an_earlier_schema_is_counted_by_its_rows(record: Neo4jRecord, corpus: Corpus) -> None:
    await record.database.write_unlocked(
        lambda tx: tx.run("MATCH (c:Corpus) REMOVE c.documents, c.chunks, c.entities, c.facts, c.mentions")
    )
    await put(record, corpus, "a", [("one", ["Ada", "Bob"]), ("two", ["Ada"])], facts=[("Ada", "met", "Bob")])
    await put(record, corpus, "b", [("three", ["Ada"])])
    await delete(record, corpus, "b")
    await record.submissions.enqueue(corpus.id, [revision("c")], OnConflict.REPLACE)
    counted = await record.corpora.count(corpus.id)
    assert (counted.documents, counted.chunks, counted.entities, counted.facts, counted.mentions) == (1, 2, 2, 1, 3)
    assert await _count_states(record) == {"indexed": 1, "queued": 1}


async def test_counting_costs_the_same_in_a_large_corpus(record: Neo4jRecord, corpus: Corpus) -> None:
    async def fill(start: int, stop: int) -> None:
        revisions = [revision(f"d{n}") for n in range(start, stop)]
        await record.submissions.enqueue(corpus.id, revisions, OnConflict.REPLACE)
        commits = [
            commit_of(claim, [("one", ["Ada", f"Bob {claim.key}"])]) for claim in await claim_all(record, corpus)
        ]
        await record.commits.commit(commits, grace=0)

    await fill(0, 20)
    small = await record.database.read(lambda tx: _measure(tx, corpus))
    await fill(20, 200)
    large = await record.database.read(lambda tx: _measure(tx, corpus))
    # Statistics that change with the rows may choose another plan, whose cost differs by a few accesses.
    assert {name: hits for name, hits in large.items() if hits > small[name] + 20} == {}
    assert (await record.corpora.count(corpus.id)).documents == 200


def _measure(tx: Transaction, corpus: Corpus) -> dict[str, int]:
    """Returns the accesses to the database of each statement, whose plans are made for the rows that are there now."""
    tx._inner.run("CALL db.prepareForReplanning(600)").consume()
    asked: dict[tuple[str, str], dict[str, Any]] = {
        ("corpora", "counts"): {"id": corpus.id},
        ("corpora", "hidden_entities"): {"id": corpus.id},
        ("maintenance", "count_indexed"): {},
        ("maintenance", "count_unfinished"): {"states": ["queued", "failed"]},
    }
    return {name: _count_hits(tx, statements(file)[name], parameters) for (file, name), parameters in asked.items()}


def _count_hits(tx: Transaction, statement: str, parameters: dict[str, Any]) -> int:
    profile = tx._inner.run(f"PROFILE {statement}", parameters).consume().profile
    assert profile is not None
    return _sum_hits(profile)


def _sum_hits(operator: dict[str, Any]) -> int:
    return int(operator.get("dbHits", 0)) + sum(map(_sum_hits, operator.get("children", ())))
