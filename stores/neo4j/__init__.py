"""Neo4j: the record of a server installation, its text index, and answer trails for Neo4j Browser."""

from stores.neo4j.driver.connection import Connection
from stores.neo4j.driver.schema import SCHEMA_VERSION as NEO4J_SCHEMA
from stores.neo4j.driver.schema import neo4j_schema_of
from stores.neo4j.record import Neo4jRecord
from stores.neo4j.text_index import Neo4jTextIndex
from stores.neo4j.trails import Neo4jTrails

__all__ = ["NEO4J_SCHEMA", "Connection", "Neo4jRecord", "Neo4jTextIndex", "Neo4jTrails", "neo4j_schema_of"]
