"""One driver for one server, with time-outs that suit a waiting user, and its errors in our words."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from core.errors import InvalidSettings, Unavailable

if TYPE_CHECKING:
    from neo4j import Driver, Session

__all__ = ["Connection"]

_TIMEOUT_SECONDS = 2.0  # a request must be answered within five, whatever happens here
_ACQUISITION_SECONDS = 30.0  # all connections in use is load, not an outage


class Connection:
    """Opened when it is first used; any thread may use it."""

    def __init__(self, uri: str, user: str, password: str, database: str) -> None:
        self.uri = uri
        self._user = user
        self._password = password
        self._database = database
        self._lock = threading.Lock()
        self._driver: Driver | None = None
        self._closed = False

    @contextmanager
    def session(self) -> Iterator["Session"]:
        """A session; whatever the driver raises in it is translated."""
        with self.translated(), self._open().session(database=self._database) as session:
            yield session

    def server(self) -> str:
        """What the server calls itself, such as `Neo4j/5.26.30`."""
        with self.translated():
            return str(self._open().get_server_info().agent)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            driver, self._driver = self._driver, None
        if driver is not None:
            driver.close()

    def _open(self) -> "Driver":
        from neo4j import GraphDatabase

        with self._lock:
            if self._closed:
                raise Unavailable("the record in Neo4j is closed")
            if self._driver is None:
                self._driver = GraphDatabase.driver(
                    self.uri,
                    auth=(self._user, self._password),
                    connection_timeout=_TIMEOUT_SECONDS,
                    connection_acquisition_timeout=_ACQUISITION_SECONDS,
                    max_transaction_retry_time=_TIMEOUT_SECONDS,
                    keep_alive=True,
                    notifications_min_severity="OFF",
                    telemetry_disabled=True,
                )
            return self._driver

    @contextmanager
    def translated(self) -> Iterator[None]:
        from neo4j import exceptions

        try:
            yield
        except (exceptions.AuthError, exceptions.ConfigurationError) as error:
            raise InvalidSettings(
                f"Neo4j at {self.uri} refuses the user {self._user!r}: check HOPWEAVE_NEO4J__USER and "
                "HOPWEAVE_NEO4J__PASSWORD"
            ) from error
        except exceptions.ClientError as error:
            if (error.code or "").endswith("Database.DatabaseNotFound"):
                raise InvalidSettings(
                    f"Neo4j at {self.uri} has no database {self._database!r}: check HOPWEAVE_NEO4J__DATABASE"
                ) from error
            raise
        except (exceptions.DriverError, exceptions.TransientError, exceptions.DatabaseError) as error:
            raise Unavailable(
                f"Neo4j at {self.uri} cannot be used now: {_brief(error)}; check that it runs, and HOPWEAVE_NEO4J__URI"
            ) from error


def _brief(error: Exception) -> str:
    """The first line of a message, which may be long."""
    text = str(getattr(error, "message", None) or error).strip() or type(error).__name__
    return text.splitlines()[0][:200]
