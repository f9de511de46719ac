"""The table of statuses knows every error, and a problem says all that RFC 9457 asks for."""

import json
from collections.abc import Iterator

import pytest
from fastapi import FastAPI
from httpx import ASGITransport, AsyncClient

from api.problems import install
from core import errors

_FURTHER: dict[type[errors.HopweaveError], tuple[object, ...]] = {
    errors.FilesRejected: ([("report.pdf", "it is encrypted")],),
    errors.KeysExist: (["report.pdf"],),
}

_STATUSES = {"NotFound": 404, "Forbidden": 403, "InvalidFilter": 422, "EmbeddingMismatch": 409, "BudgetExhausted": 504}
_STATUSES |= dict.fromkeys(("QueueFull", "RateLimited"), 429) | dict.fromkeys(("Unavailable", "InvalidSettings"), 503)
_STATUSES |= dict.fromkeys(("ModelFailed", "ContextTooLong", "ModelUnavailable"), 502)


def _all(kind: type[errors.HopweaveError]) -> Iterator[type[errors.HopweaveError]]:
    for child in kind.__subclasses__():
        if child.__module__ == errors.__name__:  # those of adapters are their own business, and statuses are inherited
            yield child
        yield from _all(child)


@pytest.mark.parametrize("kind", list(_all(errors.HopweaveError)), ids=lambda kind: kind.__name__)
async def test_every_error_has_a_status(kind: type[errors.HopweaveError]) -> None:
    app = FastAPI()
    install(app)

    @app.get("/fails")
    async def fails() -> None:
        raise kind("what, where, and what to do", *_FURTHER.get(kind, ()))

    async with AsyncClient(transport=ASGITransport(app=app), base_url="http://test") as client:
        answer = await client.get("/fails")
    assert answer.headers["content-type"] == "application/problem+json"
    problem = json.loads(answer.content)
    code = {"code": "wrong_settings"} if kind is errors.InvalidSettings else {}
    more = {"errors"} if kind in _FURTHER else set()
    assert set(problem) == {"type", "title", "status", "detail", "instance", *code, *more}
    assert problem.get("code") == code.get("code")
    assert problem["status"] == answer.status_code >= 400
    assert problem["detail"] == "what, where, and what to do"
    assert problem["instance"] == "/fails"
    assert answer.status_code == _STATUSES.get(kind.__name__, answer.status_code)
    passing = {"Unavailable", "ModelUnavailable", "FolderHeld", "QueueFull", "RateLimited"}
    assert ("retry-after" in answer.headers) is (kind.__name__ in passing)
