"""Calls in threads whose large results are freed as soon as nothing uses them."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

__all__ = ["call_in_thread"]

T = TypeVar("T")


async def call_in_thread(work: Callable[[], T]) -> T:
    """Returns the result of `work`, which runs in a thread.

    The future of `asyncio.to_thread` refers to itself and to the result, so the result stays in memory until the
    garbage collector looks at its oldest generation.
    """
    result: list[T] = []
    await asyncio.to_thread(lambda: result.append(work()))
    return result.pop()
