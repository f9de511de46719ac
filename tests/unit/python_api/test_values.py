"""The Python API has the values and the parameters of the HTTP API: both are compared with the OpenAPI description."""

import inspect
from typing import Any

import pytest
from pydantic import TypeAdapter

import hopweave
from api.main import create_app
from hopweave._operations import corpora, documents, ingestion, jobs, questions

_SENT = {
    "BudgetIn": hopweave.Budget,
    "ChunkIn": hopweave.NewChunk,
    "DocumentIn": hopweave.NewDocument,
    "MessageIn": hopweave.Message,
}
"""What the client sends. What it receives is defined once, in `hopweave.wire`."""
_CONSTRAINTS = {
    *("minimum", "maximum", "exclusiveMinimum", "minLength", "maxLength", "ge", "gt", "le", "lt", "pattern"),
    *("minItems", "maxItems", "maxProperties", "contains", "contentEncoding"),
}


@pytest.fixture(scope="module")
def openapi() -> dict[str, Any]:
    return create_app().openapi()


@pytest.mark.parametrize("name", sorted(_SENT))
def test_values_have_the_fields_of_the_http_api(name: str, openapi: dict[str, Any]) -> None:
    schemas = openapi["components"]["schemas"]
    schema = TypeAdapter(_SENT[name]).json_schema()
    assert _plain(schema, schema.get("$defs", {})) == _plain(schemas[name], schemas)


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
        (documents.set_access, "AccessChangeIn", set(), set()),
        (jobs.resume_job, "ResumeIn", {"job", "budget_tokens"}, {"budget"}),
    ],
)
def test_parameters_are_the_fields_of_the_request(
    operation: Any, shape: str, own: set[str], others: set[str], openapi: dict[str, Any]
) -> None:
    parameters = set(inspect.signature(operation).parameters) - {"corpus"}
    fields = set(openapi["components"]["schemas"][shape]["properties"])
    assert parameters - own == fields - others


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
