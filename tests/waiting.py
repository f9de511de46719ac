"""Waiting for other processes: until something is so, a server is ready, or a job has ended."""

import subprocess
import time
from collections.abc import Callable
from typing import Any

import httpx

__all__ = ["PATIENCE_SECONDS", "finish_job", "wait_until", "wait_until_ready"]

PATIENCE_SECONDS = 300  # two cores may be shared by many
_POLL_SECONDS = 0.05


def wait_until(is_so: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not is_so():
        assert time.monotonic() < deadline, "what the test waits for did not happen"
        time.sleep(_POLL_SECONDS)


def wait_until_ready(client: httpx.Client, server: "subprocess.Popen[Any]") -> None:
    """Waits until a server answers that it is ready. If its process ends before, the test fails."""

    def is_ready() -> bool:
        assert server.poll() is None, "the server has ended"
        try:
            return client.get("/readyz").status_code == httpx.codes.OK
        except httpx.TransportError:  # it does not listen yet
            return False

    wait_until(is_ready)


def finish_job(client: httpx.Client, path: str) -> Any:
    """Waits until the job at a path is over, and returns it."""
    wait_until(lambda: client.get(path).json()["state"] in {"done", "failed", "cancelled"})
    return client.get(path).json()
