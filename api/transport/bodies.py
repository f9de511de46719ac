"""Bodies of requests: how large they may be, of which type, and how slowly they may come.

First comes the number of values that a body of JSON has, counted before it is parsed: each takes memory, and is a fault
if it is wrong.
"""

import asyncio
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import Message, Receive, Scope

from api.access.keys import SESSION_PATH
from api.mcp.endpoint import PATH as MCP_PATH
from core.execution.threads import compute
from core.settings import ApiSettings

_AT_ONCE = 200_000
"""Bytes that are counted without a thread, which takes a millisecond."""
_MOST_WAITING = 200_000_000
_ALWAYS_TAKEN = 100_000
"""Bytes of a body that are received however much is waiting: ordinary questions are not kept out by large bodies."""
_MARKS = b'",:{}[]'
_OTHERS = bytes(set(range(256)) - set(_MARKS))


class _Held:
    """The bytes that have come of one body. `add` refuses more than all bodies together may have."""

    def __init__(self, all_bodies: "_Waiting") -> None:
        self._all = all_bodies
        self.bytes = 0

    def add(self, count: int) -> None:
        self.bytes += count
        self._all.bytes += count
        if self._all.bytes > _MOST_WAITING and self.bytes > _ALWAYS_TAKEN:
            raise HTTPException(
                HTTPStatus.SERVICE_UNAVAILABLE,
                "too many large bodies are being received; send it again later",
                headers={"Connection": "close", "Retry-After": "5"},
            )


class _Waiting:
    """The bytes of all bodies of a process that have begun and not ended: a client may let each wait for long."""

    def __init__(self) -> None:
        self.bytes = 0

    @contextmanager
    def hold(self) -> Iterator[_Held]:
        held = _Held(self)
        try:
            yield held
        finally:
            self.bytes -= held.bytes


_WAITING = _Waiting()


def count_values(body: bytes, most: int) -> int:
    """Returns at least the number of values and names in a body of JSON, or a number above `most` if there are more.

    Only what is outside of strings counts. Takes time and memory in proportion to the bytes, JSON or not.
    """
    marks = body.replace(b"\\\\", b"").replace(b'\\"', b"").translate(None, _OTHERS)
    if marks.count(b'"') > 4 * most:
        return most + 1
    outside = b"".join(marks.split(b'"')[::2])
    return 1 + sum(outside.count(mark) for mark in (b",", b":", b"{", b"["))


def limit_values(receive: Receive, most: int) -> Receive:
    """Returns a `receive` that gives the body as a whole, and refuses it if it has more than `most` values."""
    is_read = False

    async def receive_whole() -> Message:
        nonlocal is_read
        if is_read:
            return await receive()
        parts: list[bytes] = []
        more = True
        with _WAITING.hold() as held:
            while more:
                message = await receive()
                if message["type"] != "http.request":
                    return message
                parts.append(message.get("body", b""))
                held.add(len(parts[-1]))
                more = message.get("more_body", False)
        is_read = True
        body = b"".join(parts)
        parts.clear()
        count = count_values(body, most) if len(body) <= _AT_ONCE else await compute(count_values, body, most)
        if count > most:
            raise HTTPException(
                HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
                f"the body has more than {most:,} values and names; send less at once",
                headers={"Connection": "close"},
            )
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_whole


_MEGABYTE = 1_000_000
_UPLOADS = re.compile(r"/v1/corpora/[^/]+/(documents|estimates)")
"""The paths that take files, as `multipart/form-data`."""
_IMPORTS = re.compile(r"/v1/corpora/[^/]+/import")
_TEXTS = re.compile(r"/v1/(corpora/[^/]+/(documents(/.*)?|estimates)|embeddings)")
"""The paths that take many texts in JSON. All others take questions and settings."""
_SESSION_MEGABYTES = 0.01
_QUESTION_MEGABYTES = 4.0
"""A long conversation in a chat; questions and settings have some kilobytes."""
_CALL_MEGABYTES = 8.0
"""A call of a tool of MCP, which may take texts, and whose errors repeat it."""
_SESSION_VALUES, _QUESTION_VALUES, _TEXT_VALUES = 100, 20_000, 2_000_000
"""Two million are a thousand documents with embeddings of 1,536 numbers each."""
_JSON = "application/json"
_IMPORT_TYPES = ("application/x-ndjson", "application/gzip")
_ENCODINGS = frozenset({"", "identity"})
_IMPORT_ENCODINGS = _ENCODINGS | {"gzip"}


class BodyLimit:
    """The largest number of bytes of a body, and the message to a client whose body is larger.

    A body of JSON has at most `values` values; None: the body is no JSON.
    """

    def __init__(self, megabytes: float, setting: str = "", *, values: int | None = None) -> None:
        self.bytes = int(megabytes * _MEGABYTE)
        self.values = values
        self.message = f"the body is larger than {megabytes:g} MB; send less" + (
            f" at once, or raise {setting}" if setting else ""
        )


