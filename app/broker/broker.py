"""The broker: where the doorbell hangs. Files in the data folder, or a server that all hosts reach."""

from pathlib import Path
from typing import Any

from app.broker.client import (
    PATIENCE_SECONDS,
    QUEUE,
    check_url,
    is_redis,
    make_connection,
    tls,
    translated,
    transport_options,
)
from core.settings import Settings

__all__ = ["broker_answer", "connect", "make_celery", "recreate_broker", "waiting_on"]

_FILESYSTEM = "filesystem://"


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
        check_url(settings.broker.url)
        app.conf.update(
            broker_transport_options=transport_options(settings.broker.url),
            broker_use_ssl=tls(settings.broker.url),
            broker_connection_timeout=2,
            broker_connection_max_retries=None,  # for ever
            broker_channel_error_retry=True,  # else RabbitMQ ends who keeps a message for half an hour
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
        return make_connection(url, _folders(settings.data_dir))
    check_url(url)
    options = {**transport_options(url), "max_retries": 0}
    if is_redis(url):
        options |= {"socket_timeout": PATIENCE_SECONDS, "socket_connect_timeout": PATIENCE_SECONDS}
    else:
        options |= {"read_timeout": PATIENCE_SECONDS, "write_timeout": PATIENCE_SECONDS, "confirm_publish": True}
    return make_connection(url, options)


def broker_answer(settings: Settings) -> str:
    """What answers at the broker's URL, such as `Redis 7.0.15`.

    Blocks for a second or two at most. Raises `Unavailable`, or `InvalidSettings` where it refuses us.
    """
    if settings.broker.url == _FILESYSTEM:
        return f"files in {_broker_folder(settings.data_dir)}"
    with connect(settings) as connection, translated(connection):
        channel = connection.default_channel
        if is_redis(settings.broker.url):
            return f"Redis {channel.client.info('server')['redis_version']}"
        waiting_on(connection)  # a user who may sign in and not use the queue is no use
        properties = connection.connection.server_properties
        return f"{properties.get('product', 'AMQP')} {properties.get('version', '')}".strip()


def waiting_on(connection: Any) -> int:
    """How many messages nobody has taken. The queue is made if it is not there, just as Celery makes it."""
    declared = connection.default_channel.queue_declare(queue=QUEUE, durable=True, auto_delete=False)
    return int(declared.message_count)


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
