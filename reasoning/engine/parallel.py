"""`gather`: coroutines run at the same time, where the first error cancels the others and is raised as itself."""

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

from core.errors import BudgetExhausted

__all__ = ["gather"]

T = TypeVar("T")


async def gather(parts: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Returns the results of the coroutines, in order.

    If one fails, the others are cancelled and its error is raised, not an exception group. `BudgetExhausted` is raised
    only after the calls that are under way, and paid for, have ended.
    """
    all_parts = list(parts)
    results: dict[int, T] = {}
    refused: list[BudgetExhausted] = []

    async def run(place: int, part: Coroutine[Any, Any, T]) -> None:
        try:
            results[place] = await part
        except BudgetExhausted as error:
            refused.append(error)

    try:
        async with asyncio.TaskGroup() as group:
            for place, part in enumerate(all_parts):
                group.create_task(run(place, part))
    except BaseExceptionGroup as errors:
        first = _first(errors)
        raise first from first.__cause__
    finally:
        for part in all_parts:  # closes coroutines that were cancelled before they started
            part.close()
    if refused:
        raise refused[0]
    return [results[place] for place in range(len(all_parts))]


def _first(error: BaseException) -> BaseException:
    return _first(error.exceptions[0]) if isinstance(error, BaseExceptionGroup) else error
