"""A loader that does what the content says: it hangs, crashes, eats memory, or tells what it can reach."""

import ctypes
import json
import os
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from core.errors import LoadFailed
from core.ports.indexing import Block, LoadedDocument, Loader, Source
from core.strategies import StrategyConfig

MEGABYTE = 1024 * 1024


class Config(StrategyConfig):
    """No options."""


class HostileLoader:
    def load(self, source: Source) -> LoadedDocument:
        act, _, argument = source.content.decode().partition(" ")
        text = _ACTS[act](argument)
        block = Block(text=text, start=0)
        return LoadedDocument(key=source.key, title=act, pages=(text,), blocks=(block,))


def _hang(_: str) -> str:
    time.sleep(3600)
    return ""


def _hang_in_native_code(_: str) -> str:
    """Sleeps without giving other threads of the interpreter a turn."""
    ctypes.PyDLL(None).sleep(3600)
    return ""


def _start(_: str) -> str:
    """Starts a program that does not end, and waits for it."""
    subprocess.run(["/bin/sleep", "3600"], check=True)
    return ""


def _spin(_: str) -> str:
    while True:
        pass


def _crash(_: str) -> str:
    return ctypes.string_at(8).decode()


def _exit(code: str) -> str:
    os._exit(int(code))


def _eat(_: str) -> str:
    eaten = []
    while True:
        eaten.append(bytearray(64 * MEGABYTE))


def _leak(megabytes: str) -> str:
    _LEAKED.append(bytearray(int(megabytes) * MEGABYTE))
    return str(os.getpid())


def _print(megabytes: str) -> str:
    for _ in range(int(megabytes)):
        os.write(1, b"x" * MEGABYTE)
        os.write(2, b"x" * MEGABYTE)
    return "printed"


def _return(megabytes: str) -> str:
    return "x" * int(megabytes) * MEGABYTE


def _raise(message: str) -> str:
    raise ZeroDivisionError(message)


def _refuse(message: str) -> str:
    raise LoadFailed(message)


def _tell(_: str) -> str:
    """What it can reach: variables, descriptors, and whether it can open a socket."""
    reachable = {"environment": dict(os.environ), "cwd": str(Path.cwd()), "pid": os.getpid()}
    for name, attempt in (
        ("socket", lambda: socket.socket().close()),
        ("unix", lambda: socket.socket(socket.AF_UNIX).close()),
        ("parent", lambda: Path(f"/proc/{os.getppid()}/environ").read_bytes()),
    ):
        reachable[name] = _try(attempt)
    reachable["descriptors"] = sorted(n for n in range(64) if _is_open(n))
    return json.dumps(reachable)


def _read(path: str) -> str:
    return _try(lambda: Path(path).read_bytes())


def _write(path: str) -> str:
    return _try(lambda: Path(path).write_bytes(b"x"))


def _try(attempt: Callable[[], object]) -> str:
    try:
        attempt()
    except OSError as error:
        return type(error).__name__
    return "done"


def _is_open(descriptor: int) -> bool:
    try:
        os.fstat(descriptor)
    except OSError:
        return False
    return True


_LEAKED: list[bytearray] = []
_ACTS = {
    "crash": _crash,
    "eat": _eat,
    "exit": _exit,
    "hang": _hang,
    "hang-in-native-code": _hang_in_native_code,
    "leak": _leak,
    "print": _print,
    "raise": _raise,
    "read": _read,
    "refuse": _refuse,
    "return": _return,
    "spin": _spin,
    "start": _start,
    "tell": _tell,
    "write": _write,
}


def build(_config: Config, _backends: object) -> Loader:
    return HostileLoader()
