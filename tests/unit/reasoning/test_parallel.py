"""Several things at once: results in order, the first error as itself, the others cancelled."""

import asyncio

import pytest

from core.errors import BudgetExhausted
from reasoning.parallel import together


async def test_results_in_order() -> None:
    first = asyncio.Event()

    async def part(number: int) -> int:
        if number == 0:
            await first.wait()
        first.set()
        return number

    assert await together(part(number) for number in range(3)) == [0, 1, 2]
    assert await together([]) == []


async def test_an_error_ends_the_others_and_comes_out_as_itself() -> None:
    cancelled = asyncio.Event()

    async def waits() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    async def nested() -> None:
        await together([fails()])

    async def fails() -> None:
        await asyncio.sleep(0)
        raise BudgetExhausted("over")

    with pytest.raises(BudgetExhausted, match="over"):
        await together([waits(), nested()])
    assert cancelled.is_set()
