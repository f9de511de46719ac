"""What a unit test must not do: start a process, or listen on a port. Such tests are in tests/integration."""

import multiprocessing.process
import socket
import subprocess
from typing import Any, NoReturn

import pytest


@pytest.fixture(autouse=True)
def _no_process_and_no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any, **__: Any) -> NoReturn:
        raise AssertionError("a unit test starts no process and listens on no port: move it to tests/integration")

    monkeypatch.setattr(subprocess.Popen, "__init__", refused)
    monkeypatch.setattr(multiprocessing.process.BaseProcess, "start", refused)
    monkeypatch.setattr(socket.socket, "listen", refused)
