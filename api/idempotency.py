"""`run_once`: a request with an `Idempotency-Key` is carried out once, and its response is kept for 24 hours."""

import json
from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Header, Request, Response
from pydantic import BaseModel

from app.container import Container
from core.ids import digest

__all__ = ["IdempotencyKey", "run_once"]

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


async def run_once(
    request: Request, container: Container, key: str | None, content: str, work: Callable[[], Awaitable[BaseModel]]
) -> Response:
    """Returns what `work` returns as a response with status 202, or the kept response of an earlier request.

    `content` is a digest of the body. Raises `InvalidInput` if the key was used for another path or body, and
    `Conflict` while the first request is carried out. A request that fails leaves its key free.
    """
    if key is None:
        return _respond((await work()).model_dump_json())
    receipts = container.record.receipts
    name = digest("idempotency key", [request.headers.get("authorization", ""), key])
    kept = await receipts.begin(name, digest("request", [request.url.path, content]), lease_seconds=_LEASE_SECONDS)
    if kept is not None:
        return _respond(kept, replayed=True)
    try:
        answer = (await work()).model_dump_json()
        await receipts.finish(name, answer)
    except BaseException:  # also a client that disconnects
        await receipts.release(name)
        raise
    return _respond(answer)


def _respond(answer: str, *, replayed: bool = False) -> Response:
    headers = {"Location": f"/v1/jobs/{json.loads(answer)['job']['id']}"}
    if replayed:
        headers["Idempotent-Replayed"] = "true"
    return Response(answer, status_code=202, media_type="application/json", headers=headers)
