"""Reranking endpoints; they score by the words that two texts share.

Their requests and answers are those of: Cohere (docs.cohere.com, "Rerank API (v2)"), Jina (api.jina.ai/docs), Infinity
(its OpenAPI, `/rerank`) and vLLM ("Re-rank API"); llama-server (`tools/server/README.md`, "POST /reranking"); and
text-embeddings-inference (its OpenAPI, `/rerank`; batches of 32 unless `--max-client-batch-size` says another number).
"""

from typing import Literal

from tests.twins.embedder import TwinEmbedder
from tests.twins.json_server import JsonServer, Reply, Request

__all__ = ["Product", "RerankServer"]

Product = Literal["jina", "cohere", "infinity", "llama-server", "tei"]
_PATHS = {"cohere": "/v2/rerank", "infinity": "/rerank", "tei": "/rerank"}
_BATCH = 32


class RerankServer(JsonServer):
    """Serves the address of a product; best first, at most `top_n` results. With `api_key` it answers 401 to others."""

    def __init__(self, *, api_key: str = "", product: Product = "jina") -> None:
        super().__init__()
        self.api_key = api_key
        self.product = product
        self.path = _PATHS.get(product, "/v1/rerank")
        self._twin = TwinEmbedder(dimension=256)

    @property
    def address(self) -> str:
        return f"{self.url}{self.path}"

    def respond(self, request: Request) -> Reply:
        if (request.method, request.path) != ("POST", self.path):
            return Reply(status=404, body={"detail": "Not Found"})
        if self.api_key and request.key != self.api_key:
            return Reply(status=401, body={"detail": f"Invalid API key: {request.key}"})
        if self.product == "tei":
            return self._respond_as_tei(request)
        body = request.body
        if not body["documents"]:
            return Reply(status=422, body={"detail": "documents must not be empty"})
        if self.product == "cohere" and "return_documents" in body:
            return Reply(status=400, body={"message": "unknown parameter: return_documents"})
        scored = self._score(body["query"], body["documents"])[: body.get("top_n")]
        results = [{"index": place, "relevance_score": score} for place, score in scored]
        if self.product == "llama-server":
            usage = {"prompt_tokens": 1, "total_tokens": 1}
            return Reply(body={"model": body.get("model", ""), "object": "list", "usage": usage, "results": results})
        return Reply(body={"id": "rerank-1", "model": body.get("model", ""), "results": results})

    def _respond_as_tei(self, request: Request) -> Reply:
        if "texts" not in request.body:
            said = "Failed to deserialize the JSON body into the target type: missing field `texts` at line 1 column 99"
            return Reply(status=422, body=said, headers={"Content-Type": "text/plain"})
        texts = request.body["texts"]
        if len(texts) > _BATCH:
            said = f"batch size {len(texts)} > maximum allowed batch size {_BATCH}"
            return Reply(status=422, body={"error": said, "error_type": "Validation"})
        scored = self._score(request.body["query"], texts)
        return Reply(body=[{"index": place, "score": score} for place, score in scored])

    def _score(self, question: str, texts: list[str]) -> list[tuple[int, float]]:
        """Returns places and scores, best first."""
        asked = self._twin._vector(question)
        scores = [(place, float(self._twin._vector(text) @ asked)) for place, text in enumerate(texts)]
        return sorted(scores, key=lambda scored: -scored[1])
