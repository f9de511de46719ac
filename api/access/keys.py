"""`Keyring`: the keys that this process accepts, from the settings and from the record; and the scopes of routes.

Each route declares its scope beside its path: `dependencies=[READ]`. A test finds routes that declare none.
"""

import asyncio
import hmac
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Annotated

from fastapi import Depends, Request, Security
from fastapi.routing import APIRoute
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer, SecurityScopes
from starlette.types import Scope as ConnectionScope

from app.access.access import EVERYTHING, Access
from core.errors import Forbidden, HopweaveError
from core.ids import digest
from core.keys import NO_LIMITS, ApiKey, KeyLimits, KeyState, Scope, hash_key, id_of_key, matches_hash
from core.ports.record.questions import Keys

_NAME = "hopweave.caller"


@dataclass(frozen=True, kw_only=True)
class Caller:
    """`id` is unique to a key, and empty without a key. `expires_at` is the end of the key or of its session."""

    id: str
    name: str = ""
    access: Access
    limits: KeyLimits = NO_LIMITS
    expires_at: datetime | None = None
    is_of_token: bool = False
    """Known by a token of an identity provider, which no keyring knows."""

    @property
    def is_expired(self) -> bool:
        return self.expires_at is not None and self.expires_at <= datetime.now(UTC)


KEYLESS = Caller(id="", access=EVERYTHING)
"""A caller on this machine, while no key is needed."""


def set_caller(scope: ConnectionScope, caller: Caller) -> None:
    scope[_NAME] = caller


def caller_of(scope: ConnectionScope) -> Caller:
    """Returns the caller. Raises `KeyError` if the request did not come through `Guard`."""
    caller: Caller = scope[_NAME]
    return caller


LONG_ENOUGH = 16
"""The fewest characters of a key that cannot be guessed."""

NO_KEY = "no key was shown: give a key of this server as `Authorization: Bearer …`"

OF_SETTINGS = "settings"
"""Stands for the id of a key of the settings, which have none: all of them are tried."""

_NAME_OF_OWN = "HOPWEAVE_API__KEYS"
_FRESH_SECONDS = 1.0
_STALE_SECONDS = 3.0
"""The keys of the record are read again after the first time, and used no longer than the second."""


class Keyring:
    """A key that is made or revoked in another process takes effect here within `_STALE_SECONDS`."""

    def __init__(self, own: list[str], keys: Callable[[], Keys], *, accepts_tokens: bool = False) -> None:
        """`accepts_tokens`: an identity provider gives callers, so that requests need a key or a token in any case."""
        self._own = [key.encode() for key in own if key]
        self._own_ids = {_id_of_own(key) for key in own if key}
        self._keys = keys
        self._accepts_tokens = accepts_tokens
        self._known: Mapping[str, ApiKey] = {}
        self._read_at: float | None = None
        self._reading: asyncio.Task[None] | None = None

    @property
    def needs_key(self) -> bool:
        """Whether requests need a key, by what was read last. An expired or revoked key also counts: its end must not
        open the server.
        """
        return bool(self._own or self._known or self._accepts_tokens)

    async def refresh(self) -> None:
        """Reads the keys of the record, unless they were read just now. Raises `Unavailable` if that fails and the
        known keys are too old.
        """
        age = self._age()
        if age is not None and age < _FRESH_SECONDS:
            return
        self._begin_reading()
        if self._reading is not None and (age is None or age >= _STALE_SECONDS):
            await asyncio.shield(self._reading)

    def refresh_soon(self) -> None:
        """Reads the keys of the record in the background. The next `refresh` raises its errors."""
        age = self._age()
        if age is None or age >= _FRESH_SECONDS:
            self._begin_reading()

    def find(self, text: str) -> Caller | str:
        """Returns the holder of a key that is accepted now; for any other text, what is wrong.

        A revoked key is treated as an unknown key. Only the holder of an expired key is told that it has expired.
        """
        if not text:
            return NO_KEY
        given = text.encode("utf-8", "surrogatepass")
        # Every key is compared, so that the time does not tell which key was nearly right.
        matches = [hmac.compare_digest(given, key) for key in self._own]
        if any(matches):
            return _hold_own(text)
        key = self._known.get(id_of_key(text) or "")
        if key is None or not matches_hash(text, key.hash) or key.revoked_at is not None:
            return (
                "the key is none of this server's, or is revoked: `hopweave keys list` shows those that there are, and "
                "`hopweave keys create` makes one"
            )
        return _hold(key)

    @property
    def has_guessable(self) -> bool:
        """Whether there is a key that `is_guessable`."""
        return any(len(key.decode("utf-8", "surrogatepass")) < LONG_ENOUGH for key in self._own)

    def is_guessable(self, text: str) -> bool:
        """Returns whether a key is a short key of the settings, not made by `hopweave keys create`."""
        return len(text) < LONG_ENOUGH and text.encode("utf-8", "surrogatepass") in self._own

    def find_signed(self, id: str, is_signed: Callable[[str], bool]) -> Caller | str | None:
        """Returns the holder of the key with whose hash a session is signed; for an expired key, that it has expired;
        None if there is no such key, or it is revoked. `id` is the id of a key of the record, or `OF_SETTINGS`.
        """
        key = self._known.get(id)
        if key is not None:
            return _hold(key) if is_signed(key.hash) and key.revoked_at is None else None
        if id != OF_SETTINGS:
            return None
        own = [text for text in (key.decode() for key in self._own) if is_signed(hash_key(text))]
        return _hold_own(own[0]) if own else None

    def is_active(self, id: str) -> bool:
        """Returns whether a key that was accepted would be accepted again, by what was read last."""
        key = self._known.get(id)
        return key.state(datetime.now(UTC)) is KeyState.ACTIVE if key else id in self._own_ids

    def _age(self) -> float | None:
        return None if self._read_at is None else time.monotonic() - self._read_at

    def _begin_reading(self) -> None:
        if self._reading is None:
            self._reading = asyncio.create_task(self._read(), name="reading the keys")
            self._reading.add_done_callback(self._end_reading)

    def _end_reading(self, task: "asyncio.Task[None]") -> None:
        self._reading = None
        if not task.cancelled():
            task.exception()  # is raised where it was awaited; else the next request tries again

    async def _read(self) -> None:
        begun = time.monotonic()
        self._known = {key.id: key for key in await self._keys().list()}
        self._read_at = begun


