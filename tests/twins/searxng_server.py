"""A SearXNG instance: its JSON API over the results that it is told."""

from collections.abc import Sequence
from typing import Any

from tests.twins.json_server import JsonServer, Reply, Request

__all__ = ["SearxngServer"]


class SearxngServer(JsonServer):
    """Answers every question with `results`; without `json` among the `formats` with 403, as the real one does."""

    def __init__(
        self,
        results: Sequence[dict[str, Any]] = (),
        *,
        unresponsive: Sequence[Sequence[str]] = (),
        formats: str = "json",
    ) -> None:
        super().__init__()
        self.results = list(results)
        self.unresponsive = [list(one) for one in unresponsive]
        self.formats = formats

    @property
    def questions(self) -> list[str]:
        return [request.query.get("q", "") for request in self.requests]

    def respond(self, request: Request) -> Reply:
        if request.path != "/search":
            return Reply(status=404, body="<html>Not Found</html>")
        if request.query.get("format") != "json" or "json" not in self.formats:
            return Reply(status=403, body="<!doctype html><title>403 Forbidden</title>")
        return Reply(
            body={
                "query": request.query["q"],
                "number_of_results": 0,
                "results": [
                    {"engine": "twin", "engines": ["twin"], "positions": [place], "score": 1 / place, **row}
                    for place, row in enumerate(self.results, start=1)
                ],
                "answers": [],
                "corrections": [],
                "infoboxes": [],
                "suggestions": [],
                "unresponsive_engines": self.unresponsive,
            }
        )
