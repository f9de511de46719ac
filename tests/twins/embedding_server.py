"""An endpoint that speaks OpenAI's embedding protocol over a real socket, and fails when it is told to."""

import base64
from typing import Any

import numpy as np

from core.ports.embedding import Vectors
from tests.twins.embedder import TwinEmbedder
from tests.twins.json_server import JsonServer, Request
from tests.twins.json_server import Reply as Scripted

__all__ = ["EmbeddingServer", "Scripted"]


class EmbeddingServer(JsonServer):
    """Vectors are three units long and come in reverse order, which the protocol allows. It lists `models`."""

    prefix = "/v1"

    def __init__(self, dimension: int = 16) -> None:
        super().__init__()
        self.calls: list[dict[str, Any]] = []
        self.keys: list[str] = []
        self.models: list[str] = []
        self._twin = TwinEmbedder(dimension=dimension)

    @property
    def environment(self) -> dict[str, str]:
        """The settings that choose it."""
        settings = {"KIND": "openai", "MODEL": "twin", "BASE_URL": self.url, "API_KEY": "none", "MAX_TOKENS": "256"}
        return {f"HOPWEAVE_EMBEDDING__{name}": value for name, value in settings.items()}

    def reply_to(self, request: Request) -> Scripted:
        if request.method == "GET":
            return Scripted(body={"object": "list", "data": [{"id": name} for name in self.models]})
        return self.answer(request.body, request.key)

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
        return Scripted(body={"object": "list", "data": data[::-1], "model": call["model"], "usage": usage})


def _written(vector: Vectors, call: dict[str, Any]) -> Any:
    if call.get("encoding_format") == "base64":
        return base64.b64encode(vector.astype(np.float32).tobytes()).decode("ascii")
    return vector.tolist()
