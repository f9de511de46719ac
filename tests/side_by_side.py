"""Runs commands at the same time: `python -m tests.side_by_side 'NAME=COMMAND' …`, for the targets of the Makefile.

The output of a command is printed when it ends: all of it if it failed, else its closing lines. The last lines name
each command with how it ended and how long it took. The exit status is 1 if any failed. An interrupt goes to all.
"""

import os
import shlex
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType

CLOSING_LINES = 40
"""Enough for the tests that took longest, and what came of all."""
_POLL_SECONDS = 0.1


@dataclass(frozen=True, kw_only=True)
class Running:
    """A command with its log."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path

    @classmethod
    def start(cls, name: str, command: str, log: Path) -> "Running":
        with log.open("wb") as output:
            process = subprocess.Popen(
                shlex.split(command),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        return cls(name=name, process=process, log=log)

    def interrupt(self) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGINT)

    def show(self) -> None:
        lines = self.log.read_text("utf-8", errors="replace").splitlines()
        shown = lines if self.process.returncode else lines[-CLOSING_LINES:]
        print(f"\n=== {self.name}", *shown, sep="\n", flush=True)


def main(arguments: list[str]) -> int:
    commands = [argument.partition("=") for argument in arguments]
    if not commands or not all(name and command for name, _, command in commands):
        print("usage: python -m tests.side_by_side 'NAME=COMMAND' …", file=sys.stderr)
        return 2
    began = time.monotonic()
    with TemporaryDirectory() as folder:
        running = [
            Running.start(name, command, Path(folder) / f"{number}.log")
            for number, (name, _, command) in enumerate(commands)
        ]
        _pass_on_signals(running)
        return _wait(running, began)


def _pass_on_signals(running: list[Running]) -> None:
    def interrupt(_: int, __: FrameType | None) -> None:
        for one in running:
            one.interrupt()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, interrupt)


def _wait(running: list[Running], began: float) -> int:
    seconds: dict[str, float] = {}
    while left := [one for one in running if one.name not in seconds]:
        for one in left:
            if one.process.poll() is not None:
                seconds[one.name] = time.monotonic() - began
                one.show()
        time.sleep(_POLL_SECONDS)
    print()
    for one in running:
        code = one.process.returncode
        print(f"{one.name}: {f'FAILED with {code}' if code else 'passed'} in {seconds[one.name]:.0f} s")
    return 1 if any(one.process.returncode for one in running) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
