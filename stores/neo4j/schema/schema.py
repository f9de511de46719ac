"""The schema in Neo4j: made where a database is empty, led to the newest, refused where it is another's."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from core.errors import InvalidSettings
from core.ids import new_id
from stores.neo4j.driver.connection import Connection
from stores.neo4j.driver.statements import script, statements
from stores.neo4j.driver.transaction import Transaction
from stores.neo4j.schema.migrations import SCHEMA_VERSION, steps_from

if TYPE_CHECKING:
    from neo4j import ManagedTransaction, Session

__all__ = ["found_version", "prepare", "refuse_old"]

_THERE_ALREADY = frozenset(
    f"Neo.ClientError.Schema.{what}"
    for what in ("EquivalentSchemaRuleAlreadyExists", "IndexAlreadyExists", "ConstraintAlreadyExists")
)


def prepare(connection: Connection) -> None:
    """Bring the database to the newest schema. Raises `InvalidSettings`, before anything is written, where it, or the
    server, cannot be ours.
    """
    version = found_version(connection)
    if version == SCHEMA_VERSION:
        return
    if version is not None:
        _steps(connection.uri, version)
    with connection.session() as session:
        for statement in script("schema", "constraints"):
            _make(session, statement)
        session.execute_read(_run, "CALL db.awaitIndexes(60)")
        session.execute_write(lambda inner: _migrate(Transaction(inner), connection.uri))


def found_version(connection: Connection) -> int | None:
    """The version of the schema that is there; None in an empty database. Writes nothing."""
    refuse_old(connection.uri, connection.server())
    with connection.session() as session:
        version, labels = session.execute_read(_found)
    if version is None:
        _refuse_foreign(connection.uri, labels)
    return version


def refuse_old(uri: str, agent: str) -> None:
    """5.26 is the line that is tested; before 5.13, relationships have no uniqueness."""
    numbers = agent.partition("/")[2].split(".")
    try:
        version = int(numbers[0]), int(numbers[1])
    except (ValueError, IndexError):
        version = (0, 0)
    if version < (5, 13):
        raise InvalidSettings(
            f"the server at {uri} is {agent}; Hopweave needs Neo4j 5.26 (5.13 or later): check HOPWEAVE_NEO4J__URI"
        )


def _refuse_foreign(uri: str, labels: Sequence[str]) -> None:
    if labels:
        raise InvalidSettings(
            f"the database in Neo4j at {uri} holds another application's data ({', '.join(labels[:5])}): give Hopweave "
            "a database of its own with HOPWEAVE_NEO4J__URI or HOPWEAVE_NEO4J__DATABASE; nothing was written"
        )


def _found(inner: "ManagedTransaction") -> tuple[int | None, list[str]]:
    """The labels first: another process may make the schema, and write, just now."""
    tx = Transaction(inner)
    labels = sorted(row["label"] for row in tx.rows(statements("schema")["foreign"]))
    return tx.rows(statements("schema")["version"])[0]["version"], labels


def _make(session: "Session", statement: str) -> None:
    """IF NOT EXISTS looks before it makes: where another process makes the same in between, it is refused."""
    from neo4j.exceptions import ClientError

    try:
        session.execute_write(_run, statement)
    except ClientError as error:
        if (error.code or "") not in _THERE_ALREADY:
            raise


def _run(inner: "ManagedTransaction", statement: str) -> None:
    inner.run(statement).consume()


def _migrate(tx: Transaction, uri: str) -> None:
    """`claim` locks the node, and so makes two processes that come at once take turns."""
    version = tx.rows(statements("schema")["claim"], version=SCHEMA_VERSION, token=new_id())[0]["version"]
    for name in _steps(uri, version):
        tx.run(statements("migrations")[name])
    tx.run(statements("schema")["migrated"], version=SCHEMA_VERSION)


def _steps(uri: str, version: int) -> list[str]:
    steps = steps_from(version, SCHEMA_VERSION)
    if steps is None:
        raise InvalidSettings(
            f"the record in Neo4j at {uri} has schema {version}, and this release reads {SCHEMA_VERSION}: use the "
            "release that wrote it, or another database (HOPWEAVE_NEO4J__URI, HOPWEAVE_NEO4J__DATABASE)"
        )
    return steps
