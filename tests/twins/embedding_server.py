"""An endpoint that speaks OpenAI's embedding protocol over a real socket, and fails when it is told to."""

import base64
import json
import threading
from collections import deque
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

import numpy as np

from core.ports.embedding import Vectors
from tests.twins.embedder import TwinEmbedder

__all__ = ["EmbeddingServer", "Scripted"]


@dataclass(frozen=True, kw_only=True)
class Scripted:
    """What one call is answered with instead of vectors."""

    status: int
    body: Any


class EmbeddingServer:
    """Vectors are three units long and come in reverse order, which the protocol allows. It lists `models`."""

    def __init__(self, dimension: int = 16) -> None:
        self.script: deque[Scripted] = deque()
        self.calls: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.models: list[str] = []
        self._twin = TwinEmbedder(dimension=dimension)
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(self))
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.01})

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_port}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def answer(self, call: dict[str, Any], key: str) -> Scripted:
        self.calls.append(call)
        self.keys.append(key)
        if self.script:
            return self.script.popleft()
        if "" in call["input"]:
            return Scripted(status=400, body={"error": {"message": "input must not be empty"}})
        data = [
            {"object": "embedding", "index": index, "embedding": _written(self._twin._vector(text) * 3, call)}
            for index, text in enumerate(call["input"])
        ]
        usage = {"prompt_tokens": 0, "total_tokens": 0}
        return Scripted(status=200, body={"object": "list", "data": data[::-1], "model": call["model"], "usage": usage})


def _written(vector: Vectors, call: dict[str, Any]) -> Any:
    if call.get("encoding_format") == "base64":
        return base64.b64encode(vector.astype(np.float32).tobytes()).decode("ascii")
    return vector.tolist()


def _handler_of(server: EmbeddingServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._send(200, json.dumps({"object": "list", "data": [{"id": name} for name in server.models]}).encode())

        def do_POST(self) -> None:
            call = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            answer = server.answer(call, self.headers.get("Authorization", "").removeprefix("Bearer "))
            body = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
            self._send(answer.status, body)

        def _send(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """A test's output is no access log."""

    return Handler
