"""Worker processes as their parent sees them: started, asked to stop, killed.

The pool runs the processes of `hopweave worker` on servers. Each process is replaced when it dies.
"""

import logging
import os
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from typing import IO

from core.execution.processes import python_command, share_cores
from core.settings import Settings

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


_POLL_SECONDS = 0.2
_MIN_PAUSE, _MAX_PAUSE = 0.3, 10.0
_HEALTHY_SECONDS = 60.0
_STOP_SECONDS = 35.0

_log = logging.getLogger("hopweave.worker")


class WorkerPool:
    """`run` keeps the processes running until SIGTERM or SIGINT. Then they finish what they write and release the rest.

    A second signal kills them, as does a stop that takes too long. Their claims are free when the leases expire.
    """

    def __init__(self, settings: Settings, concurrency: int) -> None:
        environment = {"HOPWEAVE_DATA_DIR": str(settings.data_dir.resolve()), **share_cores(concurrency)}
        self._workers = [_SupervisedWorker(environment) for _ in range(concurrency)]
        self._signals = 0

    def run(self) -> bool:
        """Runs in the main thread, which receives signals. Returns whether a signal ended it and all ended normally."""
        before = {number: signal.signal(number, self._count_signal) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            while not self._signals:
                for worker in self._workers:
                    worker.ensure_running()
                if any(worker.is_misconfigured for worker in self._workers):
                    self._stop()
                    return False
                time.sleep(_POLL_SECONDS)
            _log.info("finishing what is being written; a second signal ends it at once")
            return self._stop()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _count_signal(self, _number: int, _frame: FrameType | None) -> None:
        self._signals += 1

    def _stop(self) -> bool:
        children = [worker.child for worker in self._workers if worker.child is not None]
        for child in children:
            child.stop()
        deadline = time.monotonic() + _STOP_SECONDS
        while any(child.exit_code is None for child in children):
            if self._signals > 1 or time.monotonic() > deadline:
                break
            time.sleep(_POLL_SECONDS)
        late = [child for child in children if child.exit_code is None]
        for child in late:
            _log.warning("worker process %d is killed; what it had claimed is free when its lease ends", child.pid)
            child.kill()
        return not late


class _SupervisedWorker:
    """One worker process, and its replacement after it has died. The pause grows while processes die soon."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.child: WorkerChild | None = None
        self.is_misconfigured = False
        """Its settings are wrong, so another process would end in the same way."""
        self._environment = environment
        self._pause = _MIN_PAUSE
        self._not_before = 0.0

    def ensure_running(self) -> None:
        """Starts a process if none runs, the pause is over, and the settings are not known to be wrong."""
        if self.child is not None and (code := self.child.exit_code) is not None:
            self._discard(self.child, code)
        if self.child is None and not self.is_misconfigured and time.monotonic() >= self._not_before:
            self.child = WorkerChild(self._environment, output=None)

    def _discard(self, child: WorkerChild, code: int) -> None:
        child.stop()
        self.child = None
        self.is_misconfigured = code == EXIT_SETTINGS
        if self.is_misconfigured:
            return
        lifetime = time.monotonic() - child.started
        self._pause = _MIN_PAUSE if lifetime > _HEALTHY_SECONDS else min(2 * self._pause, _MAX_PAUSE)
        self._not_before = time.monotonic() + self._pause
        ended = f"signal {-code}" if code < 0 else f"exit code {code}"
        _log.warning("worker process %d ended (%s); another starts in %.1f s", child.pid, ended, self._pause)
