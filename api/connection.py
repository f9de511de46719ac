"""Work that ends with its client: `run_while_connected` cancels a coroutine when the client disconnects."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from fastapi import Request
from starlette.requests import ClientDisconnect

__all__ = ["cancel_all", "run_while_connected"]

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
