"""`/openapi.json`, and the page `/docs`: the API for human readers, who can try it there with a key.

The end has the route that lists the strategies: searchers, reasoners, chunkers, extractors and loaders, with their
options.
"""

import json
from collections.abc import Iterator
from html import escape
from importlib import resources
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import HTMLResponse, Response

from api.access.keys import OPEN, READ, Keyring, prime
from api.description import Description
from api.schemas.base import Out
from app.container.container import describe_strategies

router = APIRouter(include_in_schema=False)

_METHODS = frozenset({"get", "post", "put", "patch", "delete"})
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
_AUTHORIZE = (
    "<form id=authorize><label><code>Key</code> <input type=password name=key size=50 autocomplete=off> "
    "<button>Authorize</button> <span id=state>No key is sent; a session of the web page is used.</span></label></form>"
)


@router.api_route("/openapi.json", methods=["GET", "HEAD"], dependencies=[OPEN])
async def openapi(request: Request) -> Response:
    """As soon as this server has a key, the description says that calls need keys."""
    described: Description = request.app.state.description
    keyring: Keyring = request.app.state.keyring
    await prime(keyring)
    return Response(await described.read(needs_key=keyring.needs_key), media_type="application/json")


@router.get("/docs", dependencies=[OPEN])
async def docs(request: Request) -> HTMLResponse:
    described: Description = request.app.state.description
    await described.build()
    description = request.app.openapi()
    title = escape(description["info"]["title"])
    page = "".join(_page(description))
    return HTMLResponse(
        f"<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title>"
        f"<link rel=stylesheet href=/docs/page.css><script src=/docs/page.js defer></script>{page}</html>",
        headers={"Content-Security-Policy": _POLICY, "Referrer-Policy": "same-origin"},  # as the web page
    )


@router.get("/docs/page.js", dependencies=[OPEN])
async def script() -> Response:
    return Response(_read("docs.js"), media_type="text/javascript; charset=utf-8")


@router.get("/docs/page.css", dependencies=[OPEN])
async def style() -> Response:
    return Response(_read("docs.css"), media_type="text/css; charset=utf-8")


def _read(name: str) -> str:
    package = __package__.rpartition(".")[0]
    return resources.files(package).joinpath("pages", name).read_text(encoding="utf-8")


def _page(description: dict[str, Any]) -> Iterator[str]:
    info = description["info"]
    yield f"<h1>{escape(info['title'])} {escape(info['version'])}</h1><p>{escape(info['description'])} "
    yield f'For programs: <a href="/openapi.json">openapi.json</a>.</p>{_AUTHORIZE}'
    schemas = description["components"]["schemas"]
    for path, operations in description["paths"].items():
        for method, operation in operations.items():
            if method in _METHODS:
                yield from _operation(method.upper(), path, operation, schemas)


def _operation(method: str, path: str, operation: dict[str, Any], schemas: dict[str, Any]) -> Iterator[str]:
    yield f"<details><summary><b>{method}</b> <code>{escape(path)}</code> "
    yield f"{escape(operation.get('summary', ''))}</summary><p>{escape(operation.get('description', ''))}</p>"
    yield from _needs(operation)
    yield f'<form data-method="{method}" data-path="{escape(path)}">'
    for parameter in operation.get("parameters", ()):
        name, place = escape(parameter["name"]), escape(parameter["in"])
        content = parameter.get("content", {}).get("application/json", parameter)
        shape = escape(json.dumps(content["schema"], ensure_ascii=False))
        yield f'<label><code>{name}</code> <input name="{name}" data-in="{place}" title="{shape}"> {place}</label>'
    content = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if content:
        yield "<textarea rows=6 placeholder='{ … }' aria-label=body></textarea>"
    yield "<button>Send</button><output><pre></pre></output></form>"
    for name in _schema_names(content["schema"]) if content else ():
        yield f"<pre>{escape(json.dumps(schemas[name], indent=2, ensure_ascii=False))}</pre>"
    yield "</details>"


def _needs(operation: dict[str, Any]) -> Iterator[str]:
    scopes = sorted({scope for one in operation.get("security", ()) for needed in one.values() for scope in needed})
    if scopes:
        yield f"<p>A key needs the scope <code>{escape(', '.join(scopes))}</code>.</p>"


def _schema_names(schema: dict[str, Any]) -> list[str]:
    """Returns the name of a body's schema, or the names of its alternatives; null is one for an optional body."""
    return [one["$ref"].rsplit("/", 1)[-1] for one in schema.get("anyOf", [schema]) if "$ref" in one]


strategy_router = APIRouter(prefix="/v1/strategies", tags=["strategies"])


class StrategyOut(Out):
    """`options` is a JSON schema. A strategy that needs a model is refused if none is configured. `source` is the paper
    that it follows, or empty. `suffixes` are those of the files that a loader reads, and empty for all others.
    """

    name: str
    kind: str
    description: str
    options: dict[str, Any]
    needs_model: bool
    source: str
    suffixes: list[str]


class StrategyListOut(Out):
    data: list[StrategyOut]
    next_cursor: None = None


@strategy_router.get("", dependencies=[READ], summary="Every strategy with its options")
async def list_strategies() -> StrategyListOut:
    return StrategyListOut(data=[StrategyOut(**strategy) for strategy in describe_strategies()])
