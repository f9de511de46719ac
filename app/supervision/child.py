"""A worker process as its parent sees it: started, asked to stop, killed."""

import os
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from core.execution.processes import python_command

__all__ = ["EXIT_SETTINGS", "WorkerChild"]

EXIT_SETTINGS = 78
"""The exit code of a worker whose settings are wrong, as in `sysexits.h`."""

_STDERR = 2


class WorkerChild:
    """A worker process that ends with this process, even after `kill -9`: this process holds the end of a pipe."""

    def __init__(self, environment: Mapping[str, str], output: IO[bytes] | None, log: Path | None = None) -> None:
        """`output` receives its standard error (None: this process's standard error). `log` is the file that the worker
        writes its log to once it has the lock of the data folder.
        """
        more = () if log is None else ("--log", str(log))
        reading, self._pipe = os.pipe()
        self.started = time.monotonic()
        self._process = subprocess.Popen(  # noqa: S603 - our own module, our own interpreter
            python_command("app.worker.worker_process", "--parent", str(reading), *more),
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

    @property
    def exit_code(self) -> int | None:
        """Its exit code, or None while it runs. Negative: the number of the signal that ended it."""
        return self._process.poll()

    def stop(self) -> None:
        """Asks it to finish what it writes and to end. Returns at once."""
        if self._pipe >= 0:
            os.close(self._pipe)
            self._pipe = -1

    def wait(self, seconds: float) -> bool:
        """Returns whether it ends within so many seconds."""
        try:
            self._process.wait(max(0.0, seconds))
        except subprocess.TimeoutExpired:
            return False
        return True

    def kill(self) -> None:
        """Ends it now."""
        self.stop()
        self._process.kill()
        self._process.wait()
