"""Scopes: each route declares one, and a key without it gets nowhere."""

from typing import Any

from fastapi.routing import APIRoute

from api.access.keys import OPEN_PATHS, SESSION_PATH, declared_scopes, is_open
from core.keys import Scope
from tests.integration.api.access.conftest import Keys
from tests.integration.api.conftest import Server

_PLACES = {"{corpus}": "people", "{id}": "0", "{page}": "1"}


def all_routes(server: Server) -> list[Any]:
    return _walk(server.app.routes)


def _routes(server: Server) -> list[APIRoute]:
    return [route for route in all_routes(server) if isinstance(route, APIRoute)]


def _walk(routes: list[Any]) -> list[Any]:
    """All routes, also those of routers that are included."""
    found = []
    for route in routes:
        inner = getattr(getattr(route, "original_router", None), "routes", None) or getattr(route, "routes", None)
        found += _walk(inner) if inner else [route]
    return found


def test_each_route_declares_a_scope(server: Server) -> None:
    routes = _routes(server)
    assert len(routes) > 40
    assert [route.path for route in routes if declared_scopes(route) is None] == []


def test_what_is_open_is_open_to_the_guard_and_nothing_else_is(server: Server) -> None:
    described = server.app.openapi()["paths"]
    declared = {route.path for route in _routes(server) if declared_scopes(route) == []}
    assert declared == OPEN_PATHS | {SESSION_PATH}
    for path, operations in described.items():
        for method, operation in operations.items():
            assert ("security" in operation) == (not is_open(method.upper(), path)), (method, path)
    assert [is_open(method, SESSION_PATH) for method in ("POST", "DELETE", "GET", "PUT")] == [True, True, False, False]


async def test_a_key_reaches_only_the_routes_of_its_scope(keys: Keys) -> None:
    for scope in (Scope.READ, Scope.WRITE, Scope.EXPORT):
        holder = await keys.make(scope)
        for path, operations in keys.server.app.openapi()["paths"].items():
            for method, operation in operations.items():
                needed = {one for each in operation.get("security", ()) for one in each.get("key", ())}
                body: dict[str, Any] = {"json": {}} if "requestBody" in operation else {}
                if path.endswith("/import"):
                    body = {"content": b"", "headers": {"content-type": "application/x-ndjson"}}
                answer = await holder(method.upper(), _fill(path), **body)
                refused = answer.status_code == 403 and f"scope {next(iter(needed), '')}" in answer.text
                assert refused == bool(needed - {scope}), (scope, method, path, answer.text)


def _fill(path: str) -> str:
    for name, value in _PLACES.items():
        path = path.replace(name, value)
    return path


async def test_admin_includes_all(keys: Keys) -> None:
    admin = await keys.make(Scope.ADMIN)
    for method, path in (("GET", "/v1/corpora"), ("GET", "/v1/corpora/people/export"), ("POST", "/v1/jobs/0/cancel")):
        assert (await admin(method, path)).status_code in (200, 404)
    assert (await admin("POST", "/v1/corpora", json={"name": "new"})).status_code == 201


async def test_the_description_has_the_scheme(server: Server) -> None:
    description = server.app.openapi()
    assert description["components"]["securitySchemes"]["key"]["scheme"] == "bearer"
    assert description["paths"]["/v1/corpora"]["post"]["security"] == [{"key": ["admin"]}, {"session": ["admin"]}]
    assert description["paths"]["/metrics"]["get"]["security"] == [{"key": ["read"]}]
    assert description["components"]["securitySchemes"]["session"]["in"] == "cookie"
