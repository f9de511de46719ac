"""Snapshot files of large corpora are written by a process of its own: what that takes in memory ends with it."""

import asyncio
import logging
import os
import signal
import subprocess
from pathlib import Path

from core.errors import Unavailable
from core.execution.processes import python_command
from core.ports.record import Corpora

__all__ = ["SnapshotWriter"]

_MODULE = "app.worker.snapshot_process"
_LEAST_CHUNKS = 20_000
_LOG_BYTES = 2_000

_log = logging.getLogger("hopweave.app")


class SnapshotWriter:
    """Builds snapshots of corpora with at least `least_chunks` passages. Smaller snapshots take two seconds."""

    def __init__(self, data_dir: Path, corpora: Corpora, *, least_chunks: int = _LEAST_CHUNKS) -> None:
        self._data_dir = data_dir
        self._corpora = corpora
        self._least_chunks = least_chunks

    async def write(self, corpus_id: str) -> bool:
        """Writes or updates the file of a corpus in a child process, which takes a minute and more for a million
        passages.

        Returns False for a smaller corpus, and if the child fails, which is logged. The child ends with this process,
        and when the task is cancelled. Raises `Unavailable` if the child is killed.
        """
        if (await self._corpora.count(corpus_id)).chunks < self._least_chunks:
            return False
        process = self._start(corpus_id)
        try:
            code, told = await asyncio.to_thread(_wait, process)
        finally:
            process.kill()
        if code == -signal.SIGKILL:
            raise Unavailable(
                f"the snapshot of corpus {corpus_id} was not built: its process was killed, as Linux does when memory "
                "is short; a million passages take some 5 GB while it is built"
            )
        if code:
            _log.warning("the process that writes the snapshot of corpus %s failed: %s", corpus_id, told)
        return code == 0

    def _start(self, corpus_id: str) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(  # noqa: S603 - our own module, our own interpreter
            python_command(_MODULE, corpus_id),
            env={**os.environ, "HOPWEAVE_DATA_DIR": str(self._data_dir.resolve())},
            stdin=subprocess.PIPE,  # it ends when this is closed, however this process ended
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )


def _wait(process: "subprocess.Popen[bytes]") -> tuple[int, str]:
    """Returns the exit code, and the end of what the process wrote to its standard error."""
    assert process.stderr is not None  # noqa: S101 - for the type checker
    with process:
        told = process.stderr.read()
    return process.returncode, told[-_LOG_BYTES:].decode(errors="replace").strip()
