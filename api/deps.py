"""The parts that routes share: the dependencies that FastAPI injects, and the responses that several routes build.

- The container, the corpus, the filter and the limit of a request, and the refusal of parameters that a route lacks.
- `run_once`: a request with an `Idempotency-Key` is carried out once, and its response is kept for 24 hours.
- `run_while_connected` cancels a coroutine when the client disconnects.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from http import HTTPStatus
from typing import Annotated, Any, TypeVar

from fastapi import Depends, Header, Query, Request, Response
from fastapi.dependencies.utils import get_flat_params
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.requests import ClientDisconnect

from api.access.keys import caller_of
from api.access.limits import Ledger
from api.schemas.values import dump_json
from app.access.container import RestrictedContainer
from app.container import Container
from core.corpora import Corpus
from core.errors import InvalidFilter, InvalidInput
from core.ids import content_hash, digest
from indexer import parse_json

T = TypeVar("T")


async def run_while_connected(
    request: Request, work: Coroutine[Any, Any, T], received: asyncio.Event | None = None
) -> T:
    """Returns the result of `work`.

    If the client disconnects before, cancels `work` and raises `ClientDisconnect`. Work that receives the body itself
    sets `received` afterwards.
    """
    task = asyncio.create_task(work)
    disconnect = asyncio.create_task(_wait_for_disconnect(request, received))
    try:
        await asyncio.wait({task, disconnect}, return_when=asyncio.FIRST_COMPLETED)
        if not task.done():
            raise ClientDisconnect
        return task.result()
    finally:
        await cancel_all(task, disconnect)


async def cancel_all(*tasks: "asyncio.Task[Any]") -> None:
    """Cancels the tasks and waits until they have ended. Their errors are dropped."""
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _wait_for_disconnect(request: Request, received: asyncio.Event | None) -> None:
    if received is not None:
        await received.wait()
    while (await request.receive())["type"] != "http.disconnect":
        pass


Limit = Annotated[int, Query(ge=1, le=200, description="The largest number of entries of the page.")]

FilterText = Annotated[
    str | None, Query(description='A filter of documents, as JSON: `{"year": {"$gte": 1990}}`.', max_length=20_000)
]


def parse_filter_parameter(text: str) -> dict[str, Any]:
    """Returns the value of the parameter `filter`. Raises `InvalidFilter` unless it is a JSON object."""
    try:
        value = parse_json(text)
    except InvalidInput as error:
        raise InvalidFilter(f"`filter` is {error}") from error
    if not isinstance(value, dict):
        raise InvalidFilter('`filter` is a JSON object of fields and conditions, such as {"year": 1990}')
    return value


async def _filter(filter: FilterText = None) -> dict[str, Any] | None:
    return None if filter is None else parse_filter_parameter(filter)


FilterDep = Annotated[dict[str, Any] | None, Depends(_filter)]
"""The filter of the query string; only documents that match it count."""


async def refuse_unknown(request: Request) -> None:
    """Raises `RequestValidationError`, which names each unknown parameter and each that is given more than once."""
    route = request.scope.get("route")
    if not isinstance(route, APIRoute) or not request.query_params:
        return
    known = sorted(field.alias for field in get_flat_params(route.dependant) if _is_query(field))
    names = [name for name, _ in request.query_params.multi_items()]
    has = f"this call has {', '.join(known)}" if known else "this call has none"
    wrong = [(name, f"there is no such parameter; {has}") for name in dict.fromkeys(names) if name not in known]
    wrong += [(name, "it is given more than once") for name in known if names.count(name) > 1]
    if wrong:
        raise RequestValidationError([{"loc": ("query", name), "msg": why, "type": "parameter"} for name, why in wrong])


def _is_query(field: object) -> bool:
    info = getattr(field, "field_info", None)
    return getattr(getattr(info, "in_", None), "value", None) == "query"


def container_of(request: Request) -> Container:
    """Returns the container as the caller may use it: what the caller's key may not see is not there."""
    whole: Container = request.app.state.container
    ledger: Ledger = request.app.state.ledger
    caller = caller_of(request.scope)
    return RestrictedContainer(whole, caller.access, ledger.meter(caller), caller.id)


async def _container(request: Request) -> Container:  # a plain function would run in a thread
    return container_of(request)


ContainerDep = Annotated[Container, Depends(_container)]


async def _corpus(corpus: str, container: ContainerDep) -> Corpus:
    return await container.record.corpora.get(corpus)


CorpusDep = Annotated[Corpus, Depends(_corpus)]
"""The corpus that the path names; an unknown corpus is a 404."""


def json_response(value: object) -> Response:
    """Returns the value as JSON, without the validation that FastAPI makes: large answers are slow to check."""
    return Response(dump_json(value), media_type="application/json")


def set_job_location(response: Response, job_id: str) -> None:
    """Sets `Location` to the job, where a client reads its progress."""
    response.headers["Location"] = f"/v1/jobs/{job_id}"


Locate = Callable[[Mapping[str, Any]], str]
Recall = Callable[[str], Awaitable[object]]
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
    work: Callable[[], Awaitable[object]],
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
    work: Callable[[], Awaitable[object]],
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
        return _respond(dump_json(await work()), status, locate)
    receipts = container.record.receipts
    name = digest("idempotency key", [caller_of(request.scope).id, key])
    kept = await receipts.begin(name, digest("request", [request.url.path, content]), lease_seconds=_LEASE_SECONDS)
    if kept is not None:
        shown = kept if recall is None else dump_json(await recall(json.loads(kept)["id"]))
        return _respond(shown, status, locate, replayed=True)
    try:
        made = await work()
        answer = dump_json(made)
        await receipts.finish(name, answer if recall is None else dump_json(made, include={"id"}))
    except BaseException:  # also a client that disconnects
        await receipts.release(name)
        raise
    return _respond(answer, status, locate)


def _respond(answer: str, status: HTTPStatus, locate: Locate | None, *, replayed: bool = False) -> Response:
    headers = {} if locate is None else {"Location": locate(json.loads(answer))}
    if replayed:
        headers["Idempotent-Replayed"] = "true"
    return Response(answer, status_code=status, media_type="application/json", headers=headers)
