"""A worker process as its parent sees it."""

import os
import subprocess
import time
from collections.abc import Mapping
from typing import IO

from core.processes import python_command

__all__ = ["EXIT_SETTINGS", "Child"]

EXIT_SETTINGS = 78
"""A worker says that its settings are wrong, as `sysexits.h` numbers it."""

_STDERR = 2


class Child:
    """Its life hangs on a pipe that this process holds, so not even `kill -9` of the parent leaves it behind."""

    def __init__(self, environment: Mapping[str, str], output: IO[bytes] | None) -> None:
        """`output` takes what it logs; None: this process' standard error."""
        reading, self._pipe = os.pipe()
        self.started = time.monotonic()
        self._process = subprocess.Popen(  # noqa: S603 - our own module, our own interpreter
            python_command("app.worker.worker_process", "--parent", str(reading)),
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=output or _STDERR,
            stderr=output or _STDERR,
            pass_fds=(reading,),
        )
        os.close(reading)

    @property
    def pid(self) -> int:
        return self._process.pid

    def ended(self) -> int | None:
        """Its exit code, if it has ended."""
        return self._process.poll()

    def dismiss(self) -> None:
        """Have it finish what it writes, and end."""
        if self._pipe >= 0:
            os.close(self._pipe)
            self._pipe = -1

    def wait(self, seconds: float) -> bool:
        """Whether it ends within so many seconds."""
        try:
            self._process.wait(max(0.0, seconds))
        except subprocess.TimeoutExpired:
            return False
        return True

    def kill(self) -> None:
        """End it now, whatever it does."""
        self.dismiss()
        self._process.kill()
        self._process.wait()
