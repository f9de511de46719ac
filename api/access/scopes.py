"""The scope that each route declares beside its path: `dependencies=[READ]`. A test finds routes that declare none."""

from typing import Annotated

from fastapi import Depends, Request, Security
from fastapi.routing import APIRoute
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer, SecurityScopes

from api.access.caller import caller_of
from core.errors import Forbidden
from core.keys import Scope

__all__ = ["ADMIN", "ANY", "EXPORT", "KEY_SCHEME", "OPEN", "READ", "WRITE", "check_declared", "declared_scopes"]

KEY_SCHEME = "key"
"""The name of the security scheme of keys in the OpenAPI description."""

_bearer = HTTPBearer(
    scheme_name=KEY_SCHEME,
    auto_error=False,
    description="A key of `hopweave keys create`, or of the setting HOPWEAVE_API__KEYS. The list beside a call names "
    "the scope that it needs; `admin` includes all. Without any key, the server answers only its own machine.",
)


async def _check(
    request: Request, needed: SecurityScopes, _: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]
) -> None:
    access = caller_of(request.scope).access
    for scope in needed.scopes:
        if not access.has(Scope(scope)):
            has = ", ".join(sorted(access.scopes))
            raise Forbidden(f"this call needs a key with the scope {scope}, and this key has {has}")


async def _open() -> None:
    """Nothing is checked: the call is answered without a key."""


READ = Security(_check, scopes=[Scope.READ.value])
WRITE = Security(_check, scopes=[Scope.WRITE.value])
EXPORT = Security(_check, scopes=[Scope.EXPORT.value])
ADMIN = Security(_check, scopes=[Scope.ADMIN.value])
ANY = Security(_check, scopes=[])
"""Any key will do."""
OPEN = Security(_open)
"""`Guard` knows these paths, too: it refuses all others without a key before their body is read."""


def declared_scopes(route: APIRoute) -> list[str] | None:
    """Returns the scopes that a route declares; [] for `OPEN` and `ANY`, None if it declares nothing."""
    for one in route.dependencies:
        if one.dependency in (_check, _open):
            return [str(scope) for scope in getattr(one, "scopes", None) or ()]
    return None


async def check_declared(request: Request) -> None:
    """Raises `Forbidden` for a route that declares no scope, unless the caller has `admin`."""
    route = request.scope.get("route")
    if isinstance(route, APIRoute) and declared_scopes(route) is None:
        access = caller_of(request.scope).access
        if not access.has(Scope.ADMIN):
            raise Forbidden("this call needs a key with the scope admin")
