"""Tokens of an identity provider (OpenID Connect) as callers: which tokens are accepted, and what their holders may do.

A token is a JWT that the issuer of the settings has signed with one of its published keys. Only algorithms with two
keys are accepted, so that nothing that is published can sign. The subject and the groups of a token are the principals
of its holder (`core.principals`); a rule of the settings gives scopes and corpora. The token of a person who signs in
to the web page is read by the same rules.
"""

import binascii
import hmac
import json
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.util import urlsafe_b64decode
from starlette.requests import Request

from api.access.issuer import IssuerKeys
from api.access.keys import METADATA_PATH, Caller
from app.access.access import Access
from core.errors import InvalidInput
from core.ids import digest
from core.keys import Scope
from core.principals import check_principals
from core.settings import ApiSettings, OidcRule, OidcSettings

_MCP = "/mcp"
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]"})
_ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "Ed25519", "EdDSA"]
_TYPES = frozenset(("jwt", "at+jwt"))
"""The types of tokens that give access, where a token names its own: tokens that end a session are signed, too."""
_READERS = (OidcRule(scopes=[Scope.READ]),)
"""The rules of a server that has none."""
_LONGEST = 16_000
_MOST_GROUPS = 1_000
_LEEWAY_SECONDS = 30


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
        claims = await self._read(text)
        if isinstance(claims, str):
            return claims
        return self._check(claims, self._settings.audience) or self.admit(claims)

    async def read_signed_in(self, text: str, nonce: str) -> Mapping[str, Any] | str:
        """Returns the claims of the token that a person has signed in with, or what is wrong with it. The sign-in
        has the `nonce`. Raises `Unavailable` as `IssuerKeys.find` does.
        """
        claims = await self._read(text)
        if isinstance(claims, str):
            return claims
        if why := self._check(claims, self._settings.client_id):
            return why
        if claims.get("azp", self._settings.client_id) != self._settings.client_id:
            return "the token was given to another client"
        if not hmac.compare_digest(str(claims.get("nonce", "")).encode("utf-8", "replace"), nonce.encode()):
            return "the token is of another sign-in"
        return claims

    @property
    def client(self) -> str:
        """Names the issuer, this server's client there, and the claims that are read. Sessions are bound to all: one
        from before a rule for another claim has not kept that claim, and a later, wider rule would be for it.
        """
        return json.dumps([self._settings.issuer, self._settings.client_id, self._read_claims])

    def select_claims(self, claims: Mapping[str, Any]) -> Mapping[str, Any]:
        """Returns the claims that `admit` reads."""
        return {name: claims[name] for name in self._read_claims if name in claims}

    @property
    def _read_claims(self) -> list[str]:
        settings = self._settings
        named = {"sub", "exp", "email_verified", settings.user_claim, settings.groups_claim}
        return sorted(named | {rule.claim for rule in settings.rules if rule.claim})

    async def _read(self, text: str) -> Mapping[str, Any] | str:
        """Returns the claims of a token that its issuer has signed, or what is wrong with it."""
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
            return jwt.decode(text, key, algorithms=_ALGORITHMS).claims
        except (JoseError, ValueError, TypeError, RecursionError):
            return "the token is not signed by its issuer"

    def _check(self, claims: Mapping[str, Any], wanted: str) -> str:
        """Returns what is wrong with the claims of a token that is signed, or ''."""
        audience, now = claims.get("aud"), time.time()
        if claims.get("iss") != self._settings.issuer:
            return "the token is of another issuer"
        if wanted not in (audience if isinstance(audience, list) else [audience]):
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

    def admit(self, claims: Mapping[str, Any]) -> Caller | str:
        """Returns the person whom claims name, or why that person may do nothing here."""
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
