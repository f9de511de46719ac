"""A Neo4j that is killed while workers write to it: no acknowledged commit is lost, and a commit can be repeated."""

import asyncio
import random
import time
from collections.abc import Sequence

import pytest

from core.corpora import Corpus
from core.documents import OnConflict
from core.errors import Unavailable
from core.ports.record import Claim
from stores.neo4j.driver.connection import Connection
from stores.neo4j.record import Neo4jRecord
from stores.neo4j.record.commits import Neo4jCommits, Neo4jTombstones
from testing.record import SETTINGS, commit_of, export, revision
from tests.servers.neo4j_server import Neo4jServer
from tests.servers.ports import is_free

pytestmark = [pytest.mark.servers, pytest.mark.slow]

KEYS = [f"d{i:03}" for i in range(60)]
KILLS = 3
FACTS = [("Ada", "met", "Bob")]


def record_in(server: Neo4jServer) -> Neo4jRecord:
    return Neo4jRecord(Connection(server.uri, server.user, server.password, "neo4j"))


def passages(key: str) -> Sequence[tuple[str, Sequence[str]]]:
    """Every tenth document is large for workers with small slices."""
    many = 12 if key.endswith("0") else 1
    return [(f"{key} {i}", ["Ada", "Bob", f"Name {i}", key]) for i in range(many)]


async def ingest(record: Neo4jRecord, corpus: Corpus, name: str, done: list[str]) -> None:
    """Works as a worker does: retries after an outage, and skips fenced claims. Adds the committed keys to `done`."""
    commits = Neo4jCommits(record.database, slice_rows=40)
    tombstones = Neo4jTombstones(record.database, slice_rows=40)
    while True:
        try:
            await tombstones.delete(await tombstones.list_due(corpus.id))
            claims = await record.claims.claim(corpus.id, name, lease_seconds=5, max_bytes=10**6, max_documents=5)
            if not claims and corpus.id not in await record.maintenance.list_corpora_with_work():
                return
            done += await commit(commits, claims)
        except Unavailable:
            await asyncio.sleep(0.1)


async def commit(store: Neo4jCommits, claims: Sequence[Claim]) -> list[str]:
    if not claims:
        await asyncio.sleep(0.1)
        return []
    commits = [commit_of(claim, passages(claim.key), FACTS) for claim in claims]
    while True:
        try:
            fenced = (await store.commit(commits, grace=0)).fenced
        except Unavailable:
            await asyncio.sleep(0.1)  # it may have been written: the repeated commit tells
            continue
        return [claim.key for claim in claims if claim not in fenced]


async def until_whole(server: Neo4jServer, corpus: Corpus, workers: int) -> list[str]:
    records = [record_in(server) for _ in range(workers)]
    done: list[str] = []
    await asyncio.gather(*(ingest(record, corpus, f"w{i}", done) for i, record in enumerate(records)))
    for record in records:
        await record.close()
    return done


async def kill_now_and_then(server: Neo4jServer, rng: random.Random, ended: asyncio.Event) -> int:
    for kills in range(KILLS):
        await asyncio.sleep(rng.uniform(1, 4))
        if ended.is_set():
            return kills
        await asyncio.to_thread(restart, server)
    return KILLS


def restart(server: Neo4jServer) -> None:
    server.kill()
    while not all(is_free(port) for port in server.ports):
        time.sleep(0.05)  # its last threads hold them a little longer
    server.start()


async def test_a_corpus_equals_an_undisturbed_one_after_kills_during_commits(own_neo4j: Neo4jServer) -> None:
    record = record_in(own_neo4j)
    corpora = [await record.corpora.create(name, SETTINGS) for name in ("disturbed", "undisturbed")]
    for corpus in corpora:
        await record.submissions.enqueue(corpus.id, [revision(key) for key in KEYS], OnConflict.REPLACE)
    ended = asyncio.Event()
    killing = asyncio.create_task(kill_now_and_then(own_neo4j, random.Random(1), ended))
    done = await until_whole(own_neo4j, corpora[0], workers=3)
    ended.set()
    assert await killing > 0
    await until_whole(own_neo4j, corpora[1], workers=1)
    disturbed, undisturbed = [await export(record, corpus) for corpus in corpora]
    assert disturbed == undisturbed
    there = {row["key"] for row in disturbed if row["kind"] == "document"}
    assert set(done) <= there == set(KEYS)
    [job, *_] = await record.jobs.list()
    assert job.counts == {"indexed": len(KEYS)}
    await record.close()
