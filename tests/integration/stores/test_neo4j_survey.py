"""A survey over the record in Neo4j finds what it finds over the embedded record, also after changes."""

from dataclasses import replace
from pathlib import Path

import pytest

from core.ids import new_id
from core.ports.reasoning import Answer, Question
from core.trace import Trace
from reasoning.strategies.survey.reasoner import Config, Survey
from retrieval import RetrievalBackends, SnapshotCache, SnapshotDocumentFinder
from stores.neo4j.record import Neo4jRecord
from testing.indexed_corpus import IndexedCorpus, Passage
from tests.integration.stores.neo4j_databases import connection_to
from tests.searching import World, open_world
from tests.servers.addresses import Neo4jAddress

pytestmark = pytest.mark.servers

QUESTIONS = (
    "Which contracts are governed by Delaware law?",
    "How many contracts are there?",
    "Which contracts do not mention Delaware?",
)


def contract(name: str, law: str) -> Passage:
    text = f"{name} signs. This contract is governed by {law} law."
    return Passage(key=f"contracts/{name}.txt", title=f"{name} contract", text=text)


async def ask(world: IndexedCorpus, backends: RetrievalBackends, question: str) -> Answer:
    survey = Survey(Config(), SnapshotDocumentFinder(backends))
    return await survey.answer(Question(corpus=world.corpus, text=question), Trace())


def beside(world: World, record: Neo4jRecord) -> RetrievalBackends:
    """Returns the backends of a world over another record."""
    snapshots = SnapshotCache(record.graph, interval=0, patience=5)
    return replace(world.backends, documents=record.documents, contents=record.contents, snapshots=snapshots)


async def test_both_records_give_the_same_survey(neo4j_server: Neo4jAddress, tmp_path: Path) -> None:
    record = Neo4jRecord(connection_to(neo4j_server))
    async with open_world(tmp_path) as world:
        corpus = await record.corpora.create(f"survey-{new_id()}", world.corpus.settings)
        other = IndexedCorpus(
            record=record, vectors=world.vectors, text=world.text, embedder=world.embedder, corpus=corpus
        )
        try:
            for one in (world, other):
                await one.put(
                    [contract("Halden", "Delaware"), contract("Quist", "Texas"), contract("Berg", "Delaware")]
                )
                await one.put([contract("Berg", "Texas"), contract("Lumen", "Delaware")])
                await one.remove(["contracts/Quist.txt"])
            for question in QUESTIONS:
                embedded = await ask(world, world.backends, question)
                on_server = await ask(other, beside(world, record), question)
                assert (on_server.text, on_server.note) == (embedded.text, embedded.note)
                assert len(on_server.citations) == len(embedded.citations) > 0
        finally:
            await record.corpora.delete(corpus.name)
            await record.maintenance.delete_corpus_rows(corpus.id)
            await record.close()
