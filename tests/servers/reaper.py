"""A process that ends servers when the test run that started them is gone, however it went.

Its input is a pipe that only the test run holds; each line names a pid file. At the end of the input, which also comes
when the test run is killed, all that these files name is ended.
"""

import subprocess
import sys
from pathlib import Path
from types import TracebackType

from tests.servers.process import Process, end_group
from tests.servers.server import ROOT

PATIENCE = 10


class Reaper:
    """Use it around the life of servers: at the end none that it was told of is left."""

    def __enter__(self) -> "Reaper":
        words = [sys.executable, "-m", "tests.servers.reaper"]
        self._process = subprocess.Popen(words, cwd=ROOT, stdin=subprocess.PIPE, text=True, start_new_session=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate()

    def watch(self, pid_file: Path) -> None:
        """To be told before the server starts."""
        if self._process.stdin:
            self._process.stdin.write(f"{pid_file}\n")
            self._process.stdin.flush()


def main() -> None:
    for file in [Path(line.rstrip("\n")) for line in sys.stdin]:
        if leader := Process.read(file):
            end_group(leader, PATIENCE)
            file.unlink(missing_ok=True)


if __name__ == "__main__":
    main()
