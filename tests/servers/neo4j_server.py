"""Neo4j Community with Neo4j Browser, from its jars."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Self

from tests.servers.ports import accepts
from tests.servers.server import HASTY_JAVA, INSTALLED, NotStarted, Server

JARS = INSTALLED / "neo4j" / "program"
USER = "neo4j"
# Weak and known to all: for servers that listen on loopback only and hold nothing but what was made up.
PASSWORD = "hopweave-local"  # noqa: S105 - see above
BROWSER_POLICY = (
    "default-src 'self'; script-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; font-src 'self'; "
    "connect-src 'self' ws: wss: http://127.0.0.1:* http://localhost:*; base-uri 'none'; object-src 'none'; "
    "frame-ancestors 'none'"
)
"""What Neo4j Browser may fetch, and from where: nothing beyond this machine but what speaks Bolt."""

_OPEN = ("java.nio", "java.io", "sun.nio.ch")


class Neo4jServer(Server):
    """One database with one user; the password is set before the first start.

    `short_lived`: Java compiles in haste, which halves what a start costs, and makes long work slower.
    """

    name: ClassVar[str] = "neo4j"
    scheme = "bolt"
    usual_port = 7687
    start_seconds: ClassVar[float] = 300  # 8 s, but for ten others on two cores
    user: ClassVar[str] = USER
    password: ClassVar[str] = PASSWORD

    def __init__(
        self,
        home: Path,
        *,
        port: int | None = None,
        http_port: int = 7474,
        heap: str = "1g",
        short_lived: bool = False,
    ) -> None:
        super().__init__(home, port=port)
        self.http_port = http_port
        self.heap = heap
        self.short_lived = short_lived

    @classmethod
    def on(cls, home: Path, ports: Sequence[int]) -> Self:
        return cls(home, port=ports[0], http_port=ports[1], heap="768m", short_lived=True)

    @property
    def browser(self) -> str:
        """Neo4j Browser's page."""
        return f"http://127.0.0.1:{self.http_port}/browser/"

    @property
    def ports(self) -> Sequence[int]:
        return (self.port, self.http_port)

    def prepare(self) -> None:
        for folder in ("conf", "data", "logs", "plugins", "import", "run"):
            (self.home / folder).mkdir(exist_ok=True)
        lines = [
            "server.default_listen_address=127.0.0.1",
            f"server.bolt.listen_address=:{self.port}",
            f"server.http.listen_address=:{self.http_port}",
            f"server.bolt.advertised_address=127.0.0.1:{self.port}",
            "server.https.enabled=false",
            "dbms.usage_report.enabled=false",
            "client.allow_telemetry=false",
            f"dbms.security.http_static_content_security_policy_header={BROWSER_POLICY}",
            "server.memory.pagecache.size=512m",
        ]
        (self.home / "conf" / "neo4j.conf").write_text("\n".join(lines) + "\n", "utf-8")
        if not (self.home / "data" / "dbms" / "auth.ini").exists() and not (self.home / "data" / "databases").exists():
            self._set_password()

    def command(self) -> Sequence[str]:
        return [
            "java",
            "-Xms256m",
            f"-Xmx{self.heap}",
            "-cp",
            f"{self.home}/plugins/*:{self.home}/conf/*:{JARS}/*",
            "-XX:+UseG1GC",
            *([HASTY_JAVA] if self.short_lived else []),
            "-Dio.netty.tryReflectionSetAccessible=true",
            "-Dlog4j2.disable.jmx=true",
            "-Dfile.encoding=UTF-8",
            *(f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPEN),
            "org.neo4j.server.CommunityEntryPoint",
            f"--home-dir={self.home}",
            f"--config-dir={self.home}/conf",
            "--console-mode",
        ]

    def is_healthy(self) -> bool:
        from neo4j import GraphDatabase
        from neo4j.exceptions import DriverError, Neo4jError

        if not (accepts(self.port) and accepts(self.http_port)):
            return False
        signed = (self.user, self.password)
        try:
            with (
                # Without the second it waits a minute for the greeting of a server that is just starting.
                GraphDatabase.driver(
                    self.uri, auth=signed, connection_timeout=2, connection_acquisition_timeout=4
                ) as driver,
                driver.session(database="neo4j") as session,
            ):
                session.run("RETURN 1").consume()
        except (DriverError, Neo4jError):
            return False
        return True

    def _set_password(self) -> None:
        tool = ["java", HASTY_JAVA, "-cp", f"{JARS}/*", "org.neo4j.cli.AdminTool"]
        words = [*tool, "dbms", "set-initial-password", self.password]
        done = subprocess.run(
            words, env={**os.environ, "NEO4J_HOME": str(self.home)}, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise NotStarted(f"neo4j: the first password was not set: {done.stdout}{done.stderr}")
