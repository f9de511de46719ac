"""RabbitMQ, as Debian packages it."""

import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Self

from tests.servers.server import Server

# The one on the path would become another user, with a home of its own.
PROGRAM = "/usr/lib/rabbitmq/bin/rabbitmq-server"
USER = "hopweave"
# Weak and known to all: for a server that listens on loopback only and holds nothing but what was made up.
PASSWORD = "hopweave-local"  # noqa: S105 - see above


class RabbitmqServer(Server):
    """One node with one account, and an epmd of its own, by which nodes find each other: they live and die together.

    Whoever works on a message for longer than `consumer_seconds` loses his channel, and the message goes to another.
    """

    name: ClassVar[str] = "rabbitmq"
    scheme = "amqp"
    user: ClassVar[str] = USER
    password: ClassVar[str] = PASSWORD

    def __init__(
        self, home: Path, *, port: int, node_port: int, epmd_port: int, consumer_seconds: float = 1800
    ) -> None:
        super().__init__(home, port=port)
        self.node_port = node_port
        self.epmd_port = epmd_port
        self.consumer_seconds = consumer_seconds

    @classmethod
    def on(cls, home: Path, ports: Sequence[int]) -> Self:
        return cls(home, port=ports[0], node_port=ports[1], epmd_port=ports[2])

    @property
    def url(self) -> str:
        return f"amqp://{self.user}:{self.password}@127.0.0.1:{self.port}//"

    @property
    def ports(self) -> Sequence[int]:
        return self.port, self.node_port, self.epmd_port

    def prepare(self) -> None:
        lines = {
            "listeners.tcp.default": f"127.0.0.1:{self.port}",
            "default_user": self.user,
            "default_pass": self.password,
            "log.console.level": "info",
            "disk_free_limit.absolute": "50MB",
        }
        conf = "".join(f"{key} = {value}\n" for key, value in lines.items())
        (self.home / "rabbitmq.conf").write_text(conf, "utf-8")
        (self.home / "plugins").write_text("[].\n", "utf-8")
        (self.home / "advanced.config").write_text(self._advanced(), "utf-8")
        cookie = self.home / ".erlang.cookie"
        if not cookie.exists():  # else Erlang makes one that can be guessed
            cookie.touch(mode=0o400)
            cookie.chmod(0o600)
            cookie.write_text(secrets.token_hex(16), "ascii")
            cookie.chmod(0o400)

    def command(self) -> Sequence[str]:
        # Started here and not by the server, so that it is no daemon: it ends with the group, and with the server.
        epmd = "setpriv --pdeathsig KILL epmd & until epmd -names >/dev/null 2>&1; do sleep 0.05; done"
        return ["sh", "-c", f"{epmd}; exec {PROGRAM}"]

    def environment(self) -> Mapping[str, str]:
        home = str(self.home)
        return {
            "HOME": home,  # for the cookie
            "ERL_EPMD_PORT": str(self.epmd_port),
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "ERL_AFLAGS": "-start_epmd false",
            "RABBITMQ_ADVANCED_CONFIG_FILE": f"{home}/advanced.config",
            "RABBITMQ_CONFIG_FILE": f"{home}/rabbitmq.conf",
            "RABBITMQ_CONF_ENV_FILE": f"{home}/none",
            "RABBITMQ_DIST_PORT": str(self.node_port),
            "RABBITMQ_ENABLED_PLUGINS_FILE": f"{home}/plugins",
            "RABBITMQ_LOGS": "-",
            "RABBITMQ_LOG_BASE": home,
            "RABBITMQ_MNESIA_BASE": f"{home}/data",
            "RABBITMQ_NODENAME": "hopweave@localhost",
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1}",
            "RUNNING_UNDER_SYSTEMD": "true",  # the script becomes the server, instead of waiting for it
        }

    def is_healthy(self) -> bool:
        from amqp import Connection
        from amqp.exceptions import AMQPError

        account = {"userid": self.user, "password": self.password, "virtual_host": "/"}
        connection = Connection(f"127.0.0.1:{self.port}", **account, connect_timeout=2, read_timeout=2)
        try:
            with connection:
                return bool(connection.connected)
        except (AMQPError, OSError):
            return False
        finally:
            connection.collect()  # a server that is just starting refuses the account, which leaves the socket open

    def _advanced(self) -> str:
        milliseconds = round(1000 * self.consumer_seconds)
        return (
            f"[{{rabbit, [{{consumer_timeout, {milliseconds}}}, {{channel_tick_interval, {milliseconds // 2}}}]}}].\n"
        )
