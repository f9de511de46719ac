"""`hopweave worker` where all is in one data folder."""

from pathlib import Path

import pytest

from tests.integration.cli.conftest import Hopweave


def test_a_folder_has_one_worker(hopweave: Hopweave, tmp_path: Path) -> None:
    ran = hopweave("worker", "--concurrency", 2)
    assert ran.code == 2
    assert "HOPWEAVE_STORE__RECORD=neo4j" in ran.err
    assert not (tmp_path / "data").exists()


def test_a_broker_that_cannot_be_one_is_told_at_once(
    hopweave: Hopweave, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_servers = {
        "STORE__RECORD": "neo4j",
        "STORE__TEXT": "neo4j",
        "STORE__VECTORS": "milvus",
        "FILES__URL": str(tmp_path / "files"),
        "NEO4J__URI": "bolt://127.0.0.1:1",
        "MILVUS__URI": "http://127.0.0.1:1",
        "BROKER__URL": "redis://:do-not-show@host:port/0",
    }
    for name, value in on_servers.items():
        monkeypatch.setenv(f"HOPWEAVE_{name}", value)
    ran = hopweave("worker")
    assert ran.code == 1
    assert "HOPWEAVE_BROKER__URL cannot be understood" in ran.err
    assert "do-not-show" not in ran.err