def _hold(key: ApiKey) -> Caller | str:
    if key.state(datetime.now(UTC)) is KeyState.EXPIRED:
        end = "" if key.expires_at is None else f" at {key.expires_at.isoformat(timespec='seconds')}"
        return f"the key has expired{end}: ask for another one (`hopweave keys create`)"
    return Caller(id=key.id, name=key.name, access=Access.of_key(key), limits=key.limits, expires_at=key.expires_at)


def _hold_own(text: str) -> Caller:
    id = _id_of_own(text)
    return Caller(id=id, name=_NAME_OF_OWN, access=replace(EVERYTHING, own_key=id))


def _id_of_own(text: str) -> str:
    return digest("key of the settings", [text])


async def prime(keyring: Keyring) -> None:
    """Reads the keys, if it can. A record that does not answer is reported by the first request that needs them."""
    try:
        await keyring.refresh()
    except HopweaveError:
        return


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

PROVIDER_PATH = f"{SESSION_PATH}/provider"
"""Where the web page finds out whether an identity provider signs people in."""

SIGN_IN_PATHS = frozenset({"/sign-in/provider", "/sign-in/callback", "/sign-in/end"})
"""Where a browser is sent to an identity provider, comes back from it, and is sent to be signed out there."""

METADATA_PATH = "/.well-known/oauth-protected-resource"
"""Where a client without a token finds out which issuer gives some (RFC 9728), with the path of the resource behind."""

OPEN_PATHS = frozenset(
    {
        *("/healthz", "/readyz", "/docs", "/docs/page.js", "/docs/page.css", "/openapi.json"),
        *(METADATA_PATH, f"{METADATA_PATH}/mcp", PROVIDER_PATH),
    }
)
_SIGNING = frozenset({"POST", "DELETE"})
_VIEWS = frozenset({"/", "/sign-in", "/help", "/docs"})
_VIEW_PREFIX = "/c/"
_FILE_PREFIX = "/page/"


def is_open(method: str, path: str) -> bool:
    """Whether a request needs no key. The web page asks for a key itself."""
    if path == SESSION_PATH:
        return method in _SIGNING
    return path in OPEN_PATHS or path in SIGN_IN_PATHS or is_view(path) or path.startswith(_FILE_PREFIX)


def is_view(path: str) -> bool:
    """Whether a path is a page for people, to which links of other sites lead."""
    return path in _VIEWS or path.startswith(_VIEW_PREFIX)
