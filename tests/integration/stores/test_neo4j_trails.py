"""Answer trails in Neo4j: writing, expiry and deletion."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from app.container import Container
from app.container.trail_writer import build_trail
from app.services.questions import AskRequest, ask
from core.corpora import Corpus
from core.errors import NotFound
from core.ids import document_id
from core.ports.trails import Trail, TrailStep
from core.settings import Settings
from core.strategies import parse_spec
from core.trace import Trace
from stores.neo4j import Neo4jTrails
from tests.computing import ANSWER, DOCUMENTS, QUESTION, answered, desk_on
from tests.desk import Desk
from tests.integration.stores.neo4j_databases import driver_of, emptied
from tests.servers.addresses import Neo4jAddress

pytestmark = pytest.mark.servers

EVERYTHING = (
    "MATCH (n) WHERE n:Question OR n:Step OPTIONAL MATCH (n)-[r]->() RETURN properties(n) AS n, properties(r) AS r"
)


@pytest.fixture
async def desk(neo4j_server: Neo4jAddress, tmp_path: Path) -> AsyncIterator[Desk]:
    emptied(neo4j_server)
    desk = desk_on(neo4j_server, tmp_path)
    yield desk
    await desk.close()


@pytest.fixture
async def corpus(desk: Desk) -> Corpus:
    corpus = await desk.corpus("computing", extractor="given")
    await desk.ingest(corpus, *DOCUMENTS)
    return corpus


@pytest.fixture
def trails(desk: Desk) -> Neo4jTrails:
    return trails_of(desk, days=1)


def trails_of(desk: Desk, days: float) -> Neo4jTrails:
    record: Any = desk.record
    return Neo4jTrails(record.database, days)


async def trail(desk: Desk, corpus: Corpus) -> Trail:
    return build_trail(QUESTION, *await answered(desk, corpus))


def asked(neo4j: Neo4jAddress, query: str, **parameters: Any) -> list[dict[str, Any]]:
    with driver_of(neo4j) as driver:
        return [record.data() for record in driver.execute_query(query, parameters, database_="neo4j").records]


def left(neo4j: Neo4jAddress) -> int:
    return int(asked(neo4j, "MATCH (n) WHERE n:Question OR n:Step RETURN count(n) AS n")[0]["n"])


async def test_a_trail_is_stored_as_given(
    neo4j_server: Neo4jAddress, desk: Desk, corpus: Corpus, trails: Neo4jTrails
) -> None:
    id = await trails.write(corpus.id, await trail(desk, corpus))
    [question] = asked(neo4j_server, "MATCH (q:Question) RETURN q {.*} AS q")
    assert question["q"]["id"] == id
    assert (question["q"]["text"], question["q"]["answer"]) == (QUESTION, ANSWER)
    assert (question["q"]["support"], question["q"]["note"]) == ("inferred", "Not stated: who her teacher was.")
    assert question["q"]["expires_at"] - question["q"]["asked_at"] == pytest.approx(86_400)
    steps = (
        "MATCH (:Question)-[x:STEP]->(s:Step) "
        "RETURN s.question AS q, s.support AS support, s.searches AS searches ORDER BY x.number"
    )
    assert asked(neo4j_server, steps)[1] == {
        "q": "Who taught Ada Lovelace?",
        "support": "inferred",
        "searches": ["bridged: Who taught Ada Lovelace?"],
    }
    quotes = "MATCH (:Question)-[x:CITES]->(c:Chunk) WHERE c.text CONTAINS x.quote RETURN x.marker AS m ORDER BY m"
    assert [row["m"] for row in asked(neo4j_server, quotes)] == [1, 2]


async def test_a_trail_stays_while_its_documents_do_and_not_longer(
    neo4j_server: Neo4jAddress, desk: Desk, corpus: Corpus, trails: Neo4jTrails
) -> None:
    await desk.ingest(corpus, {"id": "other.md", "text": "Nobody was shown this."})
    await trails.write(corpus.id, await trail(desk, corpus))
    await desk.delete(corpus, "other.md")
    await desk.record.maintenance.prune()
    assert left(neo4j_server) == 4
    assert QUESTION in str(asked(neo4j_server, EVERYTHING))
    await desk.ingest(corpus, {"id": "morgan.md", "title": "Augustus De Morgan", "text": "He is not to be named."})
    assert "Madurai" not in str(asked(neo4j_server, EVERYTHING)), "a passage was replaced"
    for key in ("morgan.md", "babbage.md"):
        await desk.ingest(corpus, *DOCUMENTS)
        await trails.write(corpus.id, await trail(desk, corpus))
        await desk.delete(corpus, key)
        everything = str(asked(neo4j_server, EVERYTHING))
        for word in ("Madurai", "Morgan", "Lovelace", "teacher", "program"):
            assert word not in everything
        await desk.record.maintenance.prune()
        assert left(neo4j_server) == 0


async def test_no_trail_is_written_for_deleted_chunks(
    neo4j_server: Neo4jAddress, desk: Desk, corpus: Corpus, trails: Neo4jTrails
) -> None:
    late = await trail(desk, corpus)
    await desk.record.submissions.delete_documents(corpus.id, [document_id("morgan.md")])
    assert await trails.write(corpus.id, late) is None
    await desk.worker.work(corpus.id)
    assert await trails.write(corpus.id, late) is None
    assert left(neo4j_server) == 0


async def test_expired_trails_are_pruned_and_others_are_deleted_with_their_corpus(
    neo4j_server: Neo4jAddress, desk: Desk, corpus: Corpus, trails: Neo4jTrails
) -> None:
    other = await desk.corpus("other", extractor="given")
    await desk.ingest(other, *DOCUMENTS)
    short = Trail(question="?", answer="!", reasoner="direct", steps=(TrailStep(id="", question="?", answer="!"),))
    for _ in range(3):
        await trails_of(desk, days=-1).write(other.id, short)
    kept = [await trails.write(one.id, await trail(desk, one)) for one in (corpus, other)]
    await desk.record.maintenance.prune()
    assert {row["id"] for row in asked(neo4j_server, "MATCH (q:Question) RETURN q.id AS id")} == set(kept)
    assert left(neo4j_server) == 8
    late = await trail(desk, corpus)
    await desk.record.corpora.delete("computing")
    assert await trails.write(corpus.id, late) is None
    await desk.record.maintenance.delete_corpus_rows(corpus.id)
    assert asked(neo4j_server, "MATCH (q:Question) RETURN q.corpus_id AS id") == [{"id": other.id}]
    assert left(neo4j_server) == 4
    with pytest.raises(NotFound):
        await trails.write(corpus.id, late)


async def test_an_answer_leaves_one_where_the_settings_say_so(
    neo4j_server: Neo4jAddress, desk: Desk, corpus: Corpus, tmp_path: Path
) -> None:
    settings = Settings.model_validate(
        {
            "data_dir": tmp_path,
            "store": {"record": "neo4j", "text": "neo4j", "vectors": "milvus"},
            "neo4j": {"uri": neo4j_server.uri, "user": neo4j_server.user, "password": neo4j_server.password},
            "broker": {"url": "redis://127.0.0.1:1/0"},
            "files": {"url": str(tmp_path / "files")},
            "trails": {"enabled": True, "days": 2},
        }
    )
    container = Container(settings)
    vars(container).update(vectors=desk.vectors, embedder=desk.embedder)  # Milvus has no part in it
    request = AskRequest(
        question="Who taught Ada Lovelace?", reasoner=parse_spec("extractive"), searcher=parse_spec("dense")
    )
    answer = await ask(container, corpus, request, Trace())
    await container.close()
    [found] = asked(neo4j_server, "MATCH (q:Question) RETURN q.text AS text, q.answer AS answer")
    assert found == {"text": "Who taught Ada Lovelace?", "answer": answer.text}
    assert len(asked(neo4j_server, "MATCH (:Step)-[x:FOUND]->(:Chunk) RETURN x.rank")) == 5
