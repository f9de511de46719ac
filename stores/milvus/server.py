"""The connection to a Milvus server, and the translation of its errors."""

import logging
import re
import time
from collections.abc import Callable
from threading import Lock
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

from core.errors import InvalidSettings, Unavailable
from stores.circuit_breaker import CircuitBreaker

if TYPE_CHECKING:
    import grpc
    from pymilvus import MilvusClient


T = TypeVar("T")

_CONNECT_SECONDS = 2.0
_QUESTION_SECONDS = 60.0
_NO_COLLECTION = 100
_NOT_LOADED = (101, 103)  # not loaded; not loaded as a whole
_OLDEST = (2, 3)


class Absent(Exception):
    """The collection does not exist."""


class NotLoaded(Exception):
    """The collection exists but is not loaded, so it cannot be read."""


class Deadline:
    """The deadline of one call, which may send several requests."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """The timeout of the next request in seconds. At least 0.1, because pymilvus reads 0 as its default."""
        return min(_QUESTION_SECONDS, max(0.1, self._end - time.monotonic()))

    @property
    def is_spent(self) -> bool:
        return time.monotonic() >= self._end


class MilvusServer:
    """Connects at the first request, and again after an outage. Thread-safe."""

    def __init__(self, uri: str, token: str = "") -> None:
        self._uri = uri
        self._token = token
        self._client: MilvusClient | None = None
        self._lock = Lock()
        self._breaker = CircuitBreaker(self._probe)

    @property
    def address(self) -> str:
        """Host and port, for messages. The URI may contain a password."""
        return urlsplit(self._uri).netloc.rpartition("@")[2] or self._uri.rpartition("@")[2]

    def ask(self, call: "Callable[[MilvusClient], T]") -> T:
        """Returns what `call` returns. Raises `Absent`, `NotLoaded`, `InvalidSettings` or `Unavailable`, no SDK errors.

        `call` passes a timeout to each method of pymilvus, which otherwise retries for minutes.
        """
        self._breaker.check()
        return self._ask(call)

    def version(self) -> str:
        """Returns the version. Raises `InvalidSettings` if the server is too old or is not Milvus."""

        def work(client: "MilvusClient") -> str:
            version = str(client.get_server_version(timeout=_CONNECT_SECONDS))
            client.list_collections(timeout=_CONNECT_SECONDS)  # the version is returned even for a wrong token
            return version

        version = self.ask(work)
        number = re.search(r"(\d{1,9})\.(\d{1,9})", version)
        if number is None or (int(number[1]), int(number[2])) < _OLDEST:
            raise InvalidSettings(f"HOPWEAVE_MILVUS__URI: {self.address} is Milvus {version}; it must be 2.3 or newer")
        return version

    def close(self) -> None:
        with self._lock:
            if self._client is not None:
                self._client.close()
            self._client = None

    def _ask(self, call: "Callable[[MilvusClient], T]") -> T:
        import grpc
        from pymilvus.exceptions import MilvusException

        try:
            return call(self._connect())
        except (MilvusException, grpc.RpcError) as error:
            if _find_status(error) is grpc.StatusCode.DEADLINE_EXCEEDED:
                self._breaker.open()  # slow or frozen: the next call probes it, and a frozen server costs it less time
            raise self._translate(error) from error

    def _probe(self) -> None:
        self._ask(lambda client: client.get_server_version(timeout=_CONNECT_SECONDS))

    def _connect(self) -> "MilvusClient":
        with self._lock:
            if self._client is None:
                from pymilvus import MilvusClient

                # pymilvus logs tracebacks of errors that it also raises.
                logging.getLogger("pymilvus").setLevel(logging.CRITICAL)
                self._client = MilvusClient(self._uri, token=self._token, timeout=_CONNECT_SECONDS)
            return self._client

    def _translate(self, error: Exception) -> Exception:
        import grpc
        from pymilvus.exceptions import ConnectionConfigException, MilvusException

        if isinstance(error, ConnectionConfigException):
            return InvalidSettings(
                "HOPWEAVE_MILVUS__URI is not the address of a Milvus server: give http(s)://HOST:PORT"
            )
        if isinstance(error, MilvusException) and error.code == _NO_COLLECTION:
            return Absent()
        if isinstance(error, MilvusException) and error.code in _NOT_LOADED:
            return NotLoaded()
        status = _find_status(error)
        if status in (grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED):
            return InvalidSettings(f"Milvus at {self.address} refuses HOPWEAVE_MILVUS__TOKEN: set it to user:password")
        if status is grpc.StatusCode.UNIMPLEMENTED:
            return InvalidSettings(f"HOPWEAVE_MILVUS__URI: the server at {self.address} is not Milvus")
        reason = status.name if status else str(getattr(error, "message", error))
        return Unavailable(
            f"Milvus at {self.address} cannot be used now ({reason[:300]}): see that it runs and that "
            "HOPWEAVE_MILVUS__URI names it, and try again"
        )


def _find_status(error: BaseException | None) -> "grpc.StatusCode | None":
    """Returns the first gRPC status of an error and its causes. In pymilvus, an error can be its own cause."""
    import grpc

    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        code = error.code() if isinstance(error, grpc.RpcError) else getattr(error, "code", None)
        if isinstance(code, grpc.StatusCode):
            return code
        error = error.__cause__ if error.__cause__ not in (None, error) else error.__context__
    return None
