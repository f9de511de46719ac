"""The page `/docs`: the API for human readers, made from its OpenAPI description without a foreign script."""

import json
from collections.abc import Iterator
from html import escape
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse

__all__ = ["router"]

router = APIRouter(include_in_schema=False)

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
code, pre { font: 14px/1.4 ui-monospace, monospace; } pre { overflow-x: auto; }
summary { cursor: pointer; } b { display: inline-block; width: 5rem; } details { margin: .4rem 0; }
"""


@router.get("/docs")
async def docs(request: Request) -> HTMLResponse:
    description = request.app.openapi()
    title = escape(description["info"]["title"])
    page = "".join(_page(description))
    return HTMLResponse(
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title><style>{_STYLE}</style>{page}</html>",
        headers={"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'"},
    )


def _page(description: dict[str, Any]) -> Iterator[str]:
    info = description["info"]
    yield f"<h1>{escape(info['title'])} {escape(info['version'])}</h1><p>{escape(info['description'])} "
    yield 'For programs: <a href="/openapi.json">openapi.json</a>.</p>'
    schemas = description["components"]["schemas"]
    for path, operations in description["paths"].items():
        for method, operation in operations.items():
            yield from _operation(method.upper(), path, operation, schemas)


def _operation(method: str, path: str, operation: dict[str, Any], schemas: dict[str, Any]) -> Iterator[str]:
    yield f"<details><summary><b>{method}</b> <code>{escape(path)}</code> {escape(operation['summary'])}</summary>"
    yield f"<p>{escape(operation.get('description', ''))}</p>"
    for parameter in operation.get("parameters", ()):
        shape = escape(json.dumps(parameter["schema"]))
        yield f"<p><code>{escape(parameter['name'])}</code> ({parameter['in']}): <code>{shape}</code></p>"
    content = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if content:
        for name in _schema_names(content["schema"]):
            yield f"<pre>{escape(json.dumps(schemas[name], indent=2, ensure_ascii=False))}</pre>"
    yield "</details>"


def _schema_names(schema: dict[str, Any]) -> list[str]:
    """Returns the name of a body's schema, or the names of its alternatives; null is one for an optional body."""
    return [one["$ref"].rsplit("/", 1)[-1] for one in schema.get("anyOf", [schema]) if "$ref" in one]
