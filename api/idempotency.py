"""`run_once`: a request with an `Idempotency-Key` is carried out once, and its response is kept for 24 hours."""

import json
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import Header, Request, Response
from pydantic import BaseModel

from api.access.keys import caller_of
from app.container import Container
from core.ids import content_hash, digest

__all__ = ["IdempotencyKey", "run_json_once", "run_once"]

Locate = Callable[[Mapping[str, Any]], str]
Recall = Callable[[str], Awaitable[BaseModel]]
"""Reads again what a request has made, by its id."""
_LEASE_SECONDS = 120.0
"""After so long a request is carried out again: the process that began it is gone."""

IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=255,
        pattern="^[!-~]+$",
        description="A request that is sent again with this key within 24 hours gets the response of the first one.",
    ),
]


def locate_job(answer: Mapping[str, Any]) -> str:
    """Returns the path of the job that a request has started."""
    return f"/v1/jobs/{answer['job']['id']}"


async def run_json_once(
    request: Request,
    container: Container,
    key: str | None,
    work: Callable[[], Awaitable[BaseModel]],
    *,
    status: HTTPStatus = HTTPStatus.ACCEPTED,
    locate: Locate | None = locate_job,
    recall: Recall | None = None,
) -> Response:
    """Does the same for a request whose body is JSON or empty."""
    content = content_hash(await request.body())
    return await run_once(request, container, key, content, work, status=status, locate=locate, recall=recall)


async def run_once(
    request: Request,
    container: Container,
    key: str | None,
    content: str,
    work: Callable[[], Awaitable[BaseModel]],
    *,
    status: HTTPStatus = HTTPStatus.ACCEPTED,
    locate: Locate | None = locate_job,
    recall: Recall | None = None,
) -> Response:
    """Returns what `work` returns as a response, or the kept response of an earlier request.

    `content` is a digest of the body. `locate` returns the `Location` of the response. With `recall`, only the id of
    what `work` returns is kept, so that its texts can be deleted, and a later response is what `recall` returns.

    Raises `InvalidInput` if the key was used for another path or body, and `Conflict` while the first request is
    carried out. A request that fails leaves its key free.
    """
    if key is None:
        return _respond((await work()).model_dump_json(), status, locate)
    receipts = container.record.receipts
    name = digest("idempotency key", [caller_of(request.scope).id, key])
    kept = await receipts.begin(name, digest("request", [request.url.path, content]), lease_seconds=_LEASE_SECONDS)
    if kept is not None:
        shown = kept if recall is None else (await recall(json.loads(kept)["id"])).model_dump_json()
        return _respond(shown, status, locate, replayed=True)
    try:
        made = await work()
        answer = made.model_dump_json()
        await receipts.finish(name, answer if recall is None else made.model_dump_json(include={"id"}))
    except BaseException:  # also a client that disconnects
        await receipts.release(name)
        raise
    return _respond(answer, status, locate)


def _respond(answer: str, status: HTTPStatus, locate: Locate | None, *, replayed: bool = False) -> Response:
    headers = {} if locate is None else {"Location": locate(json.loads(answer))}
    if replayed:
        headers["Idempotent-Replayed"] = "true"
    return Response(answer, status_code=status, media_type="application/json", headers=headers)
