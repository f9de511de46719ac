"""`Sessions`: the web page signs in with a key once, and then sends a cookie in its place.

The value of the cookie is `1.KEY.END.NONCE.SIGNATURE`: `sign_session` makes it, `read_session` parses it. The signature
is made with a secret that all processes of a server share, and with the stored hash of the key. So a session ends when
its key changes, and the server stores nothing of it.

Any page can send requests to this server, and a browser adds the session's cookie to requests of pages of the same
site, such as of another port. So a session counts only for requests that come from our own page, as the browser says.
"""

import base64
import hmac
import re
import secrets
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from http import HTTPStatus
from pathlib import Path
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Scope

from api.access.keys import OF_SETTINGS, Caller, Keyring
from core.execution.shared_secrets import SharedSecret
from core.keys import hash_key
from core.settings import Settings

__all__ = [
    "COOKIE",
    "FILE",
    "SESSION_PATHS",
    "Session",
    "SessionSecret",
    "SessionValue",
    "Sessions",
    "is_secure",
    "read_session",
    "refuse_foreign_page",
    "refuse_unknown_page",
    "sign_session",
]


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

    def __init__(self, settings: Settings, keyring: Keyring) -> None:
        self._keyring = keyring
        self._public_url = settings.api.public_url
        self._longest = timedelta(hours=settings.api.session_hours)
        self._secret = SessionSecret(settings.api.session_secret.get_secret_value(), settings.data_dir)

    async def begin(self, key: str, caller: Caller) -> Session:
        """Returns a new session of a key that was accepted. It does not outlive the key."""
        now = datetime.now(UTC)
        end = now + self._longest
        end = (end if caller.expires_at is None else min(end, caller.expires_at)).replace(microsecond=0)
        value = sign_session(await self._secret.make(), caller.access.key or OF_SETTINGS, hash_key(key), end)
        return Session(value=value, expires_at=end)

    def set_cookie(self, scope: Scope, response: Response, session: Session) -> None:
        left = session.expires_at - datetime.now(UTC)
        self._set(scope, response, session.value, max(0, int(left.total_seconds())))

    def delete_cookie(self, scope: Scope, response: Response) -> None:
        self._set(scope, response, "", 0)

    async def find(self, scope: Scope, headers: Headers) -> Caller | tuple[HTTPStatus, str] | None:
        """Returns the holder of a request's session, or the status and the reason of a refusal; None if the request has
        no session.
        """
        values = _cookies(headers, self._name(scope)) if scope["path"].startswith(SESSION_PATHS) else []
        if not values:
            return None
        if (why := refuse_unknown_page(scope, headers, self._public_url)) is not None:
            is_page = "sec-fetch-site" in headers or "origin" in headers or "referer" in headers
            return HTTPStatus.FORBIDDEN if is_page else HTTPStatus.UNAUTHORIZED, why
        found = await self._check(values)
        return (HTTPStatus.UNAUTHORIZED, found) if isinstance(found, str) else found

    async def _check(self, values: list[str]) -> Caller | str:
        value = read_session(values[0]) if len(values) == 1 else None  # of two cookies, another host may have set one
        secret = await self._secret.read()
        if value is None or secret is None:
            return _UNKNOWN
        caller = self._keyring.find_signed(value.key, partial(value.is_signed, secret))
        if caller is None:
            return _UNKNOWN
        if isinstance(caller, Caller):
            if value.expires_at <= datetime.now(UTC):
                return _OVER
            return replace(caller, expires_at=value.expires_at)
        return caller

    def _name(self, scope: Scope) -> str:
        return _OF_HOST + COOKIE if is_secure(scope, self._public_url) else COOKIE

    def _set(self, scope: Scope, response: Response, value: str, seconds: int) -> None:
        response.set_cookie(
            self._name(scope),
            value,
            max_age=seconds,
            path="/",
            secure=is_secure(scope, self._public_url),
            httponly=True,
            samesite="strict",
        )


def _cookies(headers: Headers, name: str) -> list[str]:
    """Returns the values of all cookies of a name, as they were sent."""
    pairs = [pair.strip().partition("=") for line in headers.getlist("cookie") for pair in line.split(";")]
    return [value for found, _, value in pairs if found == name]


_VERSION = "1"
_SIGNED = rf"{_VERSION}\.([0-9a-f]{{12}}|{OF_SETTINGS})\.([0-9]{{1,11}})\.[A-Za-z0-9_-]{{22}}"
_FORM = re.compile(rf"({_SIGNED})\.([A-Za-z0-9_-]{{43}})", re.ASCII)
_NONCE_BYTES = 16
_PURPOSE = b"hopweave session 1\n"


@dataclass(frozen=True, kw_only=True)
class SessionValue:
    """A value that has the right form. Nothing of it holds before `is_signed` says so."""

    key: str
    expires_at: datetime
    signed: str
    signature: str

    def is_signed(self, secret: bytes, key_hash: str) -> bool:
        """Returns whether the signature was made with this secret, for a key with this hash. The time does not tell how
        much of it is right.
        """
        return hmac.compare_digest(_sign(secret, key_hash, self.signed), self.signature)


def sign_session(secret: bytes, key: str, key_hash: str, expires_at: datetime) -> str:
    """Returns the value of a new session, which ends at a whole second. `key` is an id, or `OF_SETTINGS`."""
    nonce = _encode(secrets.token_bytes(_NONCE_BYTES))
    signed = f"{_VERSION}.{key}.{int(expires_at.timestamp())}.{nonce}"
    return f"{signed}.{_sign(secret, key_hash, signed)}"


def read_session(text: str) -> SessionValue | None:
    """Returns the parts of a value; None if it is malformed."""
    found = _FORM.fullmatch(text)
    if found is None:
        return None
    signed, key, end, signature = found.groups()
    return SessionValue(key=key, expires_at=datetime.fromtimestamp(int(end), UTC), signed=signed, signature=signature)


def _sign(secret: bytes, key_hash: str, signed: str) -> str:
    key = hmac.digest(secret, _PURPOSE + key_hash.encode(), "sha256")
    return _encode(hmac.digest(key, signed.encode(), "sha256"))


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


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
