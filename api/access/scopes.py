"""The scope that each route declares beside its path: `dependencies=[READ]`. A test finds routes that declare none.

Some addresses are answered without a key. They say nothing of documents, and nothing of questions.
"""

from typing import Annotated

from fastapi import Depends, Request, Security
from fastapi.routing import APIRoute
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer, SecurityScopes

from api.access.keys import caller_of
from core.errors import Forbidden
from core.keys import Scope

__all__ = [
    "ADMIN",
    "ANY",
    "EXPORT",
    "KEY_SCHEME",
    "OPEN",
    "OPEN_PATHS",
    "READ",
    "SESSION_PATH",
    "WRITE",
    "check_declared",
    "declared_scopes",
    "is_open",
    "is_view",
]


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


SESSION_PATH = "/v1/session"
"""Where a key is exchanged for a session, and where a session ends."""

OPEN_PATHS = frozenset({"/healthz", "/readyz", "/docs", "/docs/page.js", "/docs/page.css", "/openapi.json"})
_SIGNING = frozenset({"POST", "DELETE"})
_VIEWS = frozenset({"/", "/sign-in", "/help", "/docs"})
_VIEW_PREFIX = "/c/"
_FILE_PREFIX = "/page/"


def is_open(method: str, path: str) -> bool:
    """Whether a request needs no key. The web page asks for a key itself."""
    if path == SESSION_PATH:
        return method in _SIGNING
    return path in OPEN_PATHS or is_view(path) or path.startswith(_FILE_PREFIX)


def is_view(path: str) -> bool:
    """Whether a path is a page for people, to which links of other sites lead."""
    return path in _VIEWS or path.startswith(_VIEW_PREFIX)
