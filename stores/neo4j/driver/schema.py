"""The schema of the record: creates it in an empty database, migrates it, and refuses a database that is not ours."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from core.errors import InvalidSettings
from core.ids import new_id
from stores.neo4j.driver.connection import Connection
from stores.neo4j.driver.transaction import Transaction, script, statements

if TYPE_CHECKING:
    from neo4j import ManagedTransaction, Session


SCHEMA_VERSION = 12

STEPS: Mapping[int, Sequence[str]] = {
    1: (),
    2: (),
    3: (),
    4: (),
    5: (),
    6: (),
    7: (),
    8: (),
    9: (),
    10: (),
    11: ("mark_dated",),
}
"""For each version, the names of the statements in `cypher/migrations.cypher` that lead to the next version.

A version that only adds constraints, indexes or properties that may be missing needs none: the constraints and indexes
of `cypher/schema.cypher`, the newest schema, are created whenever they are missing.
"""


def steps_from(version: int, to: int) -> list[str] | None:
    """Returns the names of all statements between two versions, or None if there is no way."""
    if not 0 < version <= to or any(step not in STEPS for step in range(version, to)):
        return None
    return [statement for step in range(version, to) for statement in STEPS[step]]


_EXISTS_ALREADY = frozenset(
    f"Neo.ClientError.Schema.{what}"
    for what in ("EquivalentSchemaRuleAlreadyExists", "IndexAlreadyExists", "ConstraintAlreadyExists")
)


def neo4j_schema_of(uri: str, user: str, password: str, database: str) -> int | None:
    """Returns the version of the schema in a database, or None if the database is empty. Writes nothing.

    Raises `Unavailable`, or `InvalidSettings` if the database holds another application's data.
    """
    connection = Connection(uri, user, password, database)
    try:
        return read_schema_version(connection)
    finally:
        connection.close()


def prepare_schema(connection: Connection) -> None:
    """Brings the database to the newest schema.

    Raises `InvalidSettings`, before anything is written, if the server is too old, if the database holds another
    application's data, or if there is no migration from its schema.
    """
    version = read_schema_version(connection)
    if version == SCHEMA_VERSION:
        return
    if version is not None:
        _steps_from(connection.uri, version)
    with connection.session() as session:
        for statement in script("schema", "constraints"):
            _create(session, statement)
        session.execute_read(_run, "CALL db.awaitIndexes(60)")
        session.execute_write(lambda inner: _migrate(Transaction(inner), connection.uri))


def read_schema_version(connection: Connection) -> int | None:
    """Returns the version of the schema in the database, or None if the database is empty. Writes nothing.

    Raises `InvalidSettings` if the server is too old, or if the database holds another application's data.
    """
    check_server_version(connection.uri, connection.server())
    with connection.session() as session:
        version, labels = session.execute_read(_version_and_labels)
    if version is None:
        _check_is_empty(connection.uri, labels)
    return version


def check_server_version(uri: str, agent: str) -> None:
    """Raises `InvalidSettings` if the server is older than 5.13, which has no uniqueness of relationships.

    The tests run on 5.26. `agent` is the name and version that the server reports.
    """
    numbers = agent.partition("/")[2].split(".")
    try:
        version = int(numbers[0]), int(numbers[1])
    except (ValueError, IndexError):
        version = (0, 0)
    if version < (5, 13):
        raise InvalidSettings(
            f"the server at {uri} is {agent}; Hopweave needs Neo4j 5.26 (5.13 or later): check HOPWEAVE_NEO4J__URI"
        )


def _check_is_empty(uri: str, labels: Sequence[str]) -> None:
    if labels:
        raise InvalidSettings(
            f"the database in Neo4j at {uri} holds another application's data ({', '.join(labels[:5])}): give Hopweave "
            "a database of its own with HOPWEAVE_NEO4J__URI or HOPWEAVE_NEO4J__DATABASE; nothing was written"
        )


def _version_and_labels(inner: "ManagedTransaction") -> tuple[int | None, list[str]]:
    """Reads the labels first: another process may create the schema and write at the same time."""
    tx = Transaction(inner)
    labels = sorted(row["label"] for row in tx.rows(statements("schema")["labels"]))
    return tx.rows(statements("schema")["version"])[0]["version"], labels


def _create(session: "Session", statement: str) -> None:
    """Ignores that the rule exists. IF NOT EXISTS fails if another process creates the same rule at the same time."""
    from neo4j.exceptions import ClientError

    try:
        session.execute_write(_run, statement)
    except ClientError as error:
        if (error.code or "") not in _EXISTS_ALREADY:
            raise


def _run(inner: "ManagedTransaction", statement: str) -> None:
    inner.run(statement).consume()


def _migrate(tx: Transaction, uri: str) -> None:
    """Runs the migrations. The statement `claim` locks the schema's node, so processes migrate one by one."""
    version = tx.rows(statements("schema")["claim"], version=SCHEMA_VERSION, token=new_id())[0]["version"]
    for name in _steps_from(uri, version):
        tx.run(statements("migrations")[name])
    tx.run(statements("schema")["migrated"], version=SCHEMA_VERSION)


def _steps_from(uri: str, version: int) -> list[str]:
    steps = steps_from(version, SCHEMA_VERSION)
    if steps is None:
        raise InvalidSettings(
            f"the record in Neo4j at {uri} has schema {version}, and this release reads {SCHEMA_VERSION}: use the "
            "release that wrote it, or another database (HOPWEAVE_NEO4J__URI, HOPWEAVE_NEO4J__DATABASE)"
        )
    return steps
