"""`refuse_unknown`: the dependency that refuses query parameters that a route does not have."""

from fastapi import Request
from fastapi.dependencies.utils import get_flat_params
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute

__all__ = ["refuse_unknown"]


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
