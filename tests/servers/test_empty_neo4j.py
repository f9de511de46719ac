"""What `clean_neo4j` promises, on a Neo4j of its own."""

import pytest
from neo4j import GraphDatabase

from tests.servers.addresses import Neo4jAddress
from tests.servers.fixtures import empty_neo4j
from tests.servers.neo4j_server import Neo4jServer

pytestmark = pytest.mark.servers


def test_nothing_is_left_but_what_neo4j_itself_keeps(own_neo4j: Neo4jServer) -> None:
    with (
        GraphDatabase.driver(own_neo4j.uri, auth=(own_neo4j.user, own_neo4j.password)) as driver,
        driver.session() as session,
    ):
        session.run("CREATE CONSTRAINT `of us` FOR (n:Thing) REQUIRE n.id IS UNIQUE").consume()
        session.run("CREATE FULLTEXT INDEX words FOR (n:Thing) ON EACH [n.text]").consume()
        session.run("UNWIND range(1, 6000) AS id CREATE (:Thing {id: id})-[:NEXT]->(:Thing)").consume()
        empty_neo4j(Neo4jAddress(uri=own_neo4j.uri))
        assert session.run("MATCH (n) RETURN count(n) AS count").single(strict=True)["count"] == 0
        assert session.run("SHOW CONSTRAINTS").data() == []
        assert [row["type"] for row in session.run("SHOW INDEXES").data()] == ["LOOKUP", "LOOKUP"]
