"""What the processes of a test do that fails or hangs: the end of each log, after each process wrote its stacks."""

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

__all__ = ["tell_stacks"]

_OURS = b"hopweave"
_WRITING_SECONDS = 2.0
_STDERR = 2
_MOST_BYTES = 20_000


def tell_stacks(ancestor: int) -> str:
    """Returns what each process of Hopweave below `ancestor` wrote when it got SIGUSR2, if it writes into a file."""
    ours = _list_ours(ancestor)
    lengths = {log: log.stat().st_size for log in map(_log_of, ours) if log is not None}
    for pid in ours:
        with suppress(ProcessLookupError):  # it has ended
            os.kill(pid, signal.SIGUSR2)
    time.sleep(_WRITING_SECONDS)
    told = [f"processes: {[(pid, _command(pid)) for pid in ours]}"]
    for log, length in lengths.items():
        with log.open("rb") as file:
            file.seek(max(0, length - _MOST_BYTES))
            told.append(f"{log}:\n{file.read().decode(errors='replace')}")
    return "\n".join(told)


def _list_ours(ancestor: int) -> list[int]:
    """Returns the processes below `ancestor` that handle the signal: others would end by it."""
    return [pid for pid in _below(ancestor) if _OURS in _read(pid, "cmdline") and _handles(pid)]


def _below(ancestor: int) -> Iterator[int]:
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and (stat := _read(int(entry.name), "stat")):
            parent = int(stat.rpartition(b")")[2].split()[1])
            children.setdefault(parent, []).append(int(entry.name))
    found = [ancestor]
    for pid in found:
        found += children.get(pid, [])
        yield pid


def _handles(pid: int) -> bool:
    caught = next((line for line in _read(pid, "status").splitlines() if line.startswith(b"SigCgt:")), b"SigCgt: 0")
    return bool(int(caught.split()[1], 16) >> (signal.SIGUSR2 - 1) & 1)


def _log_of(pid: int) -> Path | None:
    try:
        log = Path(f"/proc/{pid}/fd/{_STDERR}").readlink()
    except OSError:  # it has ended
        return None
    return log if log.is_file() else None


def _command(pid: int) -> str:
    return _read(pid, "cmdline").replace(b"\0", b" ").decode(errors="replace")


def _read(pid: int, name: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:  # it has ended
        return b""
