"""Clients of a broker on a server: options that follow from its URL, and translation of the errors they raise."""

import ssl
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from core.errors import InvalidSettings, Unavailable

__all__ = [
    "GARBLED",
    "QUEUE",
    "TIMEOUT_SECONDS",
    "check_url",
    "is_redis",
    "make_connection",
    "tls_options",
    "translate_errors",
    "transport_options",
]

QUEUE = "hopweave"
TIMEOUT_SECONDS = 1.0  # a broker that hangs costs two of them: each message is tried twice
_VISIBILITY_SECONDS = 600
GARBLED = (ValueError, TypeError, AttributeError, LookupError, RecursionError, struct.error)
"""The errors of the clients' parsers for an answer that is not from a broker."""

_REDIS = ("redis", "rediss", "sentinel")
_SCHEMES = (*_REDIS, "amqp", "amqps", "pyamqp")


def is_redis(url: str) -> bool:
    return url.startswith(_REDIS)


def check_url(url: str) -> None:
    """Raises `InvalidSettings` if no client can be made for the URL, without showing it: it may contain a password."""
    unclear = InvalidSettings(
        "HOPWEAVE_BROKER__URL cannot be understood; it looks like redis://:password@host:6379/0 or "
        "amqp://user:password@host:5672//"
    )
    scheme = url.partition("://")[0]
    if scheme not in _SCHEMES:
        raise unclear
    try:
        connection = make_connection(url, {})
    except ValueError as error:  # such as a port that is no number
        raise unclear from error
    database = (connection.virtual_host or "").strip("/")
    if scheme in _REDIS and database and not database.isdigit():
        raise unclear


def make_connection(url: str, options: dict[str, Any]) -> Any:
    from kombu import connection

    make: Any = connection.Connection  # it has no types
    return make(url, ssl=tls_options(url), transport_options=options, connect_timeout=TIMEOUT_SECONDS, heartbeat=0)


def tls_options(url: str) -> dict[str, Any]:
    """Requires a certificate for the host name before the password is sent. Kombu would require none of Redis."""
    match url.partition("://")[0]:
        case "rediss":
            return {"ssl_cert_reqs": ssl.CERT_REQUIRED}
        case "amqps":
            return {"server_hostname": None}  # kombu fills in the host name
        case _:
            return {}


def transport_options(url: str) -> dict[str, Any]:
    """Returns options for the connection of a worker, which waits for messages for days. AMQP needs none."""
    if not is_redis(url):
        return {}
    return {
        "visibility_timeout": _VISIBILITY_SECONDS,
        "unacked_restore_throttle": 1,  # else messages of dead workers are restored ten times less often
        "socket_timeout": 10.0,
        "socket_connect_timeout": 2.0,
        "socket_keepalive": True,
        "health_check_interval": 10,
    }


@contextmanager
def translate_errors(connection: Any) -> Iterator[None]:
    """Translates what a client raises to `Unavailable` or `InvalidSettings`, without the password.

    The block calls the client and does nothing else: an answer that cannot be parsed raises errors of any kind.
    """
    from amqp import exceptions as amqp
    from kombu.exceptions import OperationalError
    from redis.exceptions import AuthenticationError, NoPermissionError, ResponseError

    database = (connection.virtual_host or "").lstrip("/")
    where = f"the broker at {connection.transport_cls}://{connection.host}/{database}"
    try:
        yield
    except (
        OperationalError,
        OSError,
        amqp.MessageNacked,
        *connection.connection_errors,
        *connection.channel_errors,
    ) as error:
        cause = error.__cause__ or error
        if isinstance(cause, (AuthenticationError, NoPermissionError, amqp.AccessRefused)) or _wants_password(cause):
            raise InvalidSettings(f"{where} refuses us: check the user and password in HOPWEAVE_BROKER__URL") from error
        if isinstance(cause, amqp.NotAllowed) and "limit" not in str(cause):  # a full host is temporary
            raise InvalidSettings(f"{where} has no such virtual host for us: check HOPWEAVE_BROKER__URL") from error
        if isinstance(cause, amqp.PreconditionFailed):
            raise InvalidSettings(
                f"{where} has a queue {QUEUE!r} of another kind: delete it, or name another virtual host in "
                "HOPWEAVE_BROKER__URL"
            ) from error
        if isinstance(cause, ResponseError) and "DB index" in str(cause):
            raise InvalidSettings(f"{where} has no such database ({cause}): check HOPWEAVE_BROKER__URL") from error
        said = str(error).replace(connection.password or "\0", "**") or type(error).__name__
        raise Unavailable(
            f"{where} cannot be reached: {said}; check that it runs, and HOPWEAVE_BROKER__URL; what is queued is in "
            "the record, and workers find it there"
        ) from error
    except GARBLED as error:
        raise Unavailable(
            f"what answers as {where} cannot be understood ({type(error).__name__}): check HOPWEAVE_BROKER__URL; what "
            "is queued is in the record, and workers find it there"
        ) from error


def _wants_password(error: BaseException) -> bool:
    return "NOAUTH" in str(error) or "Authentication required" in str(error)
