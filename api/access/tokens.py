"""Tokens of an identity provider (OpenID Connect) as callers: which tokens are accepted, and what their holders may do.

A token is a JWT that the issuer of the settings has signed with one of its published keys. Only algorithms with two
keys are accepted, so that nothing that is published can sign. The subject and the groups of a token are the principals
of its holder (`core.principals`); a rule of the settings gives scopes and corpora.

`IssuerKeys` fetches the keys of the issuer, and keeps them: an address that does not answer, or changes its keys, is
asked again, and no more often than the bounds below say.
"""

import asyncio
import binascii
import json
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

import httpx
from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, Key, OKPKey, RSAKey
from joserfc.util import urlsafe_b64decode
from starlette.requests import Request

from api.access.keys import METADATA_PATH, Caller
from app.access.access import Access
from core.errors import InvalidInput, Unavailable
from core.execution.bounded_answers import AnswerBounds, AnswerRefused, bounding_hooks
from core.ids import digest
from core.keys import Scope
from core.principals import check_principals
from core.settings import ApiSettings, OidcRule, OidcSettings

__all__ = ["IssuerKeys", "Tokens", "describe_resource", "is_own_host", "locate_metadata", "own_address"]

_MCP = "/mcp"
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]"})
_ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "Ed25519", "EdDSA"]
_TYPES = frozenset(("jwt", "at+jwt"))
"""The types of tokens that give access, where a token names its own: tokens that end a session are signed, too."""
_KINDS: Mapping[str, type[RSAKey] | type[ECKey] | type[OKPKey]] = {"RSA": RSAKey, "EC": ECKey, "OKP": OKPKey}
"""No `oct`: a secret among published keys is none."""
_READERS = (OidcRule(scopes=[Scope.READ]),)
"""The rules of a server that has none."""
_LONGEST = 16_000
_MOST_GROUPS = 1_000
_LEEWAY_SECONDS = 30
_MOST_KEYS = 100
_BOUNDS = AnswerBounds(whole=1024 * 1024, values=20_000, seconds=5.0)
_FRESH_SECONDS = 600.0
_STALE_SECONDS = 3600.0
"""Keys are fetched again after the first time, and used no longer than the second while the issuer does not answer."""
_AGAIN_SECONDS = 30.0
"""The shortest time between two requests for keys, whatever ids of keys tokens name."""


class IssuerKeys:
    """The keys that an issuer publishes, by their ids."""

    def __init__(self, settings: OidcSettings) -> None:
        self._settings = settings
        self._keys: Mapping[str, Key] = {}
        self._fetched_at: float | None = None
        self._asked_at: float | None = None
        self._fetching: asyncio.Task[None] | None = None
        self._failure = ""

    async def find(self, id: str) -> Key | None:
        """Returns the key with this id; None if the issuer publishes none.

        Raises `Unavailable` if the keys could not be fetched for too long.
        """
        age = None if self._fetched_at is None else time.monotonic() - self._fetched_at
        if age is None or age > _STALE_SECONDS:
            await self._fetch()
            if self._fetched_at is None or time.monotonic() - self._fetched_at > _STALE_SECONDS:
                raise Unavailable(f"the keys of the issuer {self._settings.issuer} cannot be read: {self._failure}")
        elif id not in self._keys:
            await self._fetch()
        elif age > _FRESH_SECONDS:
            self._begin()
        return self._keys.get(id)

    async def close(self) -> None:
        if self._fetching is not None:
            self._fetching.cancel()
            await asyncio.gather(self._fetching, return_exceptions=True)

    async def _fetch(self) -> None:
        self._begin()
        if self._fetching is not None:
            await asyncio.shield(self._fetching)

    def _begin(self) -> None:
        """All callers wait for one request."""
        now = time.monotonic()
        if self._fetching is None and (self._asked_at is None or now - self._asked_at >= _AGAIN_SECONDS):
            self._asked_at = now
            self._fetching = asyncio.create_task(self._read(), name="reading the keys of the issuer")
            self._fetching.add_done_callback(self._end)

    def _end(self, _: "asyncio.Task[None]") -> None:
        self._fetching = None

    async def _read(self) -> None:
        """Keeps what is known if the issuer does not answer, or answers something else."""
        hooks = bounding_hooks(_BOUNDS)
        try:
            async with httpx.AsyncClient(event_hooks=hooks, timeout=_BOUNDS.seconds, trust_env=False) as client:
                self._keys = _parse_keys(await _get(client, await self._find_address(client)))
        except (httpx.HTTPError, httpx.InvalidURL, AnswerRefused, InvalidInput) as error:
            self._failure = str(error) or type(error).__name__
        else:
            self._fetched_at = time.monotonic()

    async def _find_address(self, client: httpx.AsyncClient) -> str:
        if self._settings.jwks_url:
            return self._settings.jwks_url
        found = await _get(client, f"{self._settings.issuer.rstrip('/')}/.well-known/openid-configuration")
        if found.get("issuer") != self._settings.issuer:
            raise InvalidInput("its description names another issuer")
        address = found.get("jwks_uri")
        if not isinstance(address, str) or not _is_safe(address):
            raise InvalidInput("its description names no address of keys over HTTPS")
        return address


