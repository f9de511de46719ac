"""Processes that outlive the one that started them, found again by a file that names them."""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

_DEAD = frozenset("ZX")
_THREADS = 17  # the field that counts them; the last of them may be the one that has ended


@dataclass(frozen=True, kw_only=True)
class Process:
    """`started` (clock ticks since boot) tells it from a later process that was given the same number."""

    pid: int
    started: int

    @classmethod
    def of(cls, pid: int) -> "Process | None":
        """The living process of that number."""
        fields = _stat(pid)
        return cls(pid=pid, started=int(fields[19])) if fields else None

    @classmethod
    def read(cls, file: Path) -> "Process | None":
        try:
            pid, started = file.read_text("utf-8").split()
        except (FileNotFoundError, ValueError):
            return None
        return cls(pid=int(pid), started=int(started))

    def write(self, file: Path) -> None:
        beside = file.with_name(f"{file.name}.new")
        beside.write_text(f"{self.pid} {self.started}\n", "utf-8")
        beside.replace(file)

    @property
    def alive(self) -> bool:
        _reap(self.pid)
        return Process.of(self.pid) == self


def members(group: int) -> list[Process]:
    """The living processes of a process group."""
    return [
        Process(pid=int(entry.name), started=int(fields[19]))
        for entry in Path("/proc").iterdir()
        if entry.name.isdigit() and (fields := _stat(int(entry.name))) and int(fields[2]) == group
    ]


def end_group(leader: Process, patience: float) -> None:
    """Ask all of a process group to end; kill what is left of it after `patience` seconds.

    A leader that is gone may have left others; but where a later process has its number, the group is not this one.
    """
    _reap(leader.pid)
    if Process.of(leader.pid) not in {leader, None}:
        return
    _signal_group(leader.pid, signal.SIGTERM)
    if not _gone(leader.pid, patience):
        kill_group(leader)


def kill_group(leader: Process) -> None:
    """SIGKILL to all of it, and wait until the kernel has closed what they held."""
    _signal_group(leader.pid, signal.SIGKILL)
    if not _gone(leader.pid, 30):
        raise TimeoutError(f"process group {leader.pid} is still there 30 s after SIGKILL: {members(leader.pid)}")


def _gone(group: int, patience: float) -> bool:
    until = time.monotonic() + patience
    while True:
        _reap(group)
        if not members(group):
            return True
        if time.monotonic() > until:
            return False
        time.sleep(0.05)


def _signal_group(group: int, what: signal.Signals) -> None:
    try:
        os.killpg(group, what)
    except ProcessLookupError:
        return


def _reap(pid: int) -> None:
    """A child of ours that ended stays in the table of processes until somebody asks for its end."""
    try:
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return


def _stat(pid: int) -> list[str] | None:
    """What /proc says of a living process, from the state on: the name before it may hold anything.

    One that has ended, and whose threads have not all, lives: it holds its memory and its sockets.
    """
    try:
        line = Path(f"/proc/{pid}/stat").read_text("utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = line.rpartition(")")[2].split()
    return None if fields[0] in _DEAD and int(fields[_THREADS]) <= 1 else fields
