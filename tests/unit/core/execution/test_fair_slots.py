"""Slots for which callers take turns."""

import asyncio

import pytest

from core.execution.limits import FairSlots


async def _use(slots: FairSlots, caller: str, order: list[str]) -> None:
    await slots.acquire(caller)
    order.append(caller)
    await asyncio.sleep(0)
    slots.release()


async def test_who_waits_for_many_makes_nobody_wait_for_more_than_one() -> None:
    slots, order = FairSlots(1), list[str]()
    await asyncio.gather(*(_use(slots, caller, order) for caller in [*"aaaaa", "b", "c", "b"]))
    assert "".join(order) == "aabcabaa"


async def test_as_many_run_at_once_as_there_are_slots() -> None:
    slots, order = FairSlots(2), list[str]()
    for caller in "ab":
        await slots.acquire(caller)
    waiting = asyncio.create_task(_use(slots, "c", order))
    await asyncio.sleep(0)
    assert order == []
    slots.release()
    await waiting
    assert order == ["c"]


async def test_a_slot_is_not_lost_with_a_task_that_is_cancelled() -> None:
    slots, order = FairSlots(1), list[str]()
    await slots.acquire("a")
    waits, gets = (asyncio.create_task(_use(slots, caller, order)) for caller in "bc")
    await asyncio.sleep(0)
    waits.cancel()
    slots.release()
    gets.cancel()  # the slot is its own already
    await asyncio.gather(waits, gets, return_exceptions=True)
    await asyncio.wait_for(slots.acquire("d"), 60)


async def test_those_that_wait_can_be_refused() -> None:
    slots = FairSlots(1)
    await slots.acquire("a")
    waiting = asyncio.create_task(slots.acquire("b"))
    await asyncio.sleep(0)
    slots.fail_waiting(lambda: ValueError("the end"))
    with pytest.raises(ValueError, match="the end"):
        await waiting
