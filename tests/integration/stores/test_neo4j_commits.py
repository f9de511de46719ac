"""Commits to Neo4j beyond the contract: large documents, hubs, concurrent writers, and hostile text."""

import asyncio
import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from core import ids
from core.corpora import Corpus
from core.documents import OnConflict, RevisionState
from core.errors import InvalidInput, NotFound
from core.graph import Synonym
from core.ports.record import Claim, Commit, Tombstone
from core.text.names import normalise
from stores.neo4j.driver.transaction import Transaction
from stores.neo4j.record import Neo4jRecord
from stores.neo4j.record.commits import Neo4jCommits
from testing.graph_rows import told
from testing.record import SETTINGS, claim_all, commit_of, delete, export, put, revision
from tests.integration.stores.neo4j_databases import connection_to
from tests.servers.addresses import Neo4jAddress

pytestmark = pytest.mark.servers

Passages = Sequence[tuple[str, Sequence[str]]]
Facts = Sequence[Sequence[str]]

OLD_FACTS = [("Older", "was", "Name 0")]
FACTS = [("Ada", "met", "Name 1"), ("Ada", "knows", "Ada"), ("Name 1", "met", "Name 2")]

HOSTILE = [
    "a'}) DETACH DELETE n //",
    '"); MATCH (n) DETACH DELETE n; //',
    "back\\slash \\u0027 $uid {uid: 1} `tick`",
    "nul\x00inside",
    "\u202eright to left",
]


@pytest.fixture
def slicing(record: Neo4jRecord) -> Neo4jCommits:
    """Commits for which documents of more than a dozen rows are large."""
    return Neo4jCommits(record.database, slice_rows=12)


def long_text(number: int, *, first: int = 0) -> Passages:
    return [(f"passage {i}", ["Ada", f"Name {i % 7}"]) for i in range(first, first + number)]


def first_named(passages: Passages) -> Passages:
    """Adds a name to the first passage, to which `commit_of` gives the facts; the same text elsewhere lacks it."""
    (text, names), *others = passages
    return [(text, [*names, "First"]), *others]


async def claim_of(record: Neo4jRecord, corpus: Corpus, key: str, content: str) -> Claim:
    await record.submissions.enqueue(corpus.id, [revision(key, content)], OnConflict.REPLACE)
    [claim] = await claim_all(record, corpus)
    return claim


async def rows_left(record: Neo4jRecord, corpus: Corpus) -> dict[str, int]:
    """Returns counts of rows that belong to no document or should not exist."""

    def work(tx: Transaction) -> dict[str, int]:
        asked = {
            "chunks without a document": "MATCH (c:Chunk {corpus_id: $id}) WHERE NOT (:Document)-[:HAS_CHUNK]->(c)",
            "entities without a form": "MATCH (c:Entity {corpus_id: $id}) WHERE size(c.forms) = 0",
            "entities without a mention": "MATCH (c:Entity {corpus_id: $id}) WHERE NOT (:Chunk)-[:MENTIONS]->(c)",
            "facts without a chunk": (
                "MATCH ()-[c:FACT {corpus_id: $id}]->() WHERE NOT EXISTS { MATCH (:Chunk {uid: c.chunk_uid}) }"
            ),
            "chunks that readers do not see": (
                "MATCH (d:Document {corpus_id: $id})-[:HAS_CHUNK]->(c) "
                "WHERE c.last IS NOT NULL OR c.first > d.current OR d.current IS NULL"
            ),
            "uids of a slice": "MATCH (c:Chunk {corpus_id: $id}) WHERE c.uid <> c.corpus_id + ':' + c.id",
            "documents marked": "MATCH (c:Document {corpus_id: $id}) WHERE c.slices IS NOT NULL",
            "marks": "MATCH (c:Tombstone {corpus_id: $id}) WHERE c.slices IS NOT NULL",
        }
        counts = {name: tx.rows(f"{query} RETURN count(c) AS n", id=corpus.id)[0]["n"] for name, query in asked.items()}
        return {name: n for name, n in counts.items() if n}

    return await record.database.read(work)


