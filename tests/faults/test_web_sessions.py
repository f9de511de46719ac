"""The web page of a real server with several processes: where it is told, and sessions that all processes accept."""

import json
import os
import pty
import re
import stat
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from api.access.sessions import COOKIE, FILE
from tests.benchmarks.documents.endpoint import embedding_endpoint
from tests.faults.commands import HOPWEAVE, PATIENCE_SECONDS, environment, run
from tests.servers.ports import free_ports
from tests.waiting import wait_until

_ENOUGH = 24
"""Connections, so that both of two processes get some."""
_KNOWN_SECONDS = 4
"""After so long, all processes use a new key, and none uses a revoked one."""
_SCOPES = ("read", "write")


class Served:
    """A server with two processes, whose standard error is a terminal."""

    def __init__(self, folder: Path, *arguments: str, **settings: str) -> None:
        [self.port] = free_ports(1)
        self.address = f"http://127.0.0.1:{self.port}"
        self.folder = folder
        self._terminal, inner = pty.openpty()
        self._written = b""
        os.set_blocking(self._terminal, False)
        browser = folder / "browser"
        browser.write_text(f'#!/bin/sh\necho "$1" > {folder}/opened\n')
        browser.chmod(0o700)
        ours = {**environment(folder / "data", **settings), "BROWSER": str(browser)}
        serve = [HOPWEAVE, "serve", "--workers", "2", "--port", str(self.port), *arguments]
        with os.fdopen(inner, "wb") as terminal:
            self.process = subprocess.Popen(serve, env=ours, cwd=folder, stdout=subprocess.DEVNULL, stderr=terminal)

    def run(self, *arguments: str) -> str:
        done = run(self.folder / "data", self.folder, *arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout

    @property
    def written(self) -> str:
        """What the terminal shows."""
        try:
            while part := os.read(self._terminal, 65_536):
                self._written += part
        except OSError:  # nothing more now, or the process has ended
            pass
        return self._written.decode("utf-8", "replace")

    def request(self, method: str, path: str, cookie: str = "", **more: object) -> httpx.Response:
        """Sends a request as the page does, over a connection of its own."""
        origin = {} if method == "GET" else {"origin": self.address}
        headers = {"sec-fetch-site": "same-origin", **origin, **({"cookie": f"{COOKIE}={cookie}"} if cookie else {})}
        with httpx.Client(base_url=self.address, timeout=PATIENCE_SECONDS) as client:
            return client.request(method, path, headers=headers, **more)  # type: ignore[arg-type] # passed on

    def is_ready(self) -> bool:
        assert self.process.poll() is None, self.written
        try:
            return self.request("GET", "/readyz").status_code == 200
        except httpx.TransportError:
            return False

    def stop(self) -> None:
        self.process.terminate()
        deadline = time.monotonic() + PATIENCE_SECONDS
        while self.process.poll() is None and time.monotonic() < deadline:
            assert self.written is not None  # a terminal that nobody reads stops the process
            time.sleep(0.05)
        self.process.wait(1)
        os.close(self._terminal)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    with embedding_endpoint(dimension=16):
        server = Served(tmp_path, "--open", API__PUBLIC_URL="http://search.example")
        try:
            wait_until(server.is_ready)
            yield server
        finally:
            server.stop()


@pytest.mark.slow
def test_all_processes_accept_a_session_until_its_key_is_revoked(served: Served, tmp_path: Path) -> None:
    line = f"The web page is at {served.address}, for users at http://search.example."
    wait_until(lambda: line in served.written)
    wait_until((tmp_path / "opened").exists)
    wait_until(lambda: (tmp_path / "opened").read_text() == f"{served.address}\n")
    assert not (tmp_path / "data" / FILE).exists()

    scopes = [part for scope in _SCOPES for part in ("--scope", scope)]
    key = re.search(r"hw_\w+-?[\w-]*", served.run("keys", "create", "page", *scopes))
    assert key is not None
    time.sleep(_KNOWN_SECONDS)
    assert served.request("GET", "/v1/session").status_code == 401
    signed_in = [served.request("POST", "/v1/session", json={"key": key[0]}) for _ in range(_ENOUGH)]
    cookies = [str(answer.cookies[COOKIE]) for answer in signed_in if answer.status_code == 200]
    assert len(cookies) == _ENOUGH, [answer.text for answer in signed_in]
    assert stat.S_IMODE((tmp_path / "data" / FILE).stat().st_mode) == 0o600
    for cookie in cookies:  # each made by one of the two, and shown to one of the two
        told = served.request("GET", "/v1/session", cookie).json()
        assert (told["name"], told["scopes"]) == ("page", list(_SCOPES))
    assert served.request("GET", "/v1/session", f"{cookies[0][:-1]}x").status_code == 401
    assert served.request("GET", "/").status_code == 200

    id = key[0].split("_")[1]
    served.run("keys", "revoke", id)
    served.request("GET", "/v1/session", cookies[0])
    time.sleep(_KNOWN_SECONDS)
    assert {served.request("GET", "/v1/session", cookie).status_code for cookie in cookies} == {401}
    for secret in (key[0], *cookies):
        assert secret not in served.written
        assert secret.rpartition(".")[2] not in served.written


@pytest.mark.slow
def test_a_backup_has_no_secret(tmp_path: Path) -> None:
    """Nor has an export; and a folder that is restored makes its own."""
    (tmp_path / "a.txt").write_text("Ada Lovelace wrote the first program.")
    with embedding_endpoint(dimension=16):

        def run_in(folder: str, *arguments: str) -> str:
            done = run(tmp_path / folder, tmp_path, *arguments)
            assert done.returncode == 0, done.stderr
            return done.stdout

        run_in("data", "ingest", "a.txt", "-c", "people")
        (tmp_path / "data" / FILE).write_text("5" * 64 + "\n")
        run_in("data", "backup", "kept.tar.gz")
        run_in("restored", "restore", "kept.tar.gz")
        assert not (tmp_path / "restored" / FILE).exists()
        [corpus] = json.loads(run_in("restored", "corpora", "list", "--json"))["data"]
        assert corpus["name"] == "people"
