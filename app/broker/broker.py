"""The broker of Celery: files in the data folder, or a server that all hosts reach."""

import threading
from pathlib import Path
from typing import Any

from app.broker.client import (
    QUEUE,
    TIMEOUT_SECONDS,
    check_url,
    is_redis,
    make_connection,
    tls_options,
    translate_errors,
    transport_options,
)
from core.settings import Settings

__all__ = ["check_broker", "connect", "count_messages", "delete_messages", "make_celery"]

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
            broker_use_ssl=tls_options(settings.broker.url),
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
        return make_connection(url, _folders(settings.data_dir))
    check_url(url)
    options = {**transport_options(url), "max_retries": 0}
    if is_redis(url):
        options |= {"socket_timeout": TIMEOUT_SECONDS, "socket_connect_timeout": TIMEOUT_SECONDS}
    else:
        options |= {"read_timeout": TIMEOUT_SECONDS, "write_timeout": TIMEOUT_SECONDS, "confirm_publish": True}
    return make_connection(url, options)


def check_broker(settings: Settings) -> str:
    """Returns the name and version of the broker that answers, such as `Redis 7.0.15`.

    Blocks for at most two seconds or so. Raises `Unavailable`, or `InvalidSettings` if the broker refuses access.
    """
    if settings.broker.url == _FILESYSTEM:
        return f"files in {_broker_folder(settings.data_dir)}"
    with connect(settings) as connection, translate_errors(connection):
        channel = connection.default_channel
        if is_redis(settings.broker.url):
            return f"Redis {channel.client.info('server')['redis_version']}"
        count_messages(connection)  # the user must also have access to the queue
        properties = connection.connection.server_properties
        return f"{properties.get('product', 'AMQP')} {properties.get('version', '')}".strip()


def count_messages(connection: Any) -> int:
    """Returns how many messages no worker has taken. Declares the queue, with the same arguments as Celery does."""
    declared = connection.default_channel.queue_declare(queue=QUEUE, durable=True, auto_delete=False)
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
