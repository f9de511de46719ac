"""An HTTP client of the storm, as a process that can be killed: `python -m tests.faults.storm_client PORT CORPUS STEP`.

Each step may be repeated from its beginning, with the same outcome. It ends with 1 if the server does not answer.
"""

import http.client
import json
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

from core.ids import entity_id

__all__ = ["STEPS"]

_POLL_SECONDS = 0.1


class Client:
    """Speaks to one corpus of a server."""

    def __init__(self, port: int, corpus: str) -> None:
        self._port = port
        self._corpus = corpus

    def call(self, method: str, path: str, body: Any = None, *, key: str = "") -> Any:
        """`key` makes a call that may be repeated."""
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=30)
        content = None if body is None else json.dumps(body)
        keys = {"Idempotency-Key": key} if key else {}
        connection.request(method, path, content, {"Content-Type": "application/json", **keys})
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        if answer.status >= 400:
            raise RuntimeError(f"{method} {path}: {answer.status} {text!r}")
        return json.loads(text)

    def submit(self, documents: Mapping[str, str]) -> str:
        listed = [{"key": key, "text": text} for key, text in documents.items()]
        answer = self.call("POST", f"/v1/corpora/{self._corpus}/documents", {"documents": listed})
        return str(answer["job"]["id"])

    def delete(self, keys: list[str]) -> str:
        answer = self.call("POST", f"/v1/corpora/{self._corpus}/documents/delete", {"keys": keys})
        return str(answer["job"]["id"])

    def merge(self, name: str, into: str) -> str:
        """Merges two entities, unless they are merged. Returns the id of the merge."""
        at = f"/v1/corpora/{self._corpus}"
        made = {one["entity"]["name"]: one["id"] for one in self.call("GET", f"{at}/merges")["data"]}
        if name in made:
            return str(made[name])
        call = {"into": entity_id(into.lower())}
        return str(self.call("POST", f"{at}/entities/{entity_id(name.lower())}/merge", call)["id"])

    def undo(self, merge: str) -> None:
        self.call("POST", f"/v1/corpora/{self._corpus}/merges/{merge}/undo")

    def reindex(self, **settings: str) -> str:
        key = "-".join([self._corpus, *settings])
        answer = self.call("POST", f"/v1/corpora/{self._corpus}/reindex", settings, key=key)
        return str(answer["job"]["id"])

    def wait(self, job: str) -> None:
        while self.call("GET", f"/v1/jobs/{job}")["state"] not in ("done", "failed", "cancelled"):
            time.sleep(_POLL_SECONDS)


def _add(client: Client) -> None:
    client.wait(client.submit({f"http/{n}": _prose(n, "came") for n in range(12)}))


def _replace(client: Client) -> None:
    jobs = [
        client.submit({f"http/{n}": _prose(n, "returned") for n in range(6)}),
        client.delete(["http/10", "http/11"]),
    ]
    for job in jobs:
        client.wait(job)


def _cancel(client: Client) -> None:
    """Some of the documents are indexed, some are not; all of them are deleted then."""
    added = {f"cancelled/{n}": _prose(n, "vanished") for n in range(20)}
    job = client.submit(added)
    client.call("POST", f"/v1/jobs/{job}/cancel")
    client.wait(client.delete(list(added)))


def _merge(client: Client) -> None:
    """Of three merges one is undone."""
    for number in (1, 2):
        client.merge(f"Person Number{number}", "Ada Lovelace")
    client.undo(client.merge("Person Number3", "Ada Lovelace"))


def _reindex(client: Client) -> None:
    """To other passages, and then to entities with vectors."""
    client.wait(client.reindex(chunker="sentences"))
    client.wait(client.reindex(fine="on"))


def _prose(number: int, verb: str) -> str:
    return f"Person Number{number} {verb} to London. Ada Lovelace wrote to Charles Part{number}. " * (1 + number % 4)


STEPS: Mapping[str, Callable[[Client], None]] = {
    "add": _add,
    "replace": _replace,
    "merge": _merge,
    "cancel": _cancel,
    "reindex": _reindex,
}


if __name__ == "__main__":
    try:
        STEPS[sys.argv[3]](Client(int(sys.argv[1]), sys.argv[2]))
    except (OSError, http.client.HTTPException, RuntimeError) as error:
        sys.exit(f"{type(error).__name__}: {error}")
