"""Several things at once: results in order, the first error as itself, the others cancelled."""

import asyncio

import pytest

from core.errors import BudgetExhausted, ModelFailed
from reasoning.engine.session import gather


async def test_results_in_order() -> None:
    first = asyncio.Event()

    async def part(number: int) -> int:
        if number == 0:
            await first.wait()
        first.set()
        return number

    assert await gather(part(number) for number in range(3)) == [0, 1, 2]
    assert await gather([]) == []


async def test_an_error_ends_the_others_and_comes_out_as_itself() -> None:
    cancelled = asyncio.Event()

    async def waits() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    async def nested() -> None:
        await gather([fails()])

    async def fails() -> None:
        await asyncio.sleep(0)
        raise ModelFailed("over")

    with pytest.raises(ModelFailed, match="over"):
        await gather([waits(), nested()])
    assert cancelled.is_set()


async def test_what_is_under_way_when_the_budget_ends_is_waited_for() -> None:
    told: list[str] = []

    async def paid() -> None:
        for _ in range(5):
            await asyncio.sleep(0)
        told.append("paid")

    async def refused() -> None:
        raise BudgetExhausted("over")

    with pytest.raises(BudgetExhausted, match="over"):
        await gather([paid(), refused()])
    assert told == ["paid"]
