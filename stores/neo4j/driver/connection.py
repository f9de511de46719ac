"""One driver for one server, with time-outs that suit a waiting user, and its errors in our words."""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from core.errors import InvalidSettings, Unavailable
from stores.neo4j.driver.address import refuse_wrong_uri, shown
from stores.neo4j.driver.watch import Call, Watch

if TYPE_CHECKING:
    from neo4j import Driver, Session

__all__ = ["ANSWER_SECONDS", "Connection"]

ANSWER_SECONDS = 1.0
"""How long who reads, perhaps for a user, bears a server that is silent; looking for a sign of life takes longer."""

_TIMEOUT_SECONDS = 2.0  # a request must be answered within five, whatever happens here
_RETRY_SECONDS = 0.2  # then doubled: a deadlock is over soon, and a server that does not answer is asked twice
_IDLE_SECONDS = 5.0  # a connection that was idle for longer is tried before it is used: the server may have gone
_RATE_LIMIT = "Neo.ClientError.Security.AuthenticationRateLimit"


class Connection:
    """Opened when it is first used; any thread may use it."""

    def __init__(self, uri: str, user: str, password: str, database: str) -> None:
        self.uri = shown(uri)
        self._uri = uri
        self._user = user
        self._password = password
        self._database = database
        self._lock = threading.Lock()
        self._driver: Driver | None = None
        self._closed = False
        self._watch = Watch(self.server)

    @contextmanager
    def session(self, patience: float = ANSWER_SECONDS) -> Iterator["Session"]:
        """A session; whatever the driver raises in it is translated.

        It may last for as long as the server shows that it lives; one that is silent is borne for `patience` seconds.
        """
        call: Call | None = None
        try:
            with (
                self.translated(),
                self._open().session(database=self._database) as session,
                self._watch.over(session, patience) as call,
            ):
                yield session
        except Unavailable as error:
            if call is None or not call.was_cut:
                raise
            raise Unavailable(
                f"Neo4j at {self.uri} takes connections and does not answer: see whether it is frozen or has too much "
                "to do, and try again"
            ) from error

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

        refuse_wrong_uri(self._uri)
        with self._lock:
            if self._closed:
                raise Unavailable("the record in Neo4j is closed")
            if self._driver is None:
                logging.getLogger("neo4j").setLevel(logging.ERROR)  # it warns of each retry; we say what comes of them
                self._driver = GraphDatabase.driver(
                    self._uri,
                    auth=(self._user, self._password),
                    connection_timeout=_TIMEOUT_SECONDS,
                    # Also how long a server may take to shake hands. Connections (100) are more than threads that
                    # wait for one, so that nobody times out here because of others.
                    connection_acquisition_timeout=_TIMEOUT_SECONDS,
                    liveness_check_timeout=_IDLE_SECONDS,
                    max_transaction_retry_time=_TIMEOUT_SECONDS,
                    initial_retry_delay=_RETRY_SECONDS,
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
        except exceptions.ConfigurationError as error:
            raise InvalidSettings(
                f"what listens at {self.uri} is no Neo4j that Hopweave can use: {_brief(error)}; check "
                "HOPWEAVE_NEO4J__URI"
            ) from error
        except exceptions.AuthError as error:
            raise InvalidSettings(
                f"Neo4j at {self.uri} refuses the user {self._user!r}: check HOPWEAVE_NEO4J__USER and "
                "HOPWEAVE_NEO4J__PASSWORD"
            ) from error
        except exceptions.ClientError as error:
            if error.code == _RATE_LIMIT:
                raise Unavailable(
                    f"Neo4j at {self.uri} refuses the user {self._user!r} for some seconds, after too many wrong "
                    "passwords: check HOPWEAVE_NEO4J__PASSWORD here and wherever else Hopweave runs"
                ) from error
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
    """A message, which may be long, on one line; the driver's own errors hold theirs in `str`, the server's not."""
    text = getattr(error, "message", None) if hasattr(error, "code") else str(error)
    return " ".join(str(text or type(error).__name__).split())[:200]
