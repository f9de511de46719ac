"""Several things at once, where the first error ends all of them and comes out as itself."""

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

__all__ = ["together"]

T = TypeVar("T")


async def together(parts: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Their results, in order. The others are cancelled where one fails; its error is raised, not a group of them."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(part) for part in parts]
    except BaseExceptionGroup as errors:
        first = _first(errors)
        raise first from first.__cause__
    return [task.result() for task in tasks]


def _first(error: BaseException) -> BaseException:
    return _first(error.exceptions[0]) if isinstance(error, BaseExceptionGroup) else error
