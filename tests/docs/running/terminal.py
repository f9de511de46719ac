"""Runs a command on a terminal of a fixed size, and returns what stays on its screen, with its colours."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
from collections.abc import Mapping, Sequence
from pathlib import Path

__all__ = ["run_on_terminal"]

_SEQUENCE = re.compile(r"\x1b\[([?\d;]*)([A-Za-z])|\x1b[\]][^\x07]*\x07|([\r\n])|([^\x1b\r\n]+)")
_ROWS = 200


def run_on_terminal(command: Sequence[str], folder: Path, environment: Mapping[str, str], columns: int) -> str:
    """Raises `CalledProcessError` with the screen as its output unless the command exits with 0."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", _ROWS, columns, 0, 0))
    variables = {**environment, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
    for name in ("NO_COLOR", "COLUMNS", "LINES", "CI"):
        variables.pop(name, None)
    with subprocess.Popen(
        command, cwd=folder, env=variables, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
    ) as process:
        os.close(theirs)
        written = _read_all(ours)
    screen = _play(written.decode())
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, list(command), screen)
    return screen


def _read_all(terminal: int) -> bytes:
    parts = []
    with os.fdopen(terminal, "rb", buffering=0) as stream:
        while True:
            try:
                part = stream.read(65536)
            except OSError:  # Linux reports the end of a terminal as an error
                break
            if not part:
                break
            parts.append(part)
    return b"".join(parts)


def _play(written: str) -> str:
    """Returns the lines that stay, for output that redraws whole lines only, as rich does."""
    lines, row = [""], 0
    for found in _SEQUENCE.finditer(written):
        numbers, letter, control, text = found.groups()
        if control == "\n":
            row += 1
            lines += [""] * (row + 1 - len(lines))
        elif control == "\r":
            continue
        elif letter == "A":
            row = max(0, row - int(numbers or 1))
        elif letter == "K":
            lines[row] = ""
        elif letter == "m":
            lines[row] += f"\x1b[{numbers}m"
        elif text:
            lines[row] += text
    return "\n".join(line.rstrip() for line in lines).strip("\n")
