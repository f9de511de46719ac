"""A process that is killed while it stores an original leaves nothing of it, not even a draft."""

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from stores.files import folder

_KILLED = """
import asyncio, os, pathlib, signal, sys
def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)
os.link = pathlib.Path.replace = die
from stores.files.folder import FolderFileStore
asyncio.run(FolderFileStore(pathlib.Path(sys.argv[1])).put("a" * 32, [b"An original."]))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux has files without a name")
def test_nothing_is_left(tmp_path: Path) -> None:
    ran = subprocess.run([sys.executable, "-c", _KILLED, tmp_path], check=False)
    assert ran.returncode == -signal.SIGKILL
    assert _list_files(tmp_path) == []


@pytest.mark.parametrize("has_unnamed", [True, False])
async def test_originals_are_whole_with_and_without_unnamed_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_unnamed: bool
) -> None:
    if not has_unnamed:
        monkeypatch.setattr(folder, "_write_unnamed", lambda *_: False)
    elif sys.platform.startswith("linux"):
        monkeypatch.delattr(Path, "replace")  # no draft is renamed
    files = folder.FolderFileStore(tmp_path)
    names = await files.put("a" * 32, [b"one", b"two", b"one"])
    assert names[0] == names[2]
    assert [await files.get("a" * 32, name) for name in names] == [b"one", b"two", b"one"]
    assert len(await asyncio.to_thread(_list_files, tmp_path)) == 2


def _list_files(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if path.is_file()]
