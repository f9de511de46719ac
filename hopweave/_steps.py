"""Operations as generators of steps, so that each is written once for the client and the asynchronous client.

An operation yields a `Request`, a `Pause` or a `Read`. The client carries it out and sends the result back: the content
of the answer, None, or what was read. Errors are thrown into the generator. The operation's result is what it returns.
"""

import json
from collections.abc import Callable, Generator, Hashable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Protocol, TypeAlias, TypeVar, cast
from urllib.parse import quote

from pydantic import TypeAdapter, ValidationError

from hopweave._errors import NotFoundError, UnexpectedAnswerError

__all__ = ["Page", "Pause", "Read", "Request", "Steps", "call", "call_pages", "decode", "path", "request"]

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)

_PAGE = 200


@dataclass(frozen=True, kw_only=True)
class Request:
    """One HTTP request. `timeout` replaces the client's own; its unit is the second.

    With `files` (name and content), the body is multipart, and `body` holds the other parts. With `upload`, the body is
    the content of that file. With `download`, the answer is written there, and its size in bytes is the result. Neither
    is held in memory.
    """

    method: str
    path: str
    params: Mapping[str, str]
    body: Mapping[str, Any] | None
    timeout: float | None = None
    files: tuple[tuple[str, bytes], ...] = ()
    headers: Mapping[str, str] = field(default_factory=dict)
    upload: Path | None = None
    download: Path | None = None

    @property
    def content(self) -> bytes | None:
        """The body as JSON."""
        return None if self.body is None else json.dumps(self.body, allow_nan=False).encode()


@dataclass(frozen=True, kw_only=True)
class Pause:
    """Waits."""

    seconds: float


@dataclass(frozen=True, kw_only=True)
class Read:
    """Calls a function that blocks, such as one that reads files."""

    function: Callable[[], Any]


Steps: TypeAlias = Generator[Request | Pause | Read, Any, T]


class Page(Protocol[T_co]):
    """A list, or a part of one; `next_cursor` leads to the next part."""

    @property
    def data(self) -> tuple[T_co, ...]: ...

    @property
    def next_cursor(self) -> str | None: ...


def path(*segments: str) -> str:
    """Returns the path of these segments below `/v1`.

    Raises `NotFoundError` for a name or an id that cannot be a segment: quoted or not, it would lead to another path.
    """
    for segment in segments:
        if "/" in segment or not segment.strip("."):
            raise NotFoundError(404, "Not Found", f"there is nothing with the name or id {segment!r}")
    return "/".join(["/v1", *(quote(segment, safe="") for segment in segments)])


def request(method: str, at: str, body: Mapping[str, Any] | None = None, **params: str | int | None) -> Request:
    """Returns the request; parameters that are None are left out."""
    given = {name: str(value) for name, value in params.items() if value is not None}
    return Request(method=method, path=at, params=given, body=body)


def call(
    returns: type[T], method: str, at: str, body: Mapping[str, Any] | None = None, **params: str | int | None
) -> Steps[T]:
    """The steps of an operation that is one request; the answer is decoded as `returns`."""
    return decode(returns, (yield request(method, at, body, **params)))


def call_pages(page: type[Page[T]], at: str, *, limit: int | None = None, **query: Any) -> Steps[list[T]]:
    """The steps of an operation that reads all pages of a list, or its first `limit` items."""
    found: list[T] = []
    cursor: str | None = None
    while limit is None or len(found) < limit:
        count = _PAGE if limit is None else min(_PAGE, limit - len(found))
        part = yield from call(page, "GET", at, None, **query, limit=count, cursor=cursor)
        found += part.data
        cursor = part.next_cursor
        if cursor is None:
            break
    return found


def decode(returns: type[T], content: str | bytes) -> T:
    """Returns the value that the JSON says; unknown fields are ignored. Raises `UnexpectedAnswerError`."""
    try:
        value: T = _adapter(cast("Hashable", returns)).validate_json(content)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the answer"
        raise UnexpectedAnswerError(
            f"the server's answer is no {returns.__name__} ({place}: {first['msg']}); is it a Hopweave of this version?"
        ) from error
    return value


@cache
def _adapter(of: Hashable) -> TypeAdapter[Any]:
    return TypeAdapter(cast("type[Any]", of))
