"""Compose as it stands: its images are built and started, where there is an engine, and a document is found."""

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.images.dockerfile import ROOT
from tests.servers.ports import free_ports

pytestmark = pytest.mark.image

_KEY = "a-key-of-the-tests-0123456789"
_SECRETS = ("NEO4J_PASSWORD", "MILVUS_PASSWORD", "REDIS_PASSWORD", "MINIO_PASSWORD")
_PATIENCE_SECONDS = 300


def _has_engine() -> bool:
    try:
        return subprocess.run(["docker", "info"], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


@pytest.fixture
def server(tmp_path: Path) -> Iterator[httpx.Client]:
    """A client of the project of Compose, which is gone at the end with its volumes."""
    if not _has_engine():
        pytest.skip("no engine of containers runs here")
    [port] = free_ports(1)
    given = {**dict.fromkeys(_SECRETS, "given-for-the-tests"), "API_KEY": _KEY, "API_PORT": str(port)}
    file = tmp_path / ".env"
    file.write_text("\n".join(f"{name}={value}" for name, value in given.items()), encoding="utf-8")
    command = ["docker", "compose", "--project-name", "hopweave-tests", "--env-file", file]
    command += ["-f", ROOT / "docker" / "compose.yaml"]
    try:
        subprocess.run([*command, "up", "--detach", "--build", "--wait"], check=True)
        headers = {"Authorization": f"Bearer {_KEY}"}
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=_PATIENCE_SECONDS) as client:
            yield client
    finally:
        subprocess.run([*command, "down", "--volumes", "--timeout", "30"], check=True)


def test_a_document_is_indexed_and_found(server: httpx.Client) -> None:
    server.post("/v1/corpora", json={"name": "c"}).raise_for_status()
    document = {"key": "ada", "text": "Ada Lovelace wrote the first program in London."}
    added = server.post("/v1/corpora/c/documents", json={"documents": [document]})
    assert added.status_code == 202, added.text
    job, deadline = added.json()["job"]["id"], time.monotonic() + _PATIENCE_SECONDS
    while server.get(f"/v1/jobs/{job}").json()["state"] not in ("done", "failed"):
        assert time.monotonic() < deadline
        time.sleep(1)
    found = server.post("/v1/corpora/c/search", json={"query": "Who wrote the first program?"}).json()
    assert [hit["document"]["key"] for hit in found["hits"]] == ["ada"]
