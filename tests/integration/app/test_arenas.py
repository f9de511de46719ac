"""Hopweave's processes keep little of the memory that their threads have freed."""

import platform
import subprocess
import sys
from pathlib import Path

import pytest

_COUNT = """\
import ctypes, sys, threading

libc = ctypes.CDLL(None)
barrier = threading.Barrier(6)

def allocate():
    held = [bytes(2_000) for _ in range(100)]
    barrier.wait()

threads = [threading.Thread(target=allocate) for _ in range(6)]
for one in threads: one.start()
for one in threads: one.join()
libc.fopen.restype = ctypes.c_void_p
file = ctypes.c_void_p(libc.fopen(sys.argv[1].encode(), b"w"))
libc.malloc_info(0, file)
libc.fclose(file)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries have no arenas")
def test_processes_allocate_from_two_arenas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "count_arenas.py").write_text(_COUNT, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.delenv("MALLOC_ARENA_MAX", raising=False)
    assert _count_arenas(tmp_path / "limited.xml") == 2
    monkeypatch.setenv("MALLOC_ARENA_MAX", "4")
    assert _count_arenas(tmp_path / "chosen.xml") == 4


def _count_arenas(out: Path) -> int:
    """Returns the number of arenas from which six threads of a process of Hopweave allocated."""
    subprocess.run([sys.executable, "-m", "hopweave._start", "count_arenas", str(out)], check=True)
    return out.read_text("utf-8").count("<heap nr=")
