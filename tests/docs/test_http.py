"""The HTTP interface against its pages: `docs/openapi.json` is up to date, and `docs/http.md` has every route."""

import json
import re
from functools import cache

from tests.docs.openapi import openapi_text
from tests.docs.pages import DOCS, inline_code, pages, table_rows

_CORPUS = "/v1/corpora/{corpus}"
_CALL = re.compile(r"((?:GET|POST|PUT|PATCH|DELETE)(?:, (?:GET|POST|PUT|PATCH|DELETE))*) ([/…][^\s?`]*)")
_PAGES = {("GET", "/docs"), ("GET", "/openapi.json")}
"""Routes that describe the others and are no part of the description."""
_MCP = {("POST", "/mcp"), ("GET", "/mcp")}
"""MCP describes itself."""
_OF_MODELS = {"…/chat/completions"}
"""Paths of other servers that a page shortens in the same way."""


def calls(texts: list[str]) -> set[tuple[str, str]]:
    """Methods with paths, in which `…` stands for the corpus."""
    return {
        (method, path.replace("…", _CORPUS))
        for text in texts
        for methods, path in _CALL.findall(text)
        if path not in _OF_MODELS
        for method in methods.split(", ")
    }


@cache  # the description is long, and is asked for each call of each page
def routes() -> set[tuple[str, str]]:
    paths = json.loads((DOCS / "openapi.json").read_text("utf-8"))["paths"]
    return {(method.upper(), path) for path, operations in paths.items() for method in operations}


def exists(method: str, path: str) -> bool:
    """Whether there is such a route; an example may have a value where the route has a parameter."""
    known = routes() | _PAGES | _MCP
    return any(method == other and re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", route), path) for other, route in known)


def test_the_description_is_up_to_date() -> None:
    assert (DOCS / "openapi.json").read_text("utf-8") == openapi_text(), "run `make docs`"


def test_every_route_is_in_the_table_with_its_methods() -> None:
    cells = [row[0] for row in table_rows((DOCS / "http.md").read_text("utf-8"), "call")]
    assert calls(cells) - _MCP == routes()


def test_calls_that_pages_name_exist() -> None:
    for page, text in pages().items():
        assert {call for call in calls(inline_code(text)) if not exists(*call)} == set(), page
