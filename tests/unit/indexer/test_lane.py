"""A lane: callers take turns, calls that are given up are not carried out, and too many are refused."""

import asyncio
import threading
from collections.abc import AsyncIterator

import pytest

from core.errors import RateLimited, Unavailable
from indexer.isolation.lane import Lane, LaneLimits

_LIMITS = LaneLimits(what="texts of pages", all=6, of_one=3)


class _Work:
    """Work that goes on until it may end, or is interrupted; `done` are the names of what began, in order."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.may_end = threading.Event()
        self.interrupted = threading.Event()

    def interrupt(self) -> None:
        self.interrupted.set()

    def run(self, name: str) -> str:
        self.done.append(name)
        while not self.may_end.wait(0.01):
            if self.interrupted.is_set():
                self.interrupted.clear()
                raise ValueError("interrupted")
        return name


@pytest.fixture
async def work() -> AsyncIterator[_Work]:
    work = _Work()
    yield work
    work.may_end.set()


async def _call(lane: Lane, work: _Work, caller: str, name: str) -> str:
    async with lane.admit(caller), lane.turn(caller) as run:
        done: str = await run(work.run, name)
        return done


async def _until_begun(work: _Work, name: str) -> None:
    for _ in range(3000):
        if name in work.done:
            return
        await asyncio.sleep(0.01)
    raise AssertionError(f"{name} has not begun")


async def _until_waiting() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_callers_take_turns(work: _Work) -> None:
    lane = Lane("test", _LIMITS, work.interrupt)
    names = [("a", "a1"), ("a", "a2"), ("a", "a3"), ("b", "b1"), ("b", "b2"), ("c", "c1")]
    calls = [asyncio.create_task(_call(lane, work, *one)) for one in names]
    await _until_waiting()
    work.may_end.set()
    assert await asyncio.gather(*calls) == [name for _, name in names]
    assert work.done == ["a1", "a2", "b1", "c1", "a3", "b2"], "nobody waits for more than one call of another"
    lane.close()


async def test_too_many_calls_are_refused_of_one_caller_and_in_all(work: _Work) -> None:
    lane = Lane("test", _LIMITS, work.interrupt)
    calls = [asyncio.create_task(_call(lane, work, "a", f"a{n}")) for n in range(3)]
    await _until_waiting()
    with pytest.raises(RateLimited, match=r"^3 texts of pages are waited for already; ask for fewer at a time$"):
        await _call(lane, work, "a", "refused")
    calls += [asyncio.create_task(_call(lane, work, "b", f"b{n}")) for n in range(3)]
    await _until_waiting()
    with pytest.raises(RateLimited, match="too many texts of pages"):
        await _call(lane, work, "c", "refused")
    work.may_end.set()
    await asyncio.gather(*calls)
    assert await _call(lane, work, "c", "c1") == "c1", "there is room again"
    lane.close()


async def test_a_call_that_is_given_up_is_interrupted_or_never_begins(work: _Work) -> None:
    lane = Lane("test", _LIMITS, work.interrupt)
    running, waiting, last = (asyncio.create_task(_call(lane, work, name, name)) for name in "abc")
    await _until_begun(work, "a")
    waiting.cancel()
    running.cancel()
    ended = await asyncio.gather(running, waiting, return_exceptions=True)
    assert all(isinstance(one, asyncio.CancelledError) for one in ended)
    await _until_begun(work, "c")
    work.may_end.set()
    assert await last == "c"
    assert work.done == ["a", "c"]
    assert not work.interrupted.is_set(), "what ran afterwards was left alone"
    lane.close()


async def test_a_call_whose_turn_comes_as_it_is_given_up_passes_it_on(work: _Work) -> None:
    lane = Lane("test", _LIMITS, work.interrupt)
    work.may_end.set()
    for _ in range(20):
        calls = [asyncio.create_task(_call(lane, work, "a", "x")) for _ in range(3)]
        await _until_waiting()
        calls[1].cancel()
        await asyncio.gather(*calls, return_exceptions=True)
    assert await _call(lane, work, "b", "y") == "y"
    lane.close()


async def test_calls_that_wait_are_refused_when_the_lane_closes(work: _Work) -> None:
    lane = Lane("test", _LIMITS, work.interrupt)
    running, waiting = (asyncio.create_task(_call(lane, work, name, name)) for name in "ab")
    await _until_begun(work, "a")
    lane.close()
    with pytest.raises(Unavailable, match="the server is stopping"):
        await waiting
    work.may_end.set()
    assert await running == "a"
    with pytest.raises(Unavailable, match="the server is stopping"):
        await _call(lane, work, "c", "c")
