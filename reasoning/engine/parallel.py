"""Several things at once, where the first error ends all of them and comes out as itself."""

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

from core.errors import BudgetExhausted

__all__ = ["together"]

T = TypeVar("T")


async def together(parts: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Their results, in order. The others are cancelled where one fails; its error is raised, not a group of them.

    Where the budget is used up, what is under way, and paid for, is waited for first.
    """
    all_parts = list(parts)
    results: dict[int, T] = {}
    refused: list[BudgetExhausted] = []

    async def one(place: int, part: Coroutine[Any, Any, T]) -> None:
        try:
            results[place] = await part
        except BudgetExhausted as error:
            refused.append(error)

    try:
        async with asyncio.TaskGroup() as group:
            for place, part in enumerate(all_parts):
                group.create_task(one(place, part))
    except BaseExceptionGroup as errors:
        first = _first(errors)
        raise first from first.__cause__
    finally:
        for part in all_parts:  # those that were cancelled before they began
            part.close()
    if refused:
        raise refused[0]
    return [results[place] for place in range(len(all_parts))]


def _first(error: BaseException) -> BaseException:
    return _first(error.exceptions[0]) if isinstance(error, BaseExceptionGroup) else error
