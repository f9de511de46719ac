"""Tavily's search API over the results that it is told."""

from collections.abc import Sequence
from typing import Any

from tests.twins.json_server import JsonServer, Reply, Request

__all__ = ["TavilyServer"]


class TavilyServer(JsonServer):
    """Answers with `max_results` of `results`; any other key than its own is answered 401."""

    def __init__(self, results: Sequence[dict[str, Any]] = (), *, api_key: str = "tvly-twin") -> None:
        super().__init__()
        self.results = list(results)
        self.api_key = api_key

    def respond(self, request: Request) -> Reply:
        if (request.method, request.path) != ("POST", "/search"):
            return Reply(status=404, body={"detail": "Not Found"})
        if request.key != self.api_key:
            return Reply(status=401, body={"detail": {"error": f"Unauthorized: invalid API key {request.key}"}})
        if len(request.body["query"]) > 400:
            return Reply(
                status=400, body={"detail": {"error": "Query is too long. Max query length is 400 characters."}}
            )
        rows = [
            {"score": 1 / place, "raw_content": None, **row}
            for place, row in enumerate(self.results[: request.body.get("max_results", 5)], start=1)
        ]
        return Reply(
            body={"query": request.body["query"], "answer": None, "images": [], "results": rows, "response_time": 0.1}
        )