async def _get(client: httpx.AsyncClient, address: str) -> Mapping[str, Any]:
    answer = await client.get(address)
    if answer.status_code != HTTPStatus.OK:
        raise InvalidInput(f"{address} answered {answer.status_code}")
    try:
        found = json.loads(answer.content)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{address} answered no JSON") from error
    if not isinstance(found, dict):
        raise InvalidInput(f"{address} answered no JSON object")
    return found


def _is_safe(address: str) -> bool:
    parts = urlsplit(address)
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in ("127.0.0.1", "localhost", "::1"))


def _parse_keys(found: Mapping[str, Any]) -> Mapping[str, Key]:
    """Returns the keys that can check a signature; keys of other kinds are left out."""
    listed = found.get("keys")
    if not isinstance(listed, list):
        raise InvalidInput("the answer has no list `keys`")
    if len(listed) > _MOST_KEYS:
        raise InvalidInput(f"the answer has more than {_MOST_KEYS} keys")
    keys = {}
    for one in listed:
        if not isinstance(one, dict) or not isinstance(one.get("kid"), str) or one.get("use", "sig") != "sig":
            continue
        if (kind := _KINDS.get(str(one.get("kty")))) is None:
            continue
        try:
            keys[one["kid"]] = kind.import_key(one)
        except (JoseError, ValueError, TypeError, KeyError):  # a key that this library does not know
            continue
    return keys


class Tokens:
    """Accepts the tokens of one issuer."""

    def __init__(self, settings: OidcSettings, keys: IssuerKeys) -> None:
        self._settings = settings
        self._keys = keys

    @staticmethod
    def is_token(text: str) -> bool:
        """Returns whether a text has the form of a JWT, which no key of this server has."""
        return text.count(".") == 2 and text.startswith("ey")

    async def find(self, text: str) -> Caller | str:
        """Returns the holder of a token, or what is wrong with it. Raises `Unavailable` as `IssuerKeys.find` does."""
        if len(text) > _LONGEST:
            return f"the token has more than {_LONGEST:,} characters"
        header = _read_header(text)
        if header.get("alg") not in _ALGORITHMS:
            return "the token is not signed with an algorithm that this server accepts, such as RS256"
        if str(header.get("typ", "JWT")).lower().removeprefix("application/") not in _TYPES:
            return "the token is of another type (`typ`) than the tokens that give access"
        id = header.get("kid")
        if not isinstance(id, str):
            return "the token does not name the key (`kid`) that signed it"
        key = await self._keys.find(id)
        if key is None:
            return "the token is signed with a key that its issuer does not publish"
        if key.get("alg") not in (None, header["alg"]):
            return "the token is signed with another algorithm than its key is for"
        try:
            claims = jwt.decode(text, key, algorithms=_ALGORITHMS).claims
        except (JoseError, ValueError, TypeError, RecursionError):
            return "the token is not signed by its issuer"
        return self._check(claims) or self._admit(claims)

    def _check(self, claims: Mapping[str, Any]) -> str:
        """Returns what is wrong with the claims of a token that is signed, or ''."""
        audience, now = claims.get("aud"), time.time()
        if claims.get("iss") != self._settings.issuer:
            return "the token is of another issuer"
        if self._settings.audience not in (audience if isinstance(audience, list) else [audience]):
            return "the token is for another audience"
        if not _is_time(claims.get("exp")):
            return "the token has no end (`exp`)"
        if claims["exp"] + _LEEWAY_SECONDS <= now:
            return "the token has expired: sign in again"
        if "nbf" in claims and not (_is_time(claims["nbf"]) and claims["nbf"] - _LEEWAY_SECONDS <= now):
            return "the token is not valid yet"
        if not isinstance(claims.get("sub"), str) or not claims["sub"]:
            return "the token names no subject (`sub`)"
        return ""

    def _admit(self, claims: Mapping[str, Any]) -> Caller | str:
        rule = next((rule for rule in self._settings.rules or _READERS if _fits(rule, claims)), None)
        if rule is None:
            return "the holder of the token may do nothing here: no rule of HOPWEAVE_OIDC__RULES is for its claims"
        user, groups = claims.get(self._settings.user_claim), _list_values(claims.get(self._settings.groups_claim))
        if not isinstance(user, str):
            return f"the token has no claim `{self._settings.user_claim}`"
        if self._settings.user_claim == "email" and claims.get("email_verified") in (False, "false"):
            return "the address of the holder is not verified (`email_verified`)"
        if len(groups) > _MOST_GROUPS:
            return f"the token has more than {_MOST_GROUPS:,} groups"
        id = f"oidc-{digest('subject of a token', [self._settings.issuer, claims['sub']])}"
        is_admin = Scope.ADMIN in rule.scopes
        return Caller(
            id=id,
            name=user,
            access=Access(
                scopes=frozenset(rule.scopes),
                key=id,
                corpora=None if rule.corpora is None else frozenset(rule.corpora),
                principals=None if is_admin else _name_principals(user, groups),
            ),
            expires_at=datetime.fromtimestamp(claims["exp"] + _LEEWAY_SECONDS, UTC),
            is_of_token=True,
        )


