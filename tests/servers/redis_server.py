"""Redis, as Debian packages it."""

import socket
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from tests.servers.server import Server


class RedisServer(Server):
    """Keeps what it acknowledged through a restart: every write is appended to a file."""

    name: ClassVar[str] = "redis"
    start_seconds: ClassVar[float] = 30

    def __init__(self, home: Path, *, port: int = 6390) -> None:
        super().__init__(home)
        self.port = port

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    @property
    def address(self) -> str:
        return self.url

    @property
    def ports(self) -> Sequence[int]:
        return (self.port,)

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
