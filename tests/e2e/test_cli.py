"""The command line as it is installed: its own processes, the built-in model, a real server."""

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.waiting import PATIENCE_SECONDS, finish_job, wait_until_ready

pytestmark = pytest.mark.slow

_HOPWEAVE = Path(sys.executable).with_name("hopweave")


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    return {**os.environ, "HOPWEAVE_DATA_DIR": str(tmp_path / "data"), "HF_HUB_OFFLINE": "1"}


def run(environment: dict[str, str], *arguments: object) -> Any:
    ran = subprocess.run(
        [_HOPWEAVE, *map(str, arguments), "--json"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def test_ingest_search_ask_serve(environment: dict[str, str], tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "ada.txt").write_text("Ada Lovelace wrote the first program.", encoding="utf-8")
    (folder / "engine.md").write_text("# The Engine\n\nCharles Babbage designed it in London.", encoding="utf-8")
    assert run(environment, "ingest", folder, "-c", "papers")["documents"]["indexed"] == 2
    found = run(environment, "search", "Who designed the engine?", "-c", "papers")
    assert found["hits"][0]["document"]["key"] == "engine.md"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen([_HOPWEAVE, "serve", "--port", str(port)], env=environment, stderr=subprocess.PIPE)
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
            wait_until_ready(client, server)
            body = {"documents": [{"key": "tower", "text": "Gustave Eiffel built a tower in Paris."}]}
            queued = client.post("/v1/corpora/papers/documents", json=body)
            assert queued.status_code == 202, queued.text
            job = finish_job(client, queued.headers["location"])
            assert job["state"] == "done"
            said = client.post("/v1/corpora/papers/ask", json={"question": "Who built a tower in Paris?"}).json()
            assert said["citations"][0]["document"]["key"] == "tower"
    finally:
        server.send_signal(signal.SIGTERM)
        _, complaints = server.communicate(timeout=PATIENCE_SECONDS)
    assert server.returncode == 0, complaints
