"""The OpenAPI description as a generator of clients reads it: valid, with names that read well, examples and errors."""

import json
import re
from typing import Any

import jsonschema
import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from tests.docs.pages import DOCS

_NAME = re.compile(r"[a-z]+(_[a-z]+)+")


@pytest.fixture(scope="module")
def description() -> dict[str, Any]:
    described: dict[str, Any] = json.loads((DOCS / "openapi.json").read_text("utf-8"))
    return described


def operations(description: dict[str, Any]) -> list[dict[str, Any]]:
    return [operation for path in description["paths"].values() for operation in path.values()]


def test_it_is_valid(description: dict[str, Any]) -> None:
    assert [error.message for error in OpenAPIV31SpecValidator(description).iter_errors()] == []


def test_operations_are_named_by_what_they_do(description: dict[str, Any]) -> None:
    names = [operation["operationId"] for operation in operations(description)]
    assert [name for name in names if not _NAME.fullmatch(name)] == []
    assert len(set(names)) == len(names)
    assert {"search_corpus", "ask_corpus", "add_documents", "get_job", "create_chat_completion"} <= set(names)


def test_tags_are_described_and_used(description: dict[str, Any]) -> None:
    described = [tag["name"] for tag in description["tags"]]
    assert {tag for operation in operations(description) for tag in operation["tags"]} == set(described)
    assert all(tag["description"].endswith(".") for tag in description["tags"])


def test_examples_are_what_the_schema_takes(description: dict[str, Any]) -> None:
    shown = set()
    for operation in operations(description):
        body = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
        if "example" in body:
            shown.add(operation["operationId"])
            schema = {**body["schema"], "components": description["components"]}
            jsonschema.Draft202012Validator(schema).validate(body["example"])
    assert {"create_corpus", "add_documents", "search_corpus", "ask_corpus", "create_chat_completion"} <= shown


def test_errors_are_named_schemas(description: dict[str, Any]) -> None:
    forms = {"openai": "OpenAIError", "ollama": "OllamaError", "dify": "DifyError"}
    for operation in operations(description):
        expected = f"#/components/schemas/{forms.get(operation['tags'][0], 'Problem')}"
        for status in ("4XX", "421", "5XX"):
            (content,) = operation["responses"][status]["content"].values()
            assert content["schema"] == {"$ref": expected}, operation["operationId"]
