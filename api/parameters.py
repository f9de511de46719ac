"""Query parameters: the metadata filter that several routes take, and the refusal of parameters that a route lacks."""

from typing import Annotated, Any

from fastapi import Depends, Query, Request
from fastapi.dependencies.utils import get_flat_params
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute

from core.errors import InvalidFilter, InvalidInput
from indexer import parse_json

__all__ = ["FilterDep", "FilterText", "Limit", "parse_filter_parameter", "refuse_unknown"]

Limit = Annotated[int, Query(ge=1, le=200, description="The largest number of entries of the page.")]

FilterText = Annotated[
    str | None, Query(description='A filter of documents, as JSON: `{"year": {"$gte": 1990}}`.', max_length=20_000)
]


def parse_filter_parameter(text: str) -> dict[str, Any]:
    """Returns the value of the parameter `filter`. Raises `InvalidFilter` unless it is a JSON object."""
    try:
        value = parse_json(text)
    except InvalidInput as error:
        raise InvalidFilter(f"`filter` is {error}") from error
    if not isinstance(value, dict):
        raise InvalidFilter('`filter` is a JSON object of fields and conditions, such as {"year": 1990}')
    return value


async def _filter(filter: FilterText = None) -> dict[str, Any] | None:
    return None if filter is None else parse_filter_parameter(filter)


FilterDep = Annotated[dict[str, Any] | None, Depends(_filter)]
"""The filter of the query string; only documents that match it count."""


async def refuse_unknown(request: Request) -> None:
    """Raises `RequestValidationError`, which names each unknown parameter and each that is given more than once."""
    route = request.scope.get("route")
    if not isinstance(route, APIRoute) or not request.query_params:
        return
    known = sorted(field.alias for field in get_flat_params(route.dependant) if _is_query(field))
    names = [name for name, _ in request.query_params.multi_items()]
    has = f"this call has {', '.join(known)}" if known else "this call has none"
    wrong = [(name, f"there is no such parameter; {has}") for name in dict.fromkeys(names) if name not in known]
    wrong += [(name, "it is given more than once") for name in known if names.count(name) > 1]
    if wrong:
        raise RequestValidationError([{"loc": ("query", name), "msg": why, "type": "parameter"} for name, why in wrong])


def _is_query(field: object) -> bool:
    info = getattr(field, "field_info", None)
    return getattr(getattr(info, "in_", None), "value", None) == "query"