class BodyLimits:
    """The limits of the kinds of bodies. A call returns the limit of a request, by its path and content type."""

    def __init__(self, settings: ApiSettings) -> None:
        setting, largest = "HOPWEAVE_API__MAX_BODY_MB", settings.max_body_mb
        self._texts = BodyLimit(largest, setting, values=_TEXT_VALUES)
        self._call = BodyLimit(min(largest, _CALL_MEGABYTES), values=_QUESTION_VALUES)
        is_less = largest < _QUESTION_MEGABYTES
        self._question = BodyLimit(
            min(largest, _QUESTION_MEGABYTES), setting if is_less else "", values=_QUESTION_VALUES
        )
        self._upload = BodyLimit(settings.max_upload_mb, "HOPWEAVE_API__MAX_UPLOAD_MB")
        self._import = BodyLimit(settings.max_import_mb, "HOPWEAVE_API__MAX_IMPORT_MB")
        self._session = BodyLimit(_SESSION_MEGABYTES, values=_SESSION_VALUES)

    def __call__(self, scope: Scope, headers: Headers) -> BodyLimit:
        if _is_import(scope):
            return self._import
        if scope["path"] == SESSION_PATH:
            return self._session
        if _is_upload(scope, headers):
            return self._upload
        if _TEXTS.fullmatch(scope["path"]):
            return self._texts
        return self._call if scope["path"] == MCP_PATH else self._question


def limit_body(receive: Receive, limit: BodyLimit, settings: ApiSettings) -> Receive:
    """Returns a `receive` that refuses a body as soon as it exceeds the limit of bytes, or comes too slowly, and a body
    of JSON with too many values.

    A body is too slow if no byte comes for `body_seconds`, or if after these seconds it is behind the slowest speed. A
    body that has ended is waited for no more, so that work may take any time.
    """
    received = 0
    begun: float | None = None
    ended = False

    async def receive_limited() -> Message:
        nonlocal received, begun, ended
        if ended:
            return await receive()
        begun = time.monotonic() if begun is None else begun
        rate = settings.body_bytes_per_second
        late = begun + settings.body_seconds + (received / rate if rate else float("inf"))
        patience = max(0.0, min(settings.body_seconds, late - time.monotonic()))
        try:
            async with asyncio.timeout(patience):
                message = await receive()
        except TimeoutError as error:
            raise HTTPException(
                HTTPStatus.REQUEST_TIMEOUT,
                f"the body comes too slowly: at most {settings.body_seconds:g} seconds without a byte, and "
                f"{rate:,} bytes a second (HOPWEAVE_API__BODY_SECONDS, HOPWEAVE_API__BODY_BYTES_PER_SECOND)",
                headers={"Connection": "close"},
            ) from error
        received += len(message.get("body", b""))
        ended = not message.get("more_body", False)
        if received > limit.bytes:
            raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, limit.message, headers={"Connection": "close"})
        return message

    return receive_limited if limit.values is None else limit_values(receive_limited, limit.values)


def has_body(headers: Mapping[str, str]) -> bool:
    return "transfer-encoding" in headers or headers.get("content-length", "0") != "0"


def refuse_type(scope: Scope, headers: Headers) -> str | None:
    """Returns why a body of this content type and encoding is refused; None if it is not."""
    encoding = headers.get("content-encoding", "").strip().lower()
    kind = _content_type(headers)
    if _is_import(scope):
        if kind not in _IMPORT_TYPES:
            return f"send an exported corpus as `Content-Type: {_IMPORT_TYPES[0]}`, or {_IMPORT_TYPES[1]}"
        if encoding not in _IMPORT_ENCODINGS:
            return f"content encoding {encoding[:80]!r} is not supported; send gzip, or leave it out"
        return None
    if kind != _JSON and not _is_upload(scope, headers):
        return f"send the body as `Content-Type: {_JSON}`"
    if encoding not in _ENCODINGS:
        return f"content encoding {encoding[:80]!r} is not supported here; send the body as it is"
    return None


def _is_upload(scope: Scope, headers: Headers) -> bool:
    is_multipart = _content_type(headers) == "multipart/form-data"
    return is_multipart and scope["method"] == "POST" and _UPLOADS.fullmatch(scope["path"]) is not None


def _is_import(scope: Scope) -> bool:
    return scope["method"] == "POST" and _IMPORTS.fullmatch(scope["path"]) is not None


def _content_type(headers: Headers) -> str:
    return headers.get("content-type", "").partition(";")[0].strip().lower()
