"""`hopweave ingest --watch` as it is installed: its own worker process, `kill -9` of both, and a restart."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from app.supervision.folder_lock import is_held, read_holder

pytestmark = pytest.mark.slow

_HOPWEAVE = Path(sys.executable).with_name("hopweave")
_PATIENCE_SECONDS = 240


class Watch:
    """The process of the command, and its output so far."""

    def __init__(self, process: "subprocess.Popen[bytes]", output: Path) -> None:
        self.process = process
        self._output = output

    def wait_for(self, line: str) -> None:
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while line not in (text := self._output.read_text("utf-8")):
            assert self.process.poll() is None, text
            assert time.monotonic() < deadline, f"no {line!r} in {text}"
            time.sleep(0.1)


@contextmanager
def watching(folder: Path, data: Path, output: Path) -> Iterator[Watch]:
    environment = {**os.environ, "HOPWEAVE_DATA_DIR": str(data), "HF_HUB_OFFLINE": "1", "PYTHONUNBUFFERED": "1"}
    with output.open("wb") as written:
        command = [_HOPWEAVE, "ingest", "--watch", folder, "-c", "w"]
        process = subprocess.Popen(command, env=environment, stdout=written, stderr=subprocess.STDOUT)
    try:
        yield Watch(process, output)
    finally:
        process.kill()
        process.wait()


def states(data: Path) -> dict[str, str]:
    ran = subprocess.run(
        [_HOPWEAVE, "documents", "list", "-c", "w", "--json"],
        env={**os.environ, "HOPWEAVE_DATA_DIR": str(data)},
        capture_output=True,
        check=True,
        timeout=_PATIENCE_SECONDS,
    )
    return {one["key"]: one["state"] for one in json.loads(ran.stdout)["data"]}


def test_killed_and_started_again(tmp_path: Path) -> None:
    folder, data = tmp_path / "notes", tmp_path / "data"
    folder.mkdir()
    (folder / "ada.txt").write_text("Ada Lovelace wrote the first program.", encoding="utf-8")
    with watching(folder, data, tmp_path / "first") as watch:
        watch.wait_for("watching")
        worker = read_holder(data)
        assert worker is not None
        os.kill(worker.pid, signal.SIGKILL)
        (folder / "engine.txt").write_text("Charles Babbage designed the engine.", encoding="utf-8")
        watch.wait_for("new: engine.txt: 1 passage")
        (folder / "tower.txt").write_text("Gustave Eiffel built a tower.", encoding="utf-8")
        (folder / "ada.txt").unlink()
        watch.process.kill()
        watch.process.wait()
    with watching(folder, data, tmp_path / "second") as watch:
        watch.wait_for("1 indexed, 1 unchanged, 1 pruned")
        watch.wait_for("watching")
        watch.process.send_signal(signal.SIGTERM)
        assert watch.process.wait(_PATIENCE_SECONDS) == 130
    assert not is_held(data), "its worker has ended, too"
    assert states(data) == {"engine.txt": "indexed", "tower.txt": "indexed"}