async def chain(record: Neo4jRecord, corpus: Corpus) -> list[str]:
    """Returns the texts of a corpus with one document, along NEXT."""

    def work(tx: Transaction) -> list[str]:
        query = """
        MATCH (c:Chunk {corpus_id: $id}) WHERE NOT ()-[:NEXT]->(c)
        MATCH p = (c)-[:NEXT*0..]->(n) WHERE NOT (n)-[:NEXT]->()
        RETURN [x IN nodes(p) | x.text] AS texts
        """
        return [text for row in tx.rows(query, id=corpus.id) for text in row["texts"]]

    return await record.database.read(work)


async def assert_equals_one_transaction(
    record: Neo4jRecord, corpus: Corpus, passages: Passages, facts: Facts = FACTS
) -> None:
    """Asserts that the corpus equals one into which a single transaction writes the same document."""
    clean = await record.corpora.create("clean", SETTINGS)
    await put(record, clean, "a", passages, facts=facts)
    assert without_hash(await export(record, corpus)) == without_hash(await export(record, clean))
    assert await rows_left(record, corpus) == {}
    assert await chain(record, corpus) == [text for text, _ in passages]


def without_hash(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the rows without the hash of the content, in which revisions of one text differ."""
    return [{name: value for name, value in row.items() if name != "content_hash"} for row in rows]


async def texts(record: Neo4jRecord, corpus: Corpus) -> list[str]:
    return [chunk.text for chunk in await record.contents.get_chunks_of(corpus.id, ids.document_id("a"))]


# --- documents that are too large for one transaction


async def test_a_large_document_equals_one_written_in_one_transaction(
    record: Neo4jRecord, slicing: Neo4jCommits, corpus: Corpus
) -> None:
    claim = await claim_of(record, corpus, "a", "1")
    outcome = await slicing.commit([commit_of(claim, long_text(30), FACTS)], grace=0)
    assert outcome.fenced == ()
    assert outcome.tombstone is None
    assert (await record.documents.get(corpus.id, claim.document_id)).state is RevisionState.INDEXED
    await assert_equals_one_transaction(record, corpus, long_text(30))
    assert await record.tombstones.list_due(corpus.id) == []


async def test_a_large_document_replaces_itself(record: Neo4jRecord, slicing: Neo4jCommits, corpus: Corpus) -> None:
    await put(record, corpus, "a", [*long_text(10), ("older", ["Older"]), *long_text(25, first=40)], facts=OLD_FACTS)
    before = {chunk.text: chunk for chunk in await record.contents.get_chunks_of(corpus.id, ids.document_id("a"))}
    start, _ = await record.graph.graph(corpus.id)
    # Kept and moved, changed in what they mention (their ids stay), new, and gone.
    passages = [*long_text(20, first=30), *((text, ["Changed"]) for text, _ in long_text(10))]
    claim = await claim_of(record, corpus, "a", "2")
    outcome = await slicing.commit([commit_of(claim, passages, FACTS)], grace=0)
    assert outcome.tombstone is not None
    gone = before.keys() - dict(passages).keys()
    assert set(outcome.tombstone.view_ids) == {before[text].view_id for text in gone}
    assert ids.entity_id("older") in outcome.tombstone.entity_ids
    assert outcome.tombstone.triple_ids
    assert len(outcome.tombstone.content_hashes) == 1
    changes = await record.graph.changes(corpus.id, start)
    assert changes is not None
    assert set(changes.removed) >= {before[text].id for text in gone}
    assert {chunk.id for chunk in changes.added.chunks} == {
        chunk.id for chunk in await record.contents.get_chunks_of(corpus.id, claim.document_id)
    }
    await assert_equals_one_transaction(record, corpus, passages)


async def test_readers_see_a_large_revision_whole_or_not_at_all(
    record: Neo4jRecord, slicing: Neo4jCommits, corpus: Corpus
) -> None:
    old, new = [text for text, _ in long_text(30)], [text for text, _ in long_text(30, first=15)]
    await put(record, corpus, "a", long_text(30))
    claim = await claim_of(record, corpus, "a", "2")
    commits = asyncio.create_task(slicing.commit([commit_of(claim, long_text(30, first=15))], grace=0))
    seen = []
    while not commits.done():
        seen.append(await texts(record, corpus))
    assert (await commits).fenced == ()
    assert [one for one in seen if one not in (old, new)] == []
    assert old in seen
    assert await texts(record, corpus) == new


async def test_synonyms_of_a_large_document_are_written_and_logged(
    record: Neo4jRecord, slicing: Neo4jCommits, corpus: Corpus
) -> None:
    await put(record, corpus, "b", [("one", ["Bob"])])
    start, _ = await record.graph.graph(corpus.id)
    names = {name: ids.entity_id(normalise(name)) for name in ("Name 1", "Name 6", "Ada", "Bob", "Nobody")}
    pairs = [("Name 1", "Name 6"), ("Ada", "Bob"), ("Ada", "Nobody")]
    synonyms = [
        Synonym(first_id=min(names[a], names[b]), second_id=max(names[a], names[b]), score=0.875) for a, b in pairs
    ]
    claim = await claim_of(record, corpus, "a", "1")
    await slicing.commit([commit_of(claim, long_text(30))], synonyms, grace=0)
    expected = sorted((one.first_id, one.second_id, one.score) for one in synonyms[:2])
    _, rows = await record.graph.graph(corpus.id)
    assert sorted(map(tuple, told(rows)[-1])) == expected
    changes = await record.graph.changes(corpus.id, start)
    assert changes is not None
    assert sorted(map(tuple, told(changes.added)[-1])) == expected
    assert set(changes.synonyms_of) == {names[name] for name in ("Name 1", "Name 6", "Ada", "Bob")}


async def test_a_large_document_is_deleted(record: Neo4jRecord, slicing: Neo4jCommits, corpus: Corpus) -> None:
    await put(record, corpus, "a", long_text(30), facts=FACTS)
    await put(record, corpus, "b", [("one", ["Ada"])])
    views = {chunk.view_id for chunk in await record.contents.get_chunks_of(corpus.id, ids.document_id("a"))}
    await record.submissions.delete_documents(corpus.id, [ids.document_id("a")])
    outcome = await slicing.commit([Commit(claim=claim) for claim in await claim_all(record, corpus)], grace=0)
    assert outcome.tombstone is not None
    assert set(outcome.tombstone.view_ids) == views
    assert ids.entity_id("ada") not in outcome.tombstone.entity_ids
    assert {row["name"] for row in await export(record, corpus) if row["kind"] == "entity"} == {"ada"}
    assert await rows_left(record, corpus) == {}
    swept = await record.tombstones.list_due(corpus.id)
    assert {view for one in swept for view in one.view_ids} == views


class _Cut(Exception):
    """The worker has died."""


def cut_after(slicing: Neo4jCommits, writes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes every write transaction after the first `writes` ones fail."""
    database, left = slicing._database, writes
    write_now = database.write_now

    def write(corpus_id: str | None, work: Callable[[Transaction], Any]) -> Any:
        nonlocal left
        if left == 0:
            raise _Cut
        left -= 1
        return write_now(corpus_id, work)

    monkeypatch.setattr(database, "write_now", write)


async def broken_off(
    neo4j_server: Neo4jAddress, commits: Sequence[Commit], writes: int, monkeypatch: pytest.MonkeyPatch
) -> bool:
    """Runs a commit of a worker that dies after `writes` transactions. Returns False if the commit needed no more."""
    dying = Neo4jRecord(connection_to(neo4j_server))
    slicing = Neo4jCommits(dying.database, slice_rows=12)
    cut_after(slicing, writes, monkeypatch)
    try:
        await slicing.commit(commits, grace=0)
    except _Cut:
        return True
    finally:
        await dying.close()
    return False


@pytest.mark.parametrize("then", ["again", "newer", "cancelled", "deleted"])
async def test_leftovers_of_a_dead_worker_are_deleted(
    record: Neo4jRecord, neo4j_server: Neo4jAddress, then: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The worker dies after any transaction. A repetition, a newer revision, nothing, or a deletion follows."""
    old = first_named(long_text(12))
    new = first_named([*long_text(10, first=6), ("passage 2", ["Changed"])])
    latest = [("short", ["Ada", "Short"]), *long_text(3)]
    for writes in range(40):
        other = await record.corpora.create(f"try{writes}", SETTINGS)
        await put(record, other, "a", old, facts=FACTS)
        claim = await claim_of(record, other, "a", "2")
        broken = await broken_off(neo4j_server, [commit_of(claim, new, FACTS)], writes, monkeypatch)
        shown = await texts(record, other)
        assert shown in ([text for text, _ in old], [text for text, _ in new])
        is_old = shown == [text for text, _ in old]
        if then == "again" and is_old:
            await record.maintenance.expire_leases()
            [claim] = await claim_all(record, other)
            await record.commits.commit([commit_of(claim, new, FACTS)], grace=0)
        elif then == "newer":
            await put(record, other, "a", latest, facts=FACTS)
        elif then == "cancelled":
            await record.jobs.cancel(claim.job_id)
        elif then == "deleted":
            await delete(record, other, "a")
        swept = [await record.tombstones.select_orphans(one) for one in await record.tombstones.list_due(other.id)]
        views = {view for one in swept for view in one.view_ids}
        expected = {"again": new, "newer": latest, "cancelled": old if is_old else new, "deleted": None}[then]
        if expected is None:
            assert await export(record, other) == []
            assert await rows_left(record, other) == {}
        else:
            clean = await record.corpora.create(f"clean{writes}", SETTINGS)
            await put(record, clean, "a", expected, facts=FACTS)
            assert without_hash(await export(record, other)) == without_hash(await export(record, clean))
            assert await rows_left(record, other) == {}
            assert await chain(record, other) == [text for text, _ in expected]
            if then != "cancelled" or not is_old:
                gone = {text for text, _ in old} - {text for text, _ in expected}
                assert len(views) >= len(gone)
        if not broken:
            return
    raise AssertionError("the commit never came to its end")


# --- concurrent writers


async def test_four_concurrent_writers_do_not_deadlock(record: Neo4jRecord, neo4j_server: Neo4jAddress) -> None:
    """Two write to each of two corpora with the same documents, whose entities are the same hubs."""
    corpora = [await record.corpora.create(name, SETTINGS) for name in ("one", "two")]
    keys = [f"d{i}" for i in range(40)]
    for corpus in corpora:
        await record.submissions.enqueue(corpus.id, [revision(key) for key in keys], OnConflict.REPLACE)

    async def work(name: str, corpus: Corpus) -> int:
        mine = Neo4jRecord(connection_to(neo4j_server))
        done = 0
        while claims := await mine.claims.claim(
            corpus.id, name, lease_seconds=60, max_bytes=10**9, max_documents=random.Random(done).randint(1, 4)
        ):
            await mine.claims.renew(claims, lease_seconds=60)
            commits = [commit_of(c, [(c.key, ["Ada", "Bob", c.key])], [("Ada", "met", "Bob")]) for c in claims]
            pair = sorted(ids.entity_id(name) for name in ("ada", "bob"))
            synonym = Synonym(first_id=pair[0], second_id=pair[1], score=0.9)
            outcome = await mine.commits.commit(commits, [synonym], grace=0)
            assert outcome.fenced == ()
            done += len(claims)
        await mine.close()
        return done

    counts = await asyncio.gather(*(work(f"w{i}", corpus) for i, corpus in enumerate([*corpora, *corpora])))
    assert sum(counts) == len(corpora) * len(keys)
    exports = [await export(record, corpus) for corpus in corpora]
    assert exports[0] == exports[1]
    assert sum(row["kind"] == "chunk" for row in exports[0]) == len(keys)
    for corpus in corpora:
        assert await rows_left(record, corpus) == {}


# --- hostile text


async def test_text_is_never_run_as_cypher(record: Neo4jRecord, corpus: Corpus) -> None:
    await put(record, corpus, "kept", [("kept", ["Kept"])])
    for text in HOSTILE:
        await _check_that_it_is_text(record, corpus, text)


async def _check_that_it_is_text(record: Neo4jRecord, corpus: Corpus, text: str) -> None:
    await put(record, corpus, text, [(text, [text, "Ada"])], facts=[(text, text, "Ada")], note=text)
    document = (await record.documents.list(corpus.id, limit=9, key=text)).data[0]
    assert (document.key, document.title, document.metadata) == (text, text, {"note": text})
    [chunk] = await record.contents.get_chunks_of(corpus.id, document.id)
    assert chunk.text == text
    entity = ids.entity_id(normalise(text))
    assert (await record.contents.get_entities(corpus.id, [entity]))[entity].display == text
    [fact] = await record.contents.get_facts_of(corpus.id, [chunk.id])
    assert (fact.subject, fact.predicate, fact.object) == (text, text, "Ada")
    await delete(record, corpus, text)
    assert (await record.corpora.count(corpus.id)).documents == 1


async def test_half_a_surrogate_pair_is_refused_and_nothing_is_written(record: Neo4jRecord, corpus: Corpus) -> None:
    claim = await claim_of(record, corpus, "a", "1")
    with pytest.raises(InvalidInput, match="surrogate"):
        await record.commits.commit([commit_of(claim, [("half \ud800 of it", ["Ada"])])], grace=0)
    assert await rows_left(record, corpus) == {}
    assert (await record.commits.commit([commit_of(claim, [("whole", ["Ada"])])], grace=0)).fenced == ()


# --- deleted corpora


async def test_a_deleted_corpus_leaves_no_rows_and_its_twin_is_unchanged(record: Neo4jRecord, corpus: Corpus) -> None:
    twin = await record.corpora.create("twin", SETTINGS)
    for target in (corpus, twin):
        await put(record, target, "a", long_text(20), facts=FACTS)
        await record.tombstones.write(Tombstone(id=0, corpus_id=target.id, view_ids=("e" * 32,)), [], grace=3600)
    before = await export(record, twin)
    await record.corpora.delete(corpus.name)
    await record.maintenance.delete_corpus_rows(corpus.id)
    await record.maintenance.delete_corpus_rows(corpus.id)

    def left(tx: Transaction) -> list[Any]:
        nodes = "MATCH (n) WHERE n.corpus_id = $id AND NOT n:Job RETURN labels(n) AS labels LIMIT 5"
        facts = "MATCH ()-[f:FACT {corpus_id: $id}]->() RETURN f.id AS id LIMIT 5"
        return [*tx.rows(nodes, id=corpus.id), *tx.rows(facts, id=corpus.id)]

    assert await record.database.read(left) == [{"labels": ["Removal"]}]  # of which a worker makes the certificate
    assert await export(record, twin) == before
    with pytest.raises(NotFound):
        await record.corpora.get_by_id(corpus.id)


async def test_rows_of_a_corpus_that_is_not_deleted_stay(record: Neo4jRecord, corpus: Corpus) -> None:
    await put(record, corpus, "a", [("one", ["Ada"])])
    await record.maintenance.delete_corpus_rows(corpus.id)
    assert (await record.corpora.count(corpus.id)).chunks == 1
