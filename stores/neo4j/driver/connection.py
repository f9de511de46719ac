"""The connection to one Neo4j server: the driver, its time-outs, and the translation of its errors."""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from core.errors import InvalidSettings, Unavailable
from stores.neo4j.driver.address import check_uri, without_password
from stores.neo4j.driver.watchdog import Call, Watchdog

if TYPE_CHECKING:
    from neo4j import Driver, Session

__all__ = ["ANSWER_SECONDS", "Connection"]

ANSWER_SECONDS = 1.0
"""How long a read, for which a user may be waiting, endures a silent server. Probing the server takes longer."""

_TIMEOUT_SECONDS = 2.0  # a request must be answered within five seconds, whatever happens here
_RETRY_SECONDS = 0.2  # doubled each time: a deadlock ends soon, and a server that does not answer is asked twice
_IDLE_SECONDS = 5.0  # a connection that was idle for longer is tested before it is used: the server may be gone
_RATE_LIMIT = "Neo.ClientError.Security.AuthenticationRateLimit"


class Connection:
    """A connection that opens at its first use. It is safe to use from any thread."""

    def __init__(self, uri: str, user: str, password: str, database: str) -> None:
        self.uri = without_password(uri)
        self._uri = uri
        self._user = user
        self._password = password
        self._database = database
        self._lock = threading.Lock()
        self._driver: Driver | None = None
        self._closed = False
        self._watchdog = Watchdog(self.server)

    @contextmanager
    def session(self, patience: float = ANSWER_SECONDS) -> Iterator["Session"]:
        """Opens a session in which the driver's errors are translated.

        A call may last as long as the server gives signs of life. Raises `Unavailable` if the server is silent for
        `patience` seconds.
        """
        call: Call | None = None
        try:
            with (
                self.translate_errors(),
                self._open().session(database=self._database) as session,
                self._watchdog.watch(session, patience) as call,
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
        """Returns the name and version that the server reports, such as `Neo4j/5.26.30`."""
        with self.translate_errors():
            return str(self._open().get_server_info().agent)

    def close(self) -> None:
        with self._lock:
            self._closed = True
            driver, self._driver = self._driver, None
        if driver is not None:
            driver.close()

    def _open(self) -> "Driver":
        from neo4j import GraphDatabase

        check_uri(self._uri)
        with self._lock:
            if self._closed:
                raise Unavailable("the record in Neo4j is closed")
            if self._driver is None:
                logging.getLogger("neo4j").setLevel(
                    logging.ERROR
                )  # it warns of each retry; the result of the retries is reported here
                self._driver = GraphDatabase.driver(
                    self._uri,
                    auth=(self._user, self._password),
                    connection_timeout=_TIMEOUT_SECONDS,
                    # This is also the limit of the handshake. There are more connections (100) than threads that
                    # wait for one, so no caller times out here because of the others.
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
    def translate_errors(self) -> Iterator[None]:
        """Raises the driver's errors as `InvalidSettings` or `Unavailable`; other errors pass."""
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
    """Returns a message on one line, cut at 200 characters. Only the driver's own errors have it as their `str`."""
    text = getattr(error, "message", None) if hasattr(error, "code") else str(error)
    return " ".join(str(text or type(error).__name__).split())[:200]
