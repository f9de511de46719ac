"""The broker of Celery: files in the data folder, or a server that all hosts reach.

First come clients of a broker on a server: options that follow from its URL, and translation of the errors they raise.
"""

import ssl
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from core.errors import InvalidSettings, Unavailable
from core.settings import Settings

_QUEUE = "hopweave"
_TIMEOUT_SECONDS = 1.0  # a broker that hangs costs two of them: each message is tried twice
_VISIBILITY_SECONDS = 600
GARBLED = (ValueError, TypeError, AttributeError, LookupError, RecursionError, struct.error)
"""The errors of the clients' parsers for an answer that is not from a broker."""

_REDIS = ("redis", "rediss", "sentinel")
_SCHEMES = (*_REDIS, "amqp", "amqps", "pyamqp")


def _is_redis(url: str) -> bool:
    return url.startswith(_REDIS)


def _check_url(url: str) -> None:
    """Raises `InvalidSettings` if no client can be made for the URL, without showing it: it may contain a password."""
    unclear = InvalidSettings(
        "HOPWEAVE_BROKER__URL cannot be understood; it looks like redis://:password@host:6379/0 or "
        "amqp://user:password@host:5672//"
    )
    scheme = url.partition("://")[0]
    if scheme not in _SCHEMES:
        raise unclear
    try:
        connection = _make_connection(url, {})
    except ValueError as error:  # such as a port that is no number
        raise unclear from error
    database = (connection.virtual_host or "").strip("/")
    if scheme in _REDIS and database and not database.isdigit():
        raise unclear


def _make_connection(url: str, options: dict[str, Any]) -> Any:
    from kombu import connection

    make: Any = connection.Connection  # it has no types
    return make(url, ssl=_tls_options(url), transport_options=options, connect_timeout=_TIMEOUT_SECONDS, heartbeat=0)


def _tls_options(url: str) -> dict[str, Any]:
    """Requires a certificate for the host name before the password is sent. Kombu would require none of Redis."""
    match url.partition("://")[0]:
        case "rediss":
            return {"ssl_cert_reqs": ssl.CERT_REQUIRED}
        case "amqps":
            return {"server_hostname": None}  # kombu fills in the host name
        case _:
            return {}


def _transport_options(url: str) -> dict[str, Any]:
    """Returns options for the connection of a worker, which waits for messages for days. AMQP needs none."""
    if not _is_redis(url):
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
                f"{where} has a queue {_QUEUE!r} of another kind: delete it, or name another virtual host in "
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


_FILESYSTEM = "filesystem://"

_importing = threading.Lock()
"""Celery replaces its module while it is imported, so the first two imports must not meet in two threads."""


def make_celery(settings: Settings) -> Any:
    """Makes the Celery application for the configured broker. It connects on first use. Raises `InvalidSettings`."""
    with _importing:
        from celery import Celery

    app = Celery("hopweave", set_as_current=False)
    app.conf.update(
        broker_url=settings.broker.url,
        task_ignore_result=True,
        task_acks_late=True,
        task_reject_on_worker_lost=True,
        task_default_queue=_QUEUE,
        task_serializer="json",
        accept_content=["json"],
        worker_prefetch_multiplier=1,
        worker_hijack_root_logger=False,
        worker_redirect_stdouts=False,
        worker_enable_remote_control=False,
        broker_connection_retry_on_startup=True,
    )
    if settings.broker.url == _FILESYSTEM:
        app.conf.broker_transport_options = _folders(settings.data_dir)
    else:
        _check_url(settings.broker.url)
        app.conf.update(
            broker_transport_options=_transport_options(settings.broker.url),
            broker_use_ssl=_tls_options(settings.broker.url),
            broker_connection_timeout=2,
            broker_connection_max_retries=None,  # no limit
            broker_channel_error_retry=True,  # else RabbitMQ closes a channel that keeps a message for half an hour
            broker_heartbeat=0,  # none could be sent while a task runs, which takes minutes
            worker_cancel_long_running_tasks_on_connection_loss=False,  # the record fences work that is done twice
        )
    return app


def delete_messages(settings: Settings) -> None:
    """Deletes all messages of a broker in the data folder. A half-written message would stop it.

    Nothing is lost: the record is the queue.
    """
    if settings.broker.url == _FILESYSTEM:
        for message in _broker_folder(settings.data_dir).rglob("*.msg"):
            message.unlink(missing_ok=True)  # the folders stay: another process may be writing a message


def connect(settings: Settings) -> Any:
    """Makes a kombu connection with short timeouts. It connects on first use. Raises `InvalidSettings`."""
    url = settings.broker.url
    if url == _FILESYSTEM:
        return _make_connection(url, _folders(settings.data_dir))
    _check_url(url)
    options = {**_transport_options(url), "max_retries": 0}
    if _is_redis(url):
        options |= {"socket_timeout": _TIMEOUT_SECONDS, "socket_connect_timeout": _TIMEOUT_SECONDS}
    else:
        options |= {"read_timeout": _TIMEOUT_SECONDS, "write_timeout": _TIMEOUT_SECONDS, "confirm_publish": True}
    return _make_connection(url, options)


def check_broker(settings: Settings) -> str:
    """Returns the name and version of the broker that answers, such as `Redis 7.0.15`.

    Blocks for at most two seconds or so. Raises `Unavailable`, or `InvalidSettings` if the broker refuses access.
    """
    if settings.broker.url == _FILESYSTEM:
        return f"files in {_broker_folder(settings.data_dir)}"
    with connect(settings) as connection, translate_errors(connection):
        channel = connection.default_channel
        if _is_redis(settings.broker.url):
            return f"Redis {channel.client.info('server')['redis_version']}"
        count_messages(connection)  # the user must also have access to the queue
        properties = connection.connection.server_properties
        return f"{properties.get('product', 'AMQP')} {properties.get('version', '')}".strip()


def count_messages(connection: Any) -> int:
    """Returns how many messages no worker has taken. Declares the queue, with the same arguments as Celery does."""
    declared = connection.default_channel.queue_declare(queue=_QUEUE, durable=True, auto_delete=False)
    return int(declared.message_count)


def _folders(data_dir: Path) -> dict[str, Any]:
    folder = _broker_folder(data_dir)
    for each in (data_dir, folder, *(folder / part for part in ("queue", "control", "processed"))):
        each.mkdir(mode=0o700, parents=True, exist_ok=True)
    return {
        "data_folder_in": str(folder / "queue"),
        "data_folder_out": str(folder / "queue"),
        "control_folder": str(folder / "control"),
        "processed_folder": str(folder / "processed"),
        "store_processed": False,
        "polling_interval": 0.1,
    }


def _broker_folder(data_dir: Path) -> Path:
    return data_dir / "broker"