def _read_header(text: str) -> Mapping[str, Any]:
    try:
        header = json.loads(urlsafe_b64decode(text.partition(".")[0].encode()))
    except (ValueError, binascii.Error, RecursionError):
        return {}
    return header if isinstance(header, dict) else {}


def _is_time(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 10**11


def _list_values(claim: object) -> list[str]:
    """Returns the texts of a claim. A text alone is a list of one."""
    values = claim if isinstance(claim, list) else [claim]
    return [value for value in values if isinstance(value, str)]


def _fits(rule: OidcRule, claims: Mapping[str, Any]) -> bool:
    return not rule.claim or not set(_list_values(claims.get(rule.claim))).isdisjoint(rule.values)


def _name_principals(user: str, groups: Sequence[str]) -> frozenset[str]:
    """Returns the principals of a holder. What cannot be a principal is left out: no document can name it."""
    named: set[str] = set()
    for principal in (f"user:{user}", *(f"group:{group}" for group in groups)):
        try:
            named.update(check_principals([principal], "the token"))
        except InvalidInput:
            continue
    return frozenset(named)


def locate_metadata(request: Request, settings: ApiSettings) -> str:
    """Returns the address of the description of the resource of a request: of `/mcp`, or of the whole server; "" if
    the address of the server is not known.
    """
    address = own_address(request, settings)
    return f"{address}{METADATA_PATH}{_MCP if request.url.path == _MCP else ''}" if address else ""


def own_address(request: Request, settings: ApiSettings) -> str:
    """Returns the address at which clients reach this server, without a slash at its end.

    Without `public_url`, it is taken from a `Host` that is one of this server's: of another, it is not known ("").
    """
    if settings.public_url:
        return settings.public_url
    host = request.headers.get("host", "")
    return f"{request.url.scheme}://{host}" if is_own_host(host, settings) else ""


def is_own_host(host: str, settings: ApiSettings) -> bool:
    """Whether a `Host`, with or without a port, names this machine or is among the `hosts` of the settings."""
    name, colon, port = host.rpartition(":")
    name = (name if colon and port.isdecimal() else host).lower()
    return name in _LOOPBACK or name in {own.lower() for own in settings.hosts}


def describe_resource(settings: OidcSettings, resource: str) -> Mapping[str, Any]:
    """Returns the description of a resource of this server, by its address, for clients without a token."""
    return {
        "resource": resource,
        "resource_name": "Hopweave",
        "authorization_servers": [settings.issuer],
        "bearer_methods_supported": ["header"],
        **({"scopes_supported": settings.requested_scopes} if settings.requested_scopes else {}),
    }
