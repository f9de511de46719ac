"""`Sessions`: the web page signs in once, with a key or at an identity provider, and then sends a cookie.

The cookie is signed with a secret that all processes of a server share, and with the stored hash of the key
(`api.access.session_values`). So a session ends when its key changes, and the server stores nothing of it. The session
of a person whom an identity provider has named has the claims of that person in place of a key, and ends with the
token that had them.

Any page can send requests to this server, and a browser adds the session's cookie to requests of pages of the same
site, such as of another port. So a session counts only for requests that come from our own page, as the browser says.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Scope

from api.access.keys import OF_SETTINGS, Caller, Keyring
from api.access.session_values import read_identity, read_session, sign_identity, sign_session
from api.access.tokens import Tokens
from core.execution.shared_secrets import SharedSecret
from core.keys import hash_key
from core.settings import Settings

COOKIE = "hopweave_session"
_OF_HOST = "__Host-"
"""Browsers take a cookie with this prefix only over HTTPS, for all paths, and from no other host of the domain."""
SESSION_PATHS = "/v1/"
"""Sessions are for the calls of the page. Protocols of other programs take keys alone."""

_OVER = "the session is over: sign in again"
_UNKNOWN = "the session is none of this server's, or its key is revoked: sign in again"


@dataclass(frozen=True)
class Session:
    """A session that has just begun."""

    value: str
    expires_at: datetime


class Sessions:
    """Makes, checks and ends sessions, for all processes that share a secret. The server stores none of them."""

    def __init__(self, settings: Settings, keyring: Keyring, tokens: Tokens | None = None) -> None:
        """`tokens` come from the identity provider that signs people in to the page."""
        self._keyring = keyring
        self._tokens = tokens
        self._public_url = settings.api.public_url
        self._longest = timedelta(hours=settings.api.session_hours)
        self.secret = SessionSecret(settings.api.session_secret.get_secret_value(), settings.data_dir)

    async def begin(self, key: str, caller: Caller) -> Session:
        """Returns a new session of a key that was accepted. It does not outlive the key."""
        end = self._find_end(caller)
        value = sign_session(await self.secret.make(), caller.access.key or OF_SETTINGS, hash_key(key), end)
        return Session(value=value, expires_at=end)

    async def begin_signed_in(self, tokens: Tokens, claims: Mapping[str, Any], caller: Caller) -> Session | None:
        """Returns a new session of a person whom the issuer of `tokens` has named by `claims`; None if these are too
        long for a cookie. It does not outlive the token.
        """
        end = self._find_end(caller)
        value = sign_identity(await self.secret.make(), tokens.client, tokens.select_claims(claims), end)
        return None if value is None else Session(value=value, expires_at=end)

    def _find_end(self, caller: Caller) -> datetime:
        end = datetime.now(UTC) + self._longest
        return (end if caller.expires_at is None else min(end, caller.expires_at)).replace(microsecond=0)

    def set_cookie(self, scope: Scope, response: Response, session: Session) -> None:
        left = session.expires_at - datetime.now(UTC)
        self.set_named(scope, response, COOKIE, session.value, max(0, int(left.total_seconds())))

    def delete_cookie(self, scope: Scope, response: Response) -> None:
        self.set_named(scope, response, COOKIE, "", 0)

    async def find(self, scope: Scope, headers: Headers) -> Caller | tuple[HTTPStatus, str] | None:
        """Returns the holder of a request's session, or the status and the reason of a refusal; None if the request has
        no session.
        """
        values = self.read_named(scope, headers, COOKIE) if scope["path"].startswith(SESSION_PATHS) else []
        if not values:
            return None
        if (why := refuse_unknown_page(scope, headers, self._public_url)) is not None:
            is_page = "sec-fetch-site" in headers or "origin" in headers or "referer" in headers
            return HTTPStatus.FORBIDDEN if is_page else HTTPStatus.UNAUTHORIZED, why
        found = await self._check(values)
        return (HTTPStatus.UNAUTHORIZED, found) if isinstance(found, str) else found

    async def _check(self, values: list[str]) -> Caller | str:
        secret = await self.secret.read()
        if secret is None or len(values) != 1:  # of two cookies, another host may have set one
            return _UNKNOWN
        if (value := read_session(values[0])) is None:
            return self._check_signed_in(values[0], secret)
        caller = self._keyring.find_signed(value.key, partial(value.is_signed, secret))
        if caller is None:
            return _UNKNOWN
        if isinstance(caller, Caller):
            if value.expires_at <= datetime.now(UTC):
                return _OVER
            return replace(caller, expires_at=value.expires_at)
        return caller

    def _check_signed_in(self, text: str, secret: bytes) -> Caller | str:
        """The rules of the settings are applied again to the claims, so that others count at once."""
        value = read_identity(text)
        if value is None or self._tokens is None or not value.is_signed(secret, self._tokens.client):
            return _UNKNOWN
        if value.expires_at <= datetime.now(UTC):
            return _OVER
        caller = self._tokens.admit(value.claims)
        return replace(caller, expires_at=value.expires_at) if isinstance(caller, Caller) else caller

    def read_named(self, scope: Scope, headers: Headers, name: str) -> list[str]:
        """Returns the values of the cookies that `set_named` sets, as they were sent."""
        return _cookies(headers, self._name(scope, name))

    def _name(self, scope: Scope, name: str) -> str:
        return _OF_HOST + name if is_secure(scope, self._public_url) else name

    def set_named(
        self,
        scope: Scope,
        response: Response,
        name: str,
        value: str,
        seconds: int,
        *,
        samesite: Literal["strict", "lax"] = "strict",
    ) -> None:
        """Sets a cookie that no script reads, or deletes it (0 seconds)."""
        response.set_cookie(
            self._name(scope, name),
            value,
            max_age=seconds,
            path="/",
            secure=is_secure(scope, self._public_url),
            httponly=True,
            samesite=samesite,
        )


def _cookies(headers: Headers, name: str) -> list[str]:
    """Returns the values of all cookies of a name, as they were sent."""
    pairs = [pair.strip().partition("=") for line in headers.getlist("cookie") for pair in line.split(";")]
    return [value for found, _, value in pairs if found == name]


FILE = "session.secret"
"""The file in the data folder. It is part of no backup."""


class SessionSecret(SharedSecret):
    """The secret of the settings, or else of a file, which the first process that needs it makes."""

    def __init__(self, given: str, folder: Path) -> None:
        what, setting = "the secret of sessions", "HOPWEAVE_API__SESSION_SECRET"
        super().__init__(given, folder / FILE, what=what, setting=setting)


_READING = frozenset({"GET", "HEAD"})
_OWN = "same-origin"


def refuse_unknown_page(scope: Scope, headers: Headers, public_url: str) -> str | None:
    """Returns why a request is not known to come from our own page; None if it is.

    Browsers name the site in `Sec-Fetch-Site`, except for addresses that are neither HTTPS nor local, and all name the
    origin of a request that may change something in `Origin`. Only a request that reads is also known by its `Referer`.
    """
    if (why := refuse_foreign_page(scope, headers, public_url)) is not None:
        return why
    if "sec-fetch-site" in headers or "origin" in headers:
        return None
    page = _origin_of(headers.get("referer", ""))
    if scope["method"] in _READING and page in _own_origins(scope, headers, public_url):
        return None
    return "a session is for the web page of this server; a program sends its key as `Authorization: Bearer …`"


def refuse_foreign_page(scope: Scope, headers: Headers, public_url: str) -> str | None:
    """Returns why a request comes from a page that is not ours; None if it does not, or comes from a program."""
    origin = headers.get("origin")
    if origin is not None and origin.lower() not in _own_origins(scope, headers, public_url):
        return (
            f"origin {origin[:255]!r} is foreign: a session is for the web page of this server; if that is its "
            "address, set HOPWEAVE_API__PUBLIC_URL to it, or let the proxy pass on `Host`"
        )
    if headers.get("sec-fetch-site", _OWN) != _OWN:
        return "the request comes from a foreign page; a session is for the web page of this server"
    return None


def is_secure(scope: Scope, public_url: str) -> bool:
    """Whether users reach the server by HTTPS."""
    return scope.get("scheme") == "https" or public_url.lower().startswith("https://")


def _own_origins(scope: Scope, headers: Headers, public_url: str) -> set[str]:
    """Returns the origins of this server's page. A proxy may receive HTTPS and pass on HTTP, but not the reverse."""
    host = headers.get("host", "").lower()
    own = {f"https://{host}"}
    if scope.get("scheme") == "http":
        own.add(f"http://{host}")
    if public_url:
        own.add(_origin_of(public_url))
    return own


def _origin_of(address: str) -> str:
    try:
        parts = urlsplit(address.lower())
    except ValueError:  # no address at all
        return ""
    return f"{parts.scheme}://{parts.netloc}"
