"""The connection to one Neo4j server: its address, the driver, its time-outs, and the translation of its errors."""

import logging
import threading
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from core.errors import InvalidSettings, Unavailable
from stores.neo4j.driver.watchdog import Call, Watchdog

if TYPE_CHECKING:
    from neo4j import Driver, Session


_SCHEMES = frozenset({"bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc"})


def _without_password(uri: str) -> str:
    """Returns the URI without a user or password that was written into it."""
    scheme, separator, rest = uri.rpartition("//")
    return f"{scheme}{separator}{rest.rpartition('@')[2]}"


def _check_uri(uri: str) -> None:
    """Raises `InvalidSettings` if the URI is no address of a Neo4j server, or holds a user or a password."""
    if _without_password(uri) != uri:
        raise InvalidSettings(
            "HOPWEAVE_NEO4J__URI holds a user or a password: give these as HOPWEAVE_NEO4J__USER and "
            f"HOPWEAVE_NEO4J__PASSWORD, and the address as {_without_password(uri)}"
        )
    try:
        parts = urlsplit(uri)
        is_valid = parts.scheme in _SCHEMES and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is no number
        is_valid = False
    if not is_valid:
        raise InvalidSettings(
            f"HOPWEAVE_NEO4J__URI is {uri!r}; it must be the address of a Neo4j server, such as bolt://127.0.0.1:7687"
        )


ANSWER_SECONDS = 1.0
"""How long a read, for which a user may be waiting, endures a silent server. Probing the server takes longer."""

_TIMEOUT_SECONDS = 2.0  # a request must be answered within five seconds, whatever happens here
_RETRY_SECONDS = 0.2  # doubled each time: a deadlock ends soon, and a server that does not answer is asked twice
_IDLE_SECONDS = 5.0  # a connection that was idle for longer is tested before it is used: the server may be gone
_READING = ("fetch_message", "_handshake")  # the driver's functions that read from a connection
_RATE_LIMIT = "Neo.ClientError.Security.AuthenticationRateLimit"


class Connection:
    """A connection that opens at its first use. It is safe to use from any thread."""

    def __init__(self, uri: str, user: str, password: str, database: str) -> None:
        self.uri = _without_password(uri)
        self._uri = uri
        self._user = user
        self._password = password
        self._database = database
        self._lock = threading.Lock()
        self._driver: Driver | None = None
        self._users = 0
        self._closed = False
        self._watchdog = Watchdog(self._probe)

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
                self._lend_driver() as driver,
                self._watchdog.watch(driver.session(database=self._database), patience) as call,
                _closing(call.session) as session,  # watched, too: a driver reads what it lacks before it closes
            ):
                yield session
        except Unavailable as error:
            if call is None or not call.was_cut:
                raise
            raise Unavailable(
                f"Neo4j at {self.uri} takes connections and does not answer: see whether it is frozen or has too much "
                "to do, and whether HOPWEAVE_NEO4J__URI is its address, and try again"
            ) from error

    def server(self) -> str:
        """Returns the name and version that the server reports, such as `Neo4j/5.26.30`."""
        with self.translate_errors(), self._lend_driver() as driver:
            return str(driver.get_server_info().agent)

    def _probe(self) -> None:
        """Probes the server. A server that refuses is alive; a garbled answer means that calls will never end."""
        from neo4j.exceptions import ConfigurationError

        try:
            self.server()
        except InvalidSettings as error:
            if isinstance(error.__cause__, ConfigurationError):
                raise Unavailable(str(error)) from error
            raise

    def close(self) -> None:
        """Refuses further calls. The driver is closed when the calls that last have ended, the watchdog's probe too."""
        with self._lock:
            self._closed = True
            unused = self._take_unused()
        if unused is not None:
            unused.close()

    @contextmanager
    def _lend_driver(self) -> Iterator["Driver"]:
        """Lends the driver, which is made at its first use and closed by its last user.

        A driver must not be closed while it is used: a connection that opens meanwhile would never be closed.
        """
        _check_uri(self._uri)
        with self._lock:
            if self._closed:
                raise Unavailable("the record in Neo4j is closed")
            if self._driver is None:
                self._driver = self._make_driver()
            driver = self._driver
            self._users += 1
        try:
            yield driver
        finally:
            with self._lock:
                self._users -= 1
                unused = self._take_unused()
            if unused is not None:
                unused.close()

    def _take_unused(self) -> "Driver | None":
        """Returns the driver if it is to be closed. The caller holds the lock."""
        if not self._closed or self._users:
            return None
        driver, self._driver = self._driver, None
        return driver

    def _make_driver(self) -> "Driver":
        from neo4j import GraphDatabase

        logging.getLogger("neo4j").setLevel(
            logging.ERROR
        )  # it warns of each retry; the result of the retries is reported here
        return GraphDatabase.driver(
            self._uri,
            auth=(self._user, self._password),
            connection_timeout=_TIMEOUT_SECONDS,
            # This is also the limit of the handshake. There are more connections (100) than threads that wait for them,
            # so no caller times out here because of the others.
            connection_acquisition_timeout=_TIMEOUT_SECONDS,
            liveness_check_timeout=_IDLE_SECONDS,
            max_transaction_retry_time=_TIMEOUT_SECONDS,
            initial_retry_delay=_RETRY_SECONDS,
            keep_alive=True,
            notifications_min_severity="OFF",
            telemetry_disabled=True,
        )

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
        except Exception as error:
            if not _is_about_an_answer(error):
                raise
            raise Unavailable(
                f"what answers at {self.uri} cannot be understood ({type(error).__name__}): check that it is Neo4j, "
                "what lies between, and HOPWEAVE_NEO4J__URI"
            ) from error


@contextmanager
def _closing(session: "Session") -> Iterator["Session"]:
    """Closes the session at the end of the block. A session that cannot read what it needs to close is cancelled, with
    its connection: the driver would leave both open.
    """
    try:
        yield session
    finally:
        try:
            session.close()
        except BaseException:
            # Ends its connection. The driver offers that to coroutines only.
            session._handle_cancellation()  # type: ignore[no-untyped-call]  # noqa: SLF001
            session.close()
            raise


def _brief(error: Exception) -> str:
    """Returns a message on one line, cut at 200 characters. Only the driver's own errors have it as their `str`."""
    text = getattr(error, "message", None) if hasattr(error, "code") else str(error)
    return " ".join(str(text or type(error).__name__).split())[:200]


def _is_about_an_answer(error: Exception) -> bool:
    """Whether the driver was reading an answer. It lets pass whatever its decoder raises at garbled bytes."""
    frames = (frame for frame, _ in traceback.walk_tb(error.__traceback__))
    return any(
        frame.f_code.co_name in _READING and frame.f_globals["__name__"].startswith("neo4j._sync.io")
        for frame in frames
    )
