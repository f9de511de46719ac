"""`hopweave serve` as a process with its worker, on a data folder and a port of its own."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import httpx

from tests.e2e.page.reader import Reader
from tests.servers.ports import free_ports
from tests.twins.chat_server import ChatServer
from tests.twins.embedding_server import EmbeddingServer
from tests.waiting import wait_until

__all__ = ["Live", "serve", "twins"]

HOPWEAVE = Path(sys.executable).with_name("hopweave")
_PATIENCE_SECONDS = 300
_OVER = {"done", "failed", "cancelled"}


class Live:
    """A server that runs. `reader` is its language model, which tests script; `key` is that of an administrator.

    `ids` are the documents that tests share, by key.
    """

    def __init__(
        self,
        process: "subprocess.Popen[bytes]",
        port: int,
        environment: Mapping[str, str],
        folder: Path,
        reader: Reader,
        key: str,
    ) -> None:
        self.process = process
        self._environment = environment
        self.origin = f"http://127.0.0.1:{port}"
        self.folder = folder
        self.reader = reader
        self.key = key
        self.ids: dict[str, str] = {}
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self.client = httpx.Client(base_url=self.origin, headers=headers, timeout=_PATIENCE_SECONDS)

    @property
    def log(self) -> str:
        return (self.folder / "serve.log").read_text("utf-8", "replace")

    def create(self, corpus: str, **settings: Any) -> None:
        """Creates a corpus. Its names and facts come from capital letters and from the `triples` of documents."""
        answer = self.client.post("/v1/corpora", json={"name": corpus, "extractor": "pattern+given", **settings})
        assert answer.status_code == 201, answer.text

    def add(
        self, corpus: str, documents: Sequence[Mapping[str, Any]] = (), files: Mapping[str, bytes] | None = None
    ) -> dict[str, str]:
        """Hands in documents and files, and waits until they are indexed. Returns ids by key."""
        path = f"/v1/corpora/{corpus}/documents"
        answers = []
        if documents:
            answers.append(self.client.post(path, json={"documents": list(documents)}))
        if files:
            answers.append(self.client.post(path, files=[("file", (name, body)) for name, body in files.items()]))
        ids: dict[str, str] = {}
        for answer in answers:
            assert answer.status_code == 202, answer.text
            told = answer.json()
            ids |= {one["key"]: one["id"] for one in told["documents"]}
            self._await_search(corpus, self.finish(told["job"]["id"]))
        return ids

    def _await_search(self, corpus: str, job: Mapping[str, Any]) -> None:
        """Waits until a search has what the job has indexed: on a busy machine, that takes longer than a search waits
        by itself.
        """
        if job["state"] == "done":
            asked = {"query": "anything", "k": 1, "min_generation": job["generation"]}
            wait_until(lambda: self.client.post(f"/v1/corpora/{corpus}/search", json=asked).status_code == 200)

    def finish(self, job: str) -> dict[str, Any]:
        """Waits until a job is over, and returns it."""
        wait_until(lambda: self.client.get(f"/v1/jobs/{job}").json()["state"] in _OVER)
        told: dict[str, Any] = self.client.get(f"/v1/jobs/{job}").json()
        return told

    def run(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """Runs `hopweave ARGUMENTS…` with the settings of the server."""
        ran = subprocess.run(
            [HOPWEAVE, *arguments],
            env=self._environment,
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=_PATIENCE_SECONDS,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr
        return ran

    def wait_until_refused(self, key: str) -> None:
        """Waits until a key that was revoked is unknown to the server."""
        headers = {"Authorization": f"Bearer {key}"}
        wait_until(lambda: self.client.get("/v1/corpora", headers=headers).status_code == 401)

    def get(self, path: str, **query: Any) -> Any:
        answer = self.client.get(path, params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()


@contextmanager
def serve(
    folder: Path,
    settings: Mapping[str, str],
    reader: Reader | None = None,
    key: str = "",
    processes: int = 1,
    awaits: str = "/readyz",
) -> Iterator[Live]:
    """Starts a server with `settings` (environment variables) in an empty folder, and ends it with its worker.

    It is used when `awaits` is answered with 200.
    """
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("HOPWEAVE_")}
    data = {"HF_HUB_OFFLINE": "1", "HOPWEAVE_DATA_DIR": str(folder / "data")}
    environment = {**inherited, **data, **settings}
    [port] = free_ports(1)
    with (folder / "serve.log").open("wb") as log:
        process = subprocess.Popen(
            [HOPWEAVE, "serve", "--port", str(port), "--workers", str(processes)],
            env=environment,
            cwd=folder,
            stdout=log,
            stderr=log,
        )
    live = Live(process, port, environment, folder, reader or Reader(), key)
    try:
        wait_until(lambda: process.poll() is not None or _is_ready(live, awaits))
        assert process.poll() is None, live.log
        yield live
    finally:
        live.client.close()
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(_PATIENCE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def twins(reader: Reader, own: EmbeddingServer | None = None) -> Iterator[dict[str, str]]:
    """Runs the reader and an embedding model without weights as endpoints. Yields the settings that name them.

    `own` is an embedding model of the caller, which runs already.
    """
    with ChatServer(respond=reader) as chat, nullcontext(own) if own else EmbeddingServer(dimension=64) as embedding:
        yield {
            **model_settings(chat.url),
            **embedding.environment,
        }


def model_settings(url: str) -> dict[str, str]:
    return {
        "HOPWEAVE_LLM__BASE_URL": url,
        "HOPWEAVE_LLM__MODEL": "reader",
        "HOPWEAVE_LLM__API_KEY": "none",
        "HOPWEAVE_LLM__SEND_METADATA": "true",
        "HOPWEAVE_LLM__CACHE": "false",
        "HOPWEAVE_LLM__RETRIES": "0",
    }


def _is_ready(live: Live, path: str) -> bool:
    try:
        return live.client.get(path).status_code == 200
    except httpx.TransportError:
        return False
