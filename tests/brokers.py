"""What waits in a broker, whichever it is."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from tests.servers.rabbitmq_server import RabbitmqServer
from tests.servers.redis_server import RedisServer

Broker = RedisServer | RabbitmqServer
QUEUE = "hopweave"


def waiting(broker: Broker) -> int:
    """How many messages nobody has taken."""
    with _queue(broker) as queue:
        return int(queue.queue_declare().message_count)


def take(broker: Broker) -> Any:
    """The next message, as Celery's transports understand it."""
    with _queue(broker) as queue:
        return queue.get(no_ack=True)


def forget(broker: Broker) -> None:
    """All messages, and those that a worker has which was killed just now."""
    with _queue(broker) as queue:
        queue.delete()


def make(broker: Broker, arguments: Mapping[str, str]) -> None:
    """The queue, as somebody else would, before any of ours is there."""
    with _queue(broker) as queue:
        queue.queue_arguments = dict(arguments)
        queue.queue_declare()


def guarded(broker: Broker, password: str) -> str:
    """Its URL with a password, which it asks for."""
    if isinstance(broker, RabbitmqServer):
        return broker.url
    from redis import Redis

    with Redis.from_url(broker.url) as client:
        client.config_set("requirepass", password)
    return broker.url.replace("//", f"//:{password}@")


def password_in(url: str) -> str:
    return urlsplit(url).password or ""


@contextmanager
def _queue(broker: Broker) -> Iterator[Any]:
    from kombu import Queue
    from kombu.connection import Connection

    connect: Any = Connection  # it has no types
    with connect(broker.url) as connection:
        yield Queue(QUEUE, channel=connection.default_channel)
