"""The server process that `hopweave.open` starts, as the process that uses it sees it."""

import json
import os
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from hopweave._errors import ServerEndedError, UnavailableError
from hopweave._steps import Pause, Request, Steps

__all__ = ["Child"]

_LOG = "serve.log"
_LAST_BYTES = 10_000
_FAREWELL_SECONDS = 75.0  # a worker may take 35 s to finish what it writes
_ENDING_SECONDS = 2.0
_LOOK_SECONDS = 0.2
_STARTING = "starting"


class Child:
    """`hopweave serve` on a free port of this machine, with a random key.

    Its life hangs on a pipe that this process holds, so it ends with this process, even after `kill -9`. Its log is
    `serve.log` in the data folder.
    """

    def __init__(self, folder: str | os.PathLike[str], settings: Mapping[str, str]) -> None:
        self._folder = Path(folder).absolute()
        self._settings = dict(settings)
        # The child inherits the socket, so that no other process can take the port.
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = os.getpid()
        self._pipe = -1
        self._logged = 0
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self.key = secrets.token_urlsafe(32)

    def start(self) -> None:
        """Starts the process. Nothing answers before it is ready."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        log = self._folder / _LOG
        with open(log, "ab", opener=_open_private) as output, self._listening:
            self._logged = output.tell()
            reading, self._pipe = os.pipe()
            try:
                self._process = self._spawn(reading, self._listening.fileno(), output)
            finally:
                os.close(reading)

    def _spawn(self, parent: int, listening: int, output: IO[bytes]) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-P", "-m", "hopweave._start", "--parent", str(parent)]
        command += ["hopweave", "serve", "--socket", str(listening), "--log", str(self._folder / _LOG)]
        return subprocess.Popen(  # noqa: S603 - our own module, our own interpreter
            command,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            pass_fds=(parent, listening),
            process_group=0,  # a Ctrl-C in the terminal is this process' to handle
        )

    def until_ready(self, seconds: float) -> Steps[None]:
        """Waits until the server can work; raises the error that it answers with if that takes too long."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                yield Request(method="GET", path="/readyz", params={}, body=None, timeout=seconds)
            except UnavailableError as error:
                if error.code == _STARTING:
                    return  # it answers already; only the first searches are slow
                if error.code is not None or time.monotonic() > deadline:
                    raise
            else:
                return
            yield Pause(seconds=_LOOK_SECONDS)

    def failure(self) -> ServerEndedError | None:
        """The reason why nothing answers, if the process has ended; waits a moment for that."""
        if self._process is None:
            return self._not_running()
        try:
            code = self._process.wait(_ENDING_SECONDS)
        except subprocess.TimeoutExpired:
            return None
        last = self._last_line() or "it logged nothing"
        return ServerEndedError(f"the server of {self._folder} ended with exit code {code}: {last}")

    def check_started(self) -> None:
        """Raises `ServerEndedError` if the process was not started, or stopped."""
        if self._process is None:
            raise self._not_running()

    def stop(self) -> None:
        """Ends the process, after it has finished what it writes. Does nothing in a fork, or a second time."""
        process, self._process = self._process, None
        pipe, self._pipe = self._pipe, -1
        self._listening.close()
        if pipe < 0 or os.getpid() != self._owner:
            return
        os.close(pipe)
        if process is None:
            return
        try:
            process.wait(_FAREWELL_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def _not_running(self) -> ServerEndedError:
        return ServerEndedError(
            f"the server of {self._folder} does not run; it runs while the client is open, which for the asynchronous "
            "client is inside `async with`"
        )

    def _environment(self) -> dict[str, str]:
        own = {"HOPWEAVE_DATA_DIR": str(self._folder), "HOPWEAVE_API__KEYS": json.dumps([self.key])}
        return {**os.environ, **self._settings, **own}

    def _last_line(self) -> str:
        try:
            with (self._folder / _LOG).open("rb") as log:
                end = log.seek(0, os.SEEK_END)
                begin = self._logged if self._logged <= end else 0  # the file may have been replaced
                log.seek(max(begin, end - _LAST_BYTES))
                lines = log.read().decode(errors="replace").splitlines()
        except FileNotFoundError:  # somebody deleted the data folder
            return ""
        return next((line.strip() for line in reversed(lines) if line.strip()), "")


def _open_private(path: str, flags: int) -> int:
    """Opens a file, which is created for this user alone."""
    return os.open(path, flags, 0o600)
