"""A reranking endpoint of the shape that Jina, Cohere and vLLM share; it scores by the words that two texts share."""

from tests.twins.embedder import TwinEmbedder
from tests.twins.json_server import JsonServer, Reply, Request

__all__ = ["RerankServer"]


class RerankServer(JsonServer):
    """Serves `POST /v1/rerank`; best first, at most `top_n` results. With `api_key` it answers 401 to any other."""

    def __init__(self, *, api_key: str = "") -> None:
        super().__init__()
        self.api_key = api_key
        self._twin = TwinEmbedder(dimension=256)

    @property
    def address(self) -> str:
        return f"{self.url}/v1/rerank"

    def respond(self, request: Request) -> Reply:
        if (request.method, request.path) != ("POST", "/v1/rerank"):
            return Reply(status=404, body={"detail": "Not Found"})
        if self.api_key and request.key != self.api_key:
            return Reply(status=401, body={"detail": f"Invalid API key: {request.key}"})
        body = request.body
        if not body["documents"]:
            return Reply(status=422, body={"detail": "documents must not be empty"})
        question = self._twin._vector(body["query"])
        scores = [float(self._twin._vector(text) @ question) for text in body["documents"]]
        order = sorted(range(len(scores)), key=lambda place: -scores[place])[: body.get("top_n")]
        results = [{"index": place, "relevance_score": scores[place]} for place in order]
        return Reply(body={"id": "rerank-1", "model": body.get("model", ""), "results": results})
