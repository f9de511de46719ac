"""`Sessions`: the web page signs in with a key once, and then sends a cookie in its place."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from http import HTTPStatus

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import Scope

from api.access.caller import Caller
from api.access.keyring import Keyring
from api.access.origins import is_secure, refuse_unknown_page
from api.access.session_secret import SessionSecret
from api.access.session_value import OF_SETTINGS, read_session, sign_session
from core.keys import hash_key
from core.settings import Settings

__all__ = ["COOKIE", "SESSION_PATHS", "Session", "Sessions"]

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
        value = read_session(values[0]) if len(values) == 1 else None  # of two, another host may have set one
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
