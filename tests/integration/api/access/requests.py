"""`Requests`: what the matrix of access asks, on every route and by every searcher, for what is hidden from a key."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from core.ids import document_id

__all__ = ["BASE", "QUERY", "SURVEY", "Request", "Requests"]

BASE = "/v1/corpora/people"
QUERY = "Who sold the ledger to Charles Babbage?"
SURVEY = "Which documents mention Charles Babbage?"
_SEARCHERS = ("bridged", "dense", "sparse", "graph", "fused", "fine", "raptor")
_PROBES: tuple[Mapping[str, Any], ...] = (
    {"$access": "group:a"},
    {"$access": {"$exists": True}},
    {"$not": {"$access": {"$contains": "group:b"}}},
    {"access": {"$contains": "group:b"}},
    {"access": {"$exists": True}},
    {"$or": [{"$key": {"$prefix": "h"}}, {"$title": {"$contains": "rath"}}]},
    {"$not": {"team": "open"}},
)

Request = tuple[str, str, dict[str, Any]]
"""A method, a path, and what else `httpx` is told."""


@dataclass(frozen=True, kw_only=True)
class Requests:
    """On a corpus `people` with a hidden document, beside a corpus `clandestine`.

    `paths` are those of the server's description, `key` is the key of the hidden document, and `ids` has the ids that
    are asked for, by the folders of the paths.
    """

    paths: Mapping[str, Mapping[str, Any]]
    key: str
    ids: dict[str, list[str]] = field(default_factory=dict)

    @cached_property
    def _hidden(self) -> str:
        return document_id(self.key)

    def all(self) -> Iterator[Request]:
        """Yields what is read first, and what deletes last."""
        yield from self._searches()
        yield from self._lists()
        yield from self._described()
        yield from self._writes()

    def reads(self) -> Iterator[Request]:
        """Yields the requests that change nothing."""
        yield from self._searches()
        yield from self._lists()
        yield from (one for one in self._described() if one[0] == "GET")

    def _described(self) -> Iterator[Request]:
        order = {"get": 0, "post": 1, "put": 1, "patch": 2, "delete": 3}
        operations = [(method, path, one) for path, methods in self.paths.items() for method, one in methods.items()]
        for method, path, operation in sorted(operations, key=lambda one: order[one[0]]):
            if path == "/v1/session":
                continue
            folder = path.partition("/{id}")[0].rpartition("/")[2]
            for id in self.ids.get(folder, ["0"]) if "{id}" in path else [""]:
                more: dict[str, Any] = {}
                if "requestBody" in operation:
                    more["json"] = next((body for end, body in self._bodies() if path.endswith(end)), {})
                if path.endswith("/ways"):
                    more["params"] = {"to": self.ids["entities"][-1]}
                address = path.replace("{corpus}", "people").replace("{id}", id).replace("{page}", "1")
                yield method.upper(), address.replace("{model}", "people"), more
            if "{corpus}" in path and method == "get":
                yield "GET", path.replace("{corpus}", "clandestine").replace("{id}", id).replace("{page}", "1"), {}

    def _bodies(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yields bodies by the ends of paths; bodies of searches and writes come apart from these."""
        first, second = self.ids["entities"]
        yield "/entities/{id}/merge", {"into": second}
        yield "/rejections", {"entity": first, "other": second}
        yield "/resolution", {"merge_above": 0.9}
        yield "/schema", {"text": "[types.firm]"}
        yield "/estimates", {"documents": [{"key": self.key, "text": "Taken."}]}
        yield "/embeddings", {"model": "people", "input": QUERY}
        yield "/questions", {"question": QUERY, "reasoner": "extractive:min_probability=0"}
        yield "/questions/{id}", {"kept": True}
        yield "/made-questions", {"count": 500}
        asked = [{"id": key, "question": QUERY, "supporting": [key]} for key in (self.key, "ada")]
        yield "/measurements", {"questions": asked, "searchers": list(_SEARCHERS[:5])}

    def _searches(self) -> Iterator[Request]:
        full = {"query": QUERY, "k": 50, "explain": True, "context": 2}
        for searcher in _SEARCHERS:
            yield "POST", f"{BASE}/search", {"json": {**full, "searcher": searcher}}
            yield "POST", f"{BASE}/search", {"json": {**full, "searcher": searcher, "explain": "features"}}
        for probe in (*_PROBES, {"$id": self._hidden}):
            yield "POST", f"{BASE}/search", {"json": {"query": QUERY, "k": 50, "filter": probe}}
            yield "GET", f"{BASE}/documents", {"params": {"filter": json.dumps(probe)}}
            yield "POST", f"{BASE}/ask", {"json": {"question": QUERY, "filter": probe, "reasoner": "extractive"}}
            yield "POST", f"{BASE}/ask", {"json": {"question": SURVEY, "filter": probe, "reasoner": "survey"}}
        for survey in (SURVEY, "How many documents are there?", "Which documents do not mention a year?"):
            yield "POST", f"{BASE}/ask", {"json": {"question": survey, "reasoner": "survey"}}
        yield "POST", f"{BASE}/search", {"json": {**full, "group_by": "document"}}
        yield "POST", "/v1/search", {"json": {**full, "corpora": ["people"]}}
        question = {"question": QUERY, "k": 50, "reasoner": "extractive:min_probability=0"}
        yield "POST", f"{BASE}/ask", {"json": question}
        yield "POST", f"{BASE}/ask", {"json": {**question, "stream": True}}
        yield "POST", f"{BASE}/ask", {"json": {**question, "verify": True}}
        yield "POST", "/v1/ask", {"json": {**question, "corpora": ["people"]}}
        said = {"model": "people:extractive", "messages": [{"role": "user", "content": QUERY}]}
        yield "POST", "/v1/chat/completions", {"json": said}
        yield "POST", "/v1/chat/completions", {"json": {**said, "stream": True}}
        for more in ({}, {"stream": True}, {"store": False}):
            yield "POST", "/v1/responses", {"json": {"model": "people:extractive", "input": QUERY, **more}}
        yield "POST", "/api/chat", {"json": said}
        yield "POST", "/api/show", {"json": {"name": "people"}}
        setting = {"top_k": 20, "score_threshold": 0.0}
        dify = {"knowledge_id": "people", "query": QUERY, "retrieval_setting": setting}
        yield "POST", "/dify/retrieval", {"json": dify}
        for tool, arguments in (
            ("search", {"query": QUERY, "corpus": "people", "k": 20}),
            ("ask", {"question": QUERY, "corpus": "people"}),
            ("fetch", {"id": f"people/documents/{self._hidden}"}),
            ("fetch", {"id": f"people/chunks/{self.ids['chunks'][0]}"}),
            ("list_corpora", {}),
            ("find_entities", {"corpus": "people"}),
            ("show_entity", {"entity": self.ids["entities"][0], "corpus": "people"}),
            ("list_proposals", {"above": 0, "corpus": "people"}),
            ("make_questions", {"count": 100, "corpus": "people"}),
            ("measure_searchers", {"count": 100, "corpus": "people"}),
            ("compare_documents", {"newer": self._hidden, "older": self.key, "corpus": "people"}),
            ("merge_entities", {"entity": self.ids["entities"][0], "into": "Ada", "corpus": "people"}),
            ("undo_decision", {"id": self.ids["merges"][0], "corpus": "people"}),
        ):
            yield "POST", "/mcp", _speak("tools/call", {"name": tool, "arguments": arguments})
        yield "POST", "/mcp", _speak("tools/list", {})

    def _lists(self) -> Iterator[Request]:
        for state in ("failed", "indexed", "queued"):
            yield "GET", f"{BASE}/documents", {"params": {"state": state}}
        for enabled in ("true", "false"):
            yield "GET", f"{BASE}/documents", {"params": {"enabled": enabled}}
        for limit in (1, 2, 200):
            yield "GET", f"{BASE}/documents", {"params": {"limit": limit}}
        for query in ("", "Charles", "ledger", "sold"):
            yield "GET", f"{BASE}/entities", {"params": {"query": query}}
        for format in ("jsonl", "graphml", "csv"):
            for canonical in ("true", "false"):
                yield "GET", f"{BASE}/export", {"params": {"format": format, "canonical": canonical}}

    def _writes(self) -> Iterator[Request]:
        """Attempts to open the hidden document, to replace it, or to learn who may see it."""
        yield "POST", f"{BASE}/documents/access", {"json": {"keys": [self.key], "access": None}}
        yield "POST", f"{BASE}/documents/access", {"json": {"keys": [self.key], "access": ["group:b"]}}
        yield "POST", f"{BASE}/documents/access", {"json": {"filter": {"$id": self._hidden}, "access": None}}
        yield "PATCH", f"{BASE}/documents/{self._hidden}", {"json": {"access": None}}
        yield "PATCH", f"{BASE}/documents/{self._hidden}", {"json": {"metadata": {"$access": None}}}
        for access in ({}, {"access": ["group:b"]}, {"access": []}):
            yield "POST", f"{BASE}/documents", {"json": {"documents": [{"key": self.key, "text": "Taken.", **access}]}}
        yield "POST", f"{BASE}/documents", {"files": {"file": (self.key, b"Taken.", "text/plain")}}
        yield "POST", f"{BASE}/documents/delete", {"json": {"keys": [self.key]}}
        yield "POST", f"{BASE}/documents/delete", {"json": {"filter": {"$id": self._hidden}}}


def _speak(method: str, params: Mapping[str, Any]) -> dict[str, Any]:
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    headers = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18"}
    return {"json": body, "headers": headers}
