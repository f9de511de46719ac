"""Which schema a database has, told before anything is written to it."""

from stores.neo4j.driver.connection import Connection
from stores.neo4j.driver.database import Database

__all__ = ["neo4j_schema_of"]


def neo4j_schema_of(uri: str, user: str, password: str, database: str) -> int | None:
    """The version of the schema in a database; None where nothing of ours is there.

    Raises `Unavailable`, or `InvalidSettings` where another application's data is there.
    """
    connection = Connection(uri, user, password, database)
    try:
        return Database(connection).found_version()
    finally:
        connection.close()
