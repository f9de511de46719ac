"""The saved queries of Neo4j Browser's guide, each over real corpora: what it draws, and what it never shows."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from app.container.trail_writer import build_trail
from core.corpora import Corpus
from core.ids import document_id
from stores.neo4j import Neo4jTrails
from tests.computing import DOCUMENTS, QUESTION, answered, desk_on
from tests.desk import Desk
from tests.integration.stores.neo4j_databases import driver_of, emptied
from tests.servers.addresses import Neo4jAddress

pytestmark = pytest.mark.servers

GUIDE = Path(__file__).parents[3] / "docs" / "neo4j" / "guide"
GRAPHS = ("documents", "entity", "path", "hubs", "trail")
PARAMETERS = {"corpus": "computing", "entity": "Ada Lovelace", "other": "Madurai", "question": ""}


class Drawn:
    """What Browser would draw: each node and relationship once."""

    def __init__(self, nodes: list[Any], relationships: list[Any]) -> None:
        self._nodes = {node.element_id: node for node in nodes}
        self._relationships = {one.element_id: one for one in relationships}

    def nodes(self, label: str, name: str) -> set[str]:
        return {node[name] for node in self._nodes.values() if label in node.labels}

    def ties(self, type: str) -> set[tuple[Any, ...]]:
        return {
            (_named(one.start_node), *_told(one), _named(one.end_node))
            for one in self._relationships.values()
            if one.type == type
        }

    @property
    def size(self) -> int:
        return len(self._nodes) + len(self._relationships)

    @property
    def corpora(self) -> set[str]:
        return {node["corpus_id"] for node in self._nodes.values()}


def _named(node: Any) -> str:
    name: str = node.get("name") or node.get("title") or node.get("text")
    return _start(name)


def _start(text: str) -> str:
    return text[:12]


def _told(one: Any) -> tuple[Any, ...]:
    return tuple(one[name] for name in ("predicate", "number", "rank", "marker") if name in one)


@pytest.fixture
async def desk(neo4j_server: Neo4jAddress, tmp_path: Path) -> AsyncIterator[Desk]:
    emptied(neo4j_server)
    desk = desk_on(neo4j_server, tmp_path)
    yield desk
    await desk.close()


@pytest.fixture
async def corpus(desk: Desk) -> Corpus:
    """With another one beside it that holds the same documents."""
    for name in ("other", "computing"):
        corpus = await desk.corpus(name, extractor="given")
        await desk.ingest(corpus, *DOCUMENTS)
    return corpus


def drawn(neo4j: Neo4jAddress, query: str, **parameters: str) -> Drawn:
    with driver_of(neo4j) as driver:
        graph = driver.execute_query(_text(query), {**PARAMETERS, **parameters}, database_="neo4j").records
        found = [value for record in graph for value in record.values() if value is not None]
    paths = [one for one in found if hasattr(one, "relationships")]
    nodes = [one for one in found if hasattr(one, "labels")] + [node for one in paths for node in one.nodes]
    ties = [one for one in found if hasattr(one, "type")] + [tie for one in paths for tie in one.relationships]
    return Drawn(nodes, ties)


def _text(query: str) -> str:
    return (GUIDE / f"{query}.cypher").read_text("utf-8").strip().removesuffix(";")


def table(neo4j: Neo4jAddress, query: str) -> list[dict[str, Any]]:
    with driver_of(neo4j) as driver:
        return [record.data() for record in driver.execute_query(_text(query), PARAMETERS, database_="neo4j").records]


def test_each_query_says_what_it_is_for() -> None:
    """Browser takes the first line, a comment, as the name of a favourite."""
    for file in GUIDE.iterdir():
        assert file.suffix == ".cypher"
        assert file.read_text("utf-8").startswith("// ")


@pytest.mark.usefixtures("corpus")
async def test_each_query_draws_what_it_is_for(neo4j_server: Neo4jAddress) -> None:
    rows = table(neo4j_server, "corpora")
    assert [(row["corpus"], row["documents"]) for row in rows] == [("computing", 5), ("other", 5)]
    graph = drawn(neo4j_server, "documents")
    assert graph.nodes("Document", "key") == {document["id"] for document in DOCUMENTS}
    assert len(graph.nodes("Chunk", "id")) == len(graph.ties("HAS_CHUNK")) == len(DOCUMENTS) + 2
    assert len(graph.ties("NEXT")) == 2
    graph = drawn(neo4j_server, "entity", entity="ADA lovelace")
    assert graph.ties("FACT") == {
        ("Ada Lovelace", "wrote a program for", "Analytical E"),
        ("Ada Lovelace", "worked with", "Charles Babb"),
        ("Augustus De ", "taught", "Ada Lovelace"),
        ("Mary Somervi", "was the mentor of", "Ada Lovelace"),
    }
    passages = {"Ada Lovelace", "Augustus De "}  # how they begin
    assert {_start(text) for text in graph.nodes("Chunk", "text")} == passages
    assert {passage for passage, _ in graph.ties("MENTIONS")} == passages
    ways = {("Augustus De ", "taught", "Ada Lovelace"), ("Augustus De ", "was born in", "Madurai")}
    assert ways <= drawn(neo4j_server, "path").ties("FACT")
    graph = drawn(neo4j_server, "hubs")
    assert {"Ada Lovelace", "Charles Babbage", "Augustus De Morgan"} <= graph.nodes("Entity", "name")
    assert len(graph.ties("FACT")) == 14


async def test_labels_for_colours_change_nothing_else(neo4j_server: Neo4jAddress, desk: Desk, corpus: Corpus) -> None:
    """The statement of the documentation, with the names of this corpus."""
    page = (GUIDE.parents[1] / "explore.md").read_text("utf-8")
    _, _, rest = page.partition("## Colours of types")
    statement = rest.partition("```cypher\n")[2].partition("```")[0]
    statement = statement.replace("contracts", "computing").replace("Halden Works", "Ada Lovelace")
    before = await desk.export(corpus)
    with driver_of(neo4j_server) as driver:
        driver.execute_query(statement, database_="neo4j")
    assert drawn(neo4j_server, "hubs").nodes("company", "name") == {"Ada Lovelace"}
    assert await desk.export(corpus) == before
    await desk.delete(corpus, *(document["id"] for document in DOCUMENTS))
    with driver_of(neo4j_server) as driver:
        assert driver.execute_query("MATCH (n:company) RETURN n", database_="neo4j").records == []


async def test_a_path_through_a_passage_where_no_fact_leads(neo4j_server: Neo4jAddress, desk: Desk) -> None:
    corpus = await desk.corpus("computing", extractor="pattern")
    await desk.ingest(corpus, *DOCUMENTS)
    graph = drawn(neo4j_server, "path", other="Mary Somerville")
    assert not graph.ties("FACT")
    assert {entity for _, entity in graph.ties("MENTIONS")} >= {"Ada Lovelace", "Mary Somervi"}


async def test_a_trail_is_built_until_it_is_over_also_of_an_older_release(
    neo4j_server: Neo4jAddress, desk: Desk, corpus: Corpus
) -> None:
    await _leave_trail(desk, corpus)
    graph = drawn(neo4j_server, "trail", question="first computer PROGRAM")
    assert graph.nodes("Question", "text") == {QUESTION}
    assert {number for _, number, _ in graph.ties("STEP")} == {1, 2, 3}
    assert graph.ties("NEEDS") == {("2", "1"), ("3", "2")}
    assert {(name, rank) for name, rank, _ in graph.ties("FOUND")} == {(s, r) for s in "123" for r in (1, 2)}
    assert {marker for _, marker, _ in graph.ties("CITES")} == {1, 2}
    [row] = table(neo4j_server, "questions")
    assert (row["question"], row["support"]) == (QUESTION, "inferred")
    with driver_of(neo4j_server) as driver:
        driver.execute_query("MATCH (q:Question) REMOVE q.support, q.note", database_="neo4j")
        driver.execute_query("MATCH (s:Step) REMOVE s.support", database_="neo4j")
        assert drawn(neo4j_server, "trail").nodes("Step", "name") == {"1", "2", "3"}
        assert [row["support"] for row in table(neo4j_server, "questions")] == [""]
        driver.execute_query("MATCH (q:Question) SET q.expires_at = timestamp() / 1000.0 - 1", database_="neo4j")
    assert drawn(neo4j_server, "trail").size == 0
    assert table(neo4j_server, "questions") == []


async def test_each_keeps_to_its_corpus_and_none_shows_what_is_being_deleted(
    neo4j_server: Neo4jAddress, desk: Desk, corpus: Corpus
) -> None:
    """It is invisible at once, and gone only when a worker comes."""
    for each in await desk.record.corpora.list():
        await _leave_trail(desk, each)
    for query in GRAPHS:
        assert drawn(neo4j_server, query).corpora == {corpus.id}, query
    gone = [document_id(document["id"]) for document in DOCUMENTS]
    await desk.record.submissions.delete_documents(corpus.id, gone)
    for query in GRAPHS:
        graph = drawn(neo4j_server, query)
        assert graph.nodes("Chunk", "id") == graph.nodes("Document", "key") == set(), query
        assert graph.nodes("Question", "text") == set(), query
        assert not graph.ties("FACT"), query
    assert table(neo4j_server, "questions") == []


async def _leave_trail(desk: Desk, corpus: Corpus) -> None:
    answer, trace = await answered(desk, corpus)
    record: Any = desk.record
    assert await Neo4jTrails(record.database, days=1).write(corpus.id, build_trail(QUESTION, answer, trace))
