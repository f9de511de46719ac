"""The Python API has the values and the parameters of the HTTP API: both are compared with the OpenAPI description."""

import dataclasses
import inspect
from typing import Any

import pytest
from pydantic import TypeAdapter

import hopweave
from api.main import create_app
from hopweave._operations import corpora, documents, ingestion, jobs, questions
from hopweave.wire.corpora import CorpusList
from hopweave.wire.documents import ChunkList, DocumentList, Enqueued, PageText
from hopweave.wire.entities import EntityList, EntityRejectionList, MergeList
from hopweave.wire.events import EVENTS
from hopweave.wire.jobs import JobList, Started
from hopweave.wire.questions import QuestionList

_OTHER_NAMES = {
    "SearchResult": "SearchOut",
    "NewDocument": "DocumentIn",
    "NewChunk": "ChunkIn",
    "Budget": "BudgetIn",
    "Message": "MessageIn",
    "Rejection": "RejectedOut",
    "Deletion": "DeletedOut",
    "StoredQuestion": "QuestionOut",
}
"""The schema of every other value is called as the value is, with `Out` behind it."""
_COMPOSED = {"Ingestion", "NewFile"}
"""Values that the client makes of several answers, or sends as several parts."""
_OF_EVENTS = {"Found", "PlannedStep"}
_ANSWERS = {
    "StartedOut": Started,
    "EnqueuedOut": Enqueued,
    "CorpusListOut": CorpusList,
    "DocumentListOut": DocumentList,
    "ChunkListOut": ChunkList,
    "JobListOut": JobList,
    "EntityListOut": EntityList,
    "QuestionListOut": QuestionList,
    "MergeListOut": MergeList,
    "EntityRejectionListOut": EntityRejectionList,
    "PageOut": PageText,
}
_CONSTRAINTS = {
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "minLength",
    "maxLength",
    "ge",
    "gt",
    "le",
    "lt",
    "pattern",
} | {
    "minItems",
    "maxItems",
    "maxProperties",
    "contains",
    "contentEncoding",
}
_VALUES = {
    name: value
    for name in hopweave.__all__
    if dataclasses.is_dataclass(value := getattr(hopweave, name)) and name not in _COMPOSED
}
_SHAPES = {
    _OTHER_NAMES.get(name, f"{name}Out"): value
    for name, value in _VALUES.items()
    if value not in EVENTS.values() or name == "Answer"
    if name not in _OF_EVENTS
} | _ANSWERS


@pytest.fixture(scope="module")
def openapi() -> dict[str, Any]:
    return create_app().openapi()


@pytest.mark.parametrize("name", sorted(_SHAPES))
def test_values_have_the_fields_of_the_http_api(name: str, openapi: dict[str, Any]) -> None:
    schemas = openapi["components"]["schemas"]
    assert _schema(_SHAPES[name], sent=name.endswith("In")) == _plain(schemas[name], schemas)


def test_events_have_the_fields_of_the_http_api(openapi: dict[str, Any]) -> None:
    answer = openapi["paths"]["/v1/corpora/{corpus}/ask"]["post"]["responses"]["200"]
    described = answer["content"]["text/event-stream"]["schema"]["oneOf"]
    schemas = openapi["components"]["schemas"]
    data = {one["title"]: _plain(one["properties"]["data"]["contentSchema"], schemas) for one in described}
    assert data.pop("error")["required"] == ["type", "title", "status", "detail", "instance"]
    assert data == {name: _schema(value, sent=False) for name, value in EVENTS.items()}


@pytest.mark.parametrize(
    ("operation", "shape", "own", "others"),
    [
        (questions.search, "SearchIn", set(), set()),
        (questions.ask, "AskIn", set(), {"stream"}),  # `ask_events` sets it
        (ingestion.ingest, "DocumentsIn", {"paths", "wait", "budget_tokens", "gitignore", "follow_links"}, {"budget"}),
        (corpora.create_corpus, "CorpusIn", {"exist_ok"}, set()),
        (corpora.reindex_corpus, "ReindexIn", set(), set()),
        (corpora.rename_corpus, "RenameIn", set(), set()),
        (documents.change_document, "DocumentPatchIn", {"document"}, set()),
        (documents.delete_documents, "DeleteIn", set(), set()),
        (jobs.resume_job, "ResumeIn", {"job", "budget_tokens"}, {"budget"}),
    ],
)
def test_parameters_are_the_fields_of_the_request(
    operation: Any, shape: str, own: set[str], others: set[str], openapi: dict[str, Any]
) -> None:
    parameters = set(inspect.signature(operation).parameters) - {"corpus"}
    fields = set(openapi["components"]["schemas"][shape]["properties"])
    assert parameters - own == fields - others


def _schema(of: Any, *, sent: bool) -> Any:
    schema = TypeAdapter(of).json_schema(mode="validation" if sent else "serialization")
    return _plain(schema, schema.get("$defs", {}))


def _plain(schema: Any, parts: dict[str, Any]) -> Any:
    """The schema with references replaced by what they name, and without names, descriptions and limits of values."""
    if isinstance(schema, list):
        return [_plain(one, parts) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        return _plain(parts[schema["$ref"].rpartition("/")[2]], parts)
    if "properties" in schema:
        fields = {name: _plain(field, parts) for name, field in schema["properties"].items()}
        return {"type": "object", "required": schema.get("required", []), "properties": fields}
    left_out = {"title", "description", "default", "$defs", *_CONSTRAINTS}
    return {key: _plain(value, parts) for key, value in schema.items() if key not in left_out}
