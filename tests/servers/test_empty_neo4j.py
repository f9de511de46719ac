"""What `clean_neo4j` promises."""

import pytest
from neo4j import GraphDatabase

from tests.servers.addresses import Neo4jAddress
from tests.servers.fixtures import empty_neo4j

pytestmark = pytest.mark.servers


def test_nothing_is_left_but_what_neo4j_itself_keeps(neo4j_server: Neo4jAddress) -> None:
    with (
        GraphDatabase.driver(neo4j_server.uri, auth=(neo4j_server.user, neo4j_server.password)) as driver,
        driver.session() as session,
    ):
        session.run("CREATE CONSTRAINT `of us` FOR (n:Thing) REQUIRE n.id IS UNIQUE").consume()
        session.run("CREATE FULLTEXT INDEX words FOR (n:Thing) ON EACH [n.text]").consume()
        session.run("UNWIND range(1, 6000) AS id CREATE (:Thing {id: id})-[:NEXT]->(:Thing)").consume()
        empty_neo4j(neo4j_server)
        assert session.run("MATCH (n) RETURN count(n) AS count").single(strict=True)["count"] == 0
        assert session.run("SHOW CONSTRAINTS").data() == []
        assert [row["type"] for row in session.run("SHOW INDEXES").data()] == ["LOOKUP", "LOOKUP"]
