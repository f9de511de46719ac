"""Redis, as Debian packages it."""

import socket
from collections.abc import Sequence
from typing import ClassVar

from tests.servers.server import Server


class RedisServer(Server):
    """Keeps what it acknowledged through a restart: every write is appended to a file."""

    name: ClassVar[str] = "redis"
    scheme = "redis"
    usual_port = 6390
    start_seconds: ClassVar[float] = 30

    @property
    def url(self) -> str:
        return f"{self.uri}/0"

    def command(self) -> Sequence[str]:
        options = {"port": self.port, "bind": "127.0.0.1", "save": "", "appendonly": "yes", "dir": self.home}
        return ["redis-server", *(word for key, value in options.items() for word in (f"--{key}", str(value)))]

    def is_healthy(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=2) as connection:
                connection.sendall(b"PING\r\n")
                return connection.recv(64).startswith(b"+PONG")
        except OSError:
            return False
