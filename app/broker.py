"""The broker: where the doorbell hangs. Files in the data folder, or a server that all hosts reach."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from core.errors import InvalidSettings, Unavailable
from core.settings import Settings

__all__ = ["QUEUE", "broker_answer", "connect", "make_celery", "recreate_broker", "translated"]

QUEUE = "hopweave"
_FILESYSTEM = "filesystem://"
_RING_SECONDS = 1.0  # with a second try, a broker that hangs costs the one who rings two
_VISIBILITY_SECONDS = 600
_REDIS = ("redis", "rediss", "sentinel")
_SCHEMES = (*_REDIS, "amqp", "amqps", "pyamqp")


def make_celery(settings: Settings) -> Any:
    """A Celery application for the configured broker; it connects when first used. Raises `InvalidSettings`."""
    from celery import Celery

    app = Celery("hopweave", set_as_current=False)
    app.conf.update(
        broker_url=settings.broker.url,
        task_ignore_result=True,
        task_acks_late=True,
        task_reject_on_worker_lost=True,
        task_default_queue=QUEUE,
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
            broker_transport_options=_options(settings.broker.url),
            broker_connection_timeout=2,
            broker_connection_max_retries=None,  # for ever
            broker_heartbeat=0,  # nobody would send one while a task is worked on, for minutes
            worker_cancel_long_running_tasks_on_connection_loss=False,  # the record fences what is done twice
        )
    return app


def recreate_broker(settings: Settings) -> None:
    """Empty the filesystem broker: it dies of a half-written message, and nothing is lost, since the record knows."""
    if settings.broker.url == _FILESYSTEM:
        for message in _broker_folder(settings.data_dir).rglob("*.msg"):
            message.unlink(missing_ok=True)  # the folders stay: others may be ringing at this moment


def connect(settings: Settings) -> Any:
    """A connection (kombu's) for one who must not wait long; it connects when first used. Raises `InvalidSettings`."""
    url = settings.broker.url
    if url == _FILESYSTEM:
        return _connection(url, _folders(settings.data_dir))
    _check_url(url)
    options = {**_options(url), "max_retries": 0}
    if url.startswith(_REDIS):
        options |= {"socket_timeout": _RING_SECONDS, "socket_connect_timeout": _RING_SECONDS}
    else:
        options |= {"read_timeout": _RING_SECONDS, "write_timeout": _RING_SECONDS}
    return _connection(url, options)


def broker_answer(settings: Settings) -> str:
    """What answers at the broker's URL, such as `Redis 7.0.15`.

    Blocks for a second or two at most. Raises `Unavailable`, or `InvalidSettings` where it refuses us.
    """
    if settings.broker.url == _FILESYSTEM:
        return f"files in {_broker_folder(settings.data_dir)}"
    with connect(settings) as connection, translated(connection):
        channel = connection.default_channel
        if settings.broker.url.startswith(_REDIS):
            return f"Redis {channel.client.info('server')['redis_version']}"
        properties = connection.connection.server_properties
        return f"{properties.get('product', 'AMQP')} {properties.get('version', '')}".strip()


@contextmanager
def translated(connection: Any) -> Iterator[None]:
    """What a connection's client raises, in our words, which hold no password."""
    from amqp.exceptions import AccessRefused  # type: ignore[import-untyped] # it has no stubs
    from kombu.exceptions import OperationalError
    from redis.exceptions import AuthenticationError, NoPermissionError, ResponseError

    database = (connection.virtual_host or "").lstrip("/")
    where = f"the broker at {connection.transport_cls}://{connection.host}/{database}"
    try:
        yield
    except (OperationalError, OSError, *connection.connection_errors, *connection.channel_errors) as error:
        cause = error.__cause__ or error
        if isinstance(cause, (AuthenticationError, NoPermissionError, AccessRefused)) or _wants_password(cause):
            raise InvalidSettings(f"{where} refuses us: check the user and password in HOPWEAVE_BROKER__URL") from error
        if isinstance(cause, ResponseError) and "DB index" in str(cause):
            raise InvalidSettings(f"{where} has no such database ({cause}): check HOPWEAVE_BROKER__URL") from error
        said = str(error).replace(connection.password or "\0", "**") or type(error).__name__
        raise Unavailable(
            f"{where} cannot be reached: {said}; what is queued is in the record, and workers find it there"
        ) from error


def _wants_password(error: BaseException) -> bool:
    return "NOAUTH" in str(error) or "Authentication required" in str(error)


def _check_url(url: str) -> None:
    """What no client can be made for is a mistake to be told at once. It may hold a password, so it is not shown."""
    unclear = InvalidSettings(
        "HOPWEAVE_BROKER__URL cannot be understood; it looks like redis://:password@host:6379/0 or "
        "amqp://user:password@host:5672//"
    )
    scheme = url.partition("://")[0]
    if scheme not in _SCHEMES:
        raise unclear
    try:
        connection = _connection(url, {})
    except ValueError as error:  # such as a port that is no number
        raise unclear from error
    database = (connection.virtual_host or "").strip("/")
    if scheme in _REDIS and database and not database.isdigit():
        raise unclear


def _connection(url: str, options: dict[str, Any]) -> Any:
    from kombu import connection

    make: Any = connection.Connection  # it has no types
    return make(url, transport_options=options, connect_timeout=_RING_SECONDS, heartbeat=0)


def _options(url: str) -> dict[str, Any]:
    """For a worker's connection, which waits for messages for days. AMQP needs none of this."""
    if not url.startswith(_REDIS):
        return {}
    return {
        "visibility_timeout": _VISIBILITY_SECONDS,
        "unacked_restore_throttle": 1,  # else it is looked ten times more seldom for messages of workers that died
        "socket_timeout": 10.0,
        "socket_connect_timeout": 2.0,
        "socket_keepalive": True,
        "health_check_interval": 10,
    }


def _folders(data_dir: Path) -> dict[str, Any]:
    folder = _broker_folder(data_dir)
    for part in ("queue", "control", "processed"):
        (folder / part).mkdir(parents=True, exist_ok=True)
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
