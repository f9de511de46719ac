"""Small file systems in memory, for tests of full disks and of folders that cannot be written."""

import contextlib
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

__all__ = ["Disk", "mounted"]


class Disk:
    """A mounted tmpfs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._filler = folder / "filler"

    def fill(self, leave: int = 0) -> None:
        """Leaves so many bytes free."""
        state = os.statvfs(self.folder)
        with contextlib.suppress(OSError):  # another process writes meanwhile: then it is full, too
            self._filler.write_bytes(bytes(max(0, state.f_bavail * state.f_frsize - leave)))

    def free(self) -> None:
        self._filler.unlink()

    def make_read_only(self) -> None:
        subprocess.run(["mount", "-o", "remount,ro", self.folder], check=True)

    def make_writable(self) -> None:
        subprocess.run(["mount", "-o", "remount,rw", self.folder], check=True)


@contextmanager
def mounted(folder: Path, megabytes: int) -> Iterator[Disk]:
    """Skips the test where nothing can be mounted, such as in containers without CAP_SYS_ADMIN."""
    folder.mkdir()
    try:
        command = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", folder]
        done = subprocess.run(command, capture_output=True, check=False)
    except FileNotFoundError:
        pytest.skip("there is no `mount` here")
    if done.returncode:
        pytest.skip(f"nothing can be mounted here: {done.stderr.decode(errors='replace').strip()}")
    try:
        yield Disk(folder)
    finally:
        subprocess.run(["umount", "-l", folder], check=True)
