"""What all servers share: one process group each, in a home folder of its own, found again by its pid file."""

import fcntl
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar, Self

from tests.servers.ports import accepts
from tests.servers.process import Process, end_group, kill_group

ROOT = Path(__file__).resolve().parents[2]
INSTALLED = ROOT / ".servers"
HASTY_JAVA = "-XX:TieredStopAtLevel=1"
"""Without the second, slow compiler, whose work pays only in servers that work for long."""

_CLOSING_SECONDS = 5.0


class NotStarted(Exception):
    """A server cannot be started, or did not become healthy in time; the message holds the end of its log."""


class Server(ABC):
    """One instance: a home folder, ports on 127.0.0.1, and a process that whoever knows the home can end.

    `start` and `stop` are idempotent, also between processes. `kill` leaves the home as a power cut would.
    """

    name: ClassVar[str]
    scheme: ClassVar[str] = "http"
    usual_port: ClassVar[int] = 0
    start_seconds: ClassVar[float] = 120
    stop_seconds: ClassVar[float] = 30

    def __init__(self, home: Path, *, port: int | None = None) -> None:
        self.home = home.resolve()
        self.port = self.usual_port if port is None else port

    @classmethod
    def on(cls, home: Path, ports: Sequence[int]) -> Self:
        """One for tests, which has the first of three ports, or all that it needs."""
        return cls(home, port=ports[0])

    @property
    def uri(self) -> str:
        """Where clients find it."""
        return f"{self.scheme}://127.0.0.1:{self.port}"

    @property
    def ports(self) -> Sequence[int]:
        """What it listens on."""
        return (self.port,)

    @abstractmethod
    def is_healthy(self) -> bool:
        """It answers a client's question now."""

    @abstractmethod
    def command(self) -> Sequence[str]:
        """What is run, in the home folder."""

    def prepare(self) -> None:  # noqa: B027 - most have something to write, but not all
        """Write what the server reads at its start; called before each."""

    def environment(self) -> Mapping[str, str]:
        """What it needs beyond the environment of this process."""
        return {}

    def start(self) -> None:
        """Returns when it is healthy. Raises `NotStarted`, and then nothing of it is left running."""
        self.home.mkdir(parents=True, exist_ok=True)
        with self._locked():
            if self._running() is None:
                self._launch()
            self._wait()

    def stop(self, *, patience: float | None = None) -> None:
        """Killed if it has not ended after `patience` seconds; none are due to one whose data nobody needs again."""
        if not self.home.is_dir():
            return
        with self._locked():
            if leader := Process.read(self.pid_file):
                end_group(leader, self.stop_seconds if patience is None else patience)
                self._taken()
            self.pid_file.unlink(missing_ok=True)

    def kill(self) -> None:
        """SIGKILL to the server, and to all that it started."""
        leader = self._running()
        if leader is None:
            raise NotStarted(f"{self.name} in {self.home} does not run: there is nothing to kill")
        kill_group(leader)

    @property
    def pid(self) -> int | None:
        """The number of the real server's process."""
        leader = self._running()
        return leader.pid if leader else None

    @property
    def log(self) -> Path:
        return self.home / "server.log"

    @property
    def pid_file(self) -> Path:
        return self.home / "server.pid"

    def _running(self) -> Process | None:
        leader = Process.read(self.pid_file)
        return leader if leader and leader.alive else None

    def _launch(self) -> None:
        if taken := self._taken():
            raise NotStarted(f"{self.name}: something else listens on port {taken[0]} of 127.0.0.1; stop it first")
        self.prepare()
        pid = self._spawn()
        if leader := Process.of(pid):
            leader.write(self.pid_file)

    def _taken(self) -> list[int]:
        """The ports that something listens on: of one that has just ended they may be open for a moment still."""
        until = time.monotonic() + _CLOSING_SECONDS
        while (taken := [port for port in self.ports if accepts(port)]) and time.monotonic() < until:
            time.sleep(0.1)
        return taken

    def _spawn(self) -> int:
        # posix_spawn and not subprocess: a server that is left running on purpose is no leak to warn of.
        to_log = os.O_WRONLY | os.O_CREAT | os.O_APPEND
        command = ["env", f"--chdir={self.home}", *self.command()]
        actions = [
            (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
            (os.POSIX_SPAWN_OPEN, 1, str(self.log), to_log, 0o600),
            (os.POSIX_SPAWN_DUP2, 1, 2),
        ]
        environment = {**os.environ, **self.environment()}
        return os.posix_spawnp("env", command, environment, file_actions=actions, setsid=True)

    def _wait(self) -> None:
        until = time.monotonic() + self.start_seconds
        while not self.is_healthy():
            leader = self._running()
            if leader and time.monotonic() < until:
                time.sleep(0.1)
                continue
            why = f"is not healthy after {self.start_seconds:g} s" if leader else "ended"
            if leader:
                kill_group(leader)
            raise NotStarted(f"{self.name} at {self.uri} {why}. The end of {self.log}:\n{self._tail()}")

    def _tail(self) -> str:
        text = self.log.read_text("utf-8", errors="replace") if self.log.is_file() else ""
        return "\n".join(text.splitlines()[-30:]) or "(it is empty)"

    @contextmanager
    def _locked(self) -> Iterator[None]:
        with (self.home / "server.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield
