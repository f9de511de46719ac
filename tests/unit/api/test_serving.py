"""What the processes of `serve --workers N` are given."""

import os
import pickle
from pathlib import Path

import httpx
import pytest

from api.serving import _configure, _describe_address
from core.settings import Settings


def test_processes_that_answer_share_the_cores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    cores = len(os.sched_getaffinity(0))
    for processes, environment in ((1, {}), (2 * cores, {"OMP_NUM_THREADS": "1"})):
        config = _configure(Settings(data_dir=tmp_path), "http://127.0.0.1:8000", processes)
        assert config.workers == processes
        assert pickle.loads(pickle.dumps(config.app)).args[0] == environment  # noqa: S301  # as it is sent to them


def test_the_address_is_one_that_this_machine_reaches() -> None:
    assert _describe_address("localhost", 80) == "http://localhost:80"
    assert _describe_address("0.0.0.0", 80) == "http://127.0.0.1:80"  # noqa: S104 - it is not listened on
    assert _describe_address("::", 80) == "http://[::1]:80"


def test_idle_connections_are_kept_longer_than_by_common_clients(tmp_path: Path) -> None:
    """Else a client may send a request on a connection that is closed at the same time."""
    config = _configure(Settings(data_dir=tmp_path), "http://127.0.0.1:8000")
    by_client = httpx.Limits().keepalive_expiry
    assert by_client is not None
    assert config.timeout_keep_alive > by_client
