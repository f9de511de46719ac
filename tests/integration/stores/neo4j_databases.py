"""The database of a Neo4j server for tests of the record: connecting to it, reading it directly, and emptying it."""

from neo4j import Driver, GraphDatabase

from stores.neo4j.driver.connection import Connection
from tests.servers.addresses import Neo4jAddress

__all__ = ["connection_to", "driver_of", "emptied"]

_DATABASE = "neo4j"
_EMPTY = "MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 5000 ROWS"


def driver_of(address: Neo4jAddress) -> Driver:
    """Opens a driver, for tests that read or prepare a database without the record."""
    return GraphDatabase.driver(
        address.uri, auth=(address.user, address.password), notifications_min_severity="OFF", connection_timeout=5
    )


def connection_to(address: Neo4jAddress, *, password: str | None = None, database: str = _DATABASE) -> Connection:
    return Connection(address.uri, address.user, password or address.password, database)


def emptied(address: Neo4jAddress) -> None:
    """Deletes every node. Constraints and indexes stay, as creating them takes long."""
    with driver_of(address) as driver, driver.session(database=_DATABASE) as session:
        session.run(_EMPTY).consume()
