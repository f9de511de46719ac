"""Neo4j: the record of a server installation, its text index, and what is explored in Neo4j Browser."""

from stores.neo4j.connection import Connection
from stores.neo4j.record import Neo4jRecord
from stores.neo4j.text_index import Neo4jTextIndex

__all__ = ["Connection", "Neo4jRecord", "Neo4jTextIndex"]
