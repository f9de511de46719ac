"""`Guard`: the middleware that checks, before any route, who calls, from where, and how large the body is."""

import hmac
import ipaddress
import re
from collections.abc import Mapping
from http import HTTPStatus
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.folder_socket import is_from_folder
from api.problems import problem
from core.settings import ApiSettings

__all__ = ["Guard", "is_loopback"]

_OPEN = frozenset({"/healthz", "/readyz"})
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]"})
_OWN_SITE = frozenset({"same-origin", "none"})
_MEGABYTE = 1_000_000
_UPLOADS = re.compile(r"/v1/corpora/[^/]+/(documents|estimates)")
"""The paths that take files, as `multipart/form-data`."""
_IMPORTS = re.compile(r"/v1/corpora/[^/]+/import")
_JSON = "application/json"
_IMPORT_TYPES = ("application/x-ndjson", "application/gzip")
_ENCODINGS = frozenset({"", "identity"})
_IMPORT_ENCODINGS = _ENCODINGS | {"gzip"}


class Guard:
    """ASGI middleware. With keys, a request needs one. Without keys, only requests of this machine are served, and none
    of a foreign web page.

    A web page can send requests to its visitor's own machine. So without keys, `Host` must be one of this server's (a
    rebound DNS name is not), and `Origin` and `Sec-Fetch-Site` must not be foreign. Bodies need a content type that a
    form cannot send, except for uploads of files: browsers name the origin of a form in `Origin`.
    """

    def __init__(self, app: ASGIApp, settings: ApiSettings) -> None:
        self._app = app
        self._keys = [key.get_secret_value().encode() for key in settings.keys if key.get_secret_value()]
        self._hosts = _LOOPBACK | {host.lower() for host in settings.hosts}
        self._body_limit = _Limit(settings.max_body_mb, "HOPWEAVE_API__MAX_BODY_MB")
        self._upload_limit = _Limit(settings.max_upload_mb, "HOPWEAVE_API__MAX_UPLOAD_MB")
        self._import_limit = _Limit(settings.max_import_mb, "HOPWEAVE_API__MAX_IMPORT_MB")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        limit = self._limit_of(scope, headers)
        refusal = self._refuse(scope, headers, limit)
        if refusal is None:
            await self._app(scope, _limit_body(receive, limit), send)
            return
        status, detail = refusal
        more: dict[str, str] = {"Connection": "close"} if _has_body(headers) else {}
        if status is HTTPStatus.UNAUTHORIZED:
            is_shown = headers.get("authorization", "").lower().startswith("bearer ")
            more["WWW-Authenticate"] = 'Bearer error="invalid_token"' if is_shown else "Bearer"
        await problem(status, detail, instance=scope["path"], headers=more)(scope, receive, send)

    def _limit_of(self, scope: Scope, headers: Headers) -> "_Limit":
        if _is_import(scope):
            return self._import_limit
        return self._upload_limit if _is_upload(scope, headers) else self._body_limit

    def _refuse(self, scope: Scope, headers: Headers, limit: "_Limit") -> tuple[HTTPStatus, str] | None:
        if is_from_folder(scope):
            pass  # whoever may use that socket may write the data folder
        elif self._keys:
            if scope["path"] not in _OPEN and not self._has_key(headers):
                return HTTPStatus.UNAUTHORIZED, "give a key of this server as `Authorization: Bearer …`"
        elif (why := self._refuse_foreign(scope, headers)) is not None:
            return HTTPStatus.FORBIDDEN, why
        if not _has_body(headers):
            return None
        if (why := _refuse_type(scope, headers)) is not None:
            return HTTPStatus.UNSUPPORTED_MEDIA_TYPE, why
        length = headers.get("content-length", "")
        if length.isdecimal() and int(length) > limit.bytes:
            return HTTPStatus.REQUEST_ENTITY_TOO_LARGE, limit.message
        return None

    def _has_key(self, headers: Headers) -> bool:
        scheme, _, shown = headers.get("authorization", "").partition(" ")
        given = shown.strip().encode("latin-1", "replace")
        # Every key is compared, so that the time does not tell which one was nearly right.
        matches = [hmac.compare_digest(given, key) for key in self._keys]
        return scheme.lower() == "bearer" and any(matches)

    def _refuse_foreign(self, scope: Scope, headers: Headers) -> str | None:
        """Returns why the request does not come from this machine; None if it does."""
        client = scope.get("client")
        if client is not None and not is_loopback(client[0]):
            return "without HOPWEAVE_API__KEYS this server answers only its own machine"
        host = headers.get("host", "")
        if _name(host) not in self._hosts:
            return f"host {host!r} is not one of this server's; add it to HOPWEAVE_API__HOSTS"
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc.lower() != host.lower():
            return f"origin {origin!r} is foreign; use a key, or a page of this server"
        if headers.get("sec-fetch-site", "none") not in _OWN_SITE:
            return "the request comes from a foreign page; use a key, or a page of this server"
        return None


class _Limit:
    """The largest number of bytes of a body, and what a client is told whose body is larger."""

    def __init__(self, megabytes: float, setting: str) -> None:
        self.bytes = int(megabytes * _MEGABYTE)
        self.message = f"the body is larger than {megabytes:g} MB; send less at once, or raise {setting}"


def _limit_body(receive: Receive, limit: _Limit) -> Receive:
    """Returns a `receive` that refuses a body without announced length as soon as it exceeds the limit."""
    received = 0

    async def receive_limited() -> Message:
        nonlocal received
        message = await receive()
        received += len(message.get("body", b""))
        if received > limit.bytes:
            raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, limit.message, headers={"Connection": "close"})
        return message

    return receive_limited


def _is_upload(scope: Scope, headers: Headers) -> bool:
    is_multipart = _content_type(headers) == "multipart/form-data"
    return is_multipart and scope["method"] == "POST" and _UPLOADS.fullmatch(scope["path"]) is not None


def _is_import(scope: Scope) -> bool:
    return scope["method"] == "POST" and _IMPORTS.fullmatch(scope["path"]) is not None


def _refuse_type(scope: Scope, headers: Headers) -> str | None:
    """Returns why a body of this content type and encoding is refused; None if it is not."""
    encoding = headers.get("content-encoding", "").strip().lower()
    kind = _content_type(headers)
    if _is_import(scope):
        if kind not in _IMPORT_TYPES:
            return f"send an exported corpus as `Content-Type: {_IMPORT_TYPES[0]}`, or {_IMPORT_TYPES[1]}"
        if encoding not in _IMPORT_ENCODINGS:
            return f"content encoding {encoding!r} is not supported; send gzip, or leave it out"
        return None
    if kind != _JSON and not _is_upload(scope, headers):
        return f"send the body as `Content-Type: {_JSON}`"
    if encoding not in _ENCODINGS:
        return f"content encoding {encoding!r} is not supported here; send the body as it is"
    return None


def _content_type(headers: Headers) -> str:
    return headers.get("content-type", "").partition(";")[0].strip().lower()


def is_loopback(address: str) -> bool:
    """Whether an address (or the name `localhost`) is a loopback address."""
    if address == "localhost":
        return True
    try:
        return ipaddress.ip_address(address.strip("[]")).is_loopback
    except ValueError:
        return False


def _has_body(headers: Mapping[str, str]) -> bool:
    return "transfer-encoding" in headers or headers.get("content-length", "0") != "0"


def _name(host: str) -> str:
    """Returns the host without its port."""
    name, colon, port = host.rpartition(":")
    return (name if colon and port.isdecimal() else host).lower()
