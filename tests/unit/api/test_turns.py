"""Addresses take turns at the event loop. The clock goes on only while a request works, or where a test says so."""

import asyncio
from collections.abc import MutableMapping
from typing import Any

import pytest

from api.transport.turns import Turns

_ATTACKER, _OTHER = "192.0.2.1", "192.0.2.2"


class _Loop:
    """What works at the event loop: `began` are the addresses of requests in the order in which they began."""

    def __init__(self) -> None:
        self.now = 0.0
        self.began: list[str] = []
        self.turns = Turns(self._answer, clock=lambda: self.now)

    async def _answer(self, scope: MutableMapping[str, Any], receive: Any, send: Any) -> None:
        self.began.append(scope["client"][0] if scope["client"] else "")
        self.now += scope["seconds"]
        await asyncio.sleep(0)
        self.now += scope["seconds"]
        if scope["path"] == "/fails":
            raise ValueError("it fails")

    async def ask(self, address: str, path: str = "/", seconds: float = 0.005) -> None:
        client = (address, 1) if address else None
        await self.turns({"type": "http", "client": client, "path": path, "seconds": seconds}, None, None)  # type: ignore[arg-type]

    def flood(self, address: str, number: int, seconds: float = 0.005) -> list[asyncio.Task[None]]:
        return [asyncio.ensure_future(self.ask(address, seconds=seconds)) for _ in range(number)]


async def _end(*tasks: asyncio.Task[None]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def test_another_address_does_not_wait_for_all_requests_of_one() -> None:
    loop = _Loop()
    flood = loop.flood(_ATTACKER, 500)
    await asyncio.sleep(0)
    await loop.ask(_OTHER)
    assert loop.began.count(_ATTACKER) < 10
    await _end(*flood)


async def test_an_address_that_asks_alone_has_all_the_time() -> None:
    loop = _Loop()
    flood = loop.flood(_ATTACKER, 300)
    async with asyncio.timeout(30):
        await asyncio.gather(*flood)
    assert loop.began == [_ATTACKER] * 300


async def test_an_address_that_takes_more_than_its_share_waits_for_the_others() -> None:
    """Each asks all the time; requests of one take ten times as long."""
    loop, used = _Loop(), {_ATTACKER: 0.0, _OTHER: 0.0}

    async def ask(address: str, seconds: float) -> None:
        while loop.now < 60:
            await loop.ask(address, seconds=seconds)
            used[address] += 2 * seconds

    flood = [asyncio.ensure_future(ask(_ATTACKER, 0.05)) for _ in range(20)]
    async with asyncio.timeout(60):
        await asyncio.gather(*(ask(_OTHER, 0.005) for _ in range(20)))
    await _end(*flood)
    assert 0.4 < used[_OTHER] / (used[_OTHER] + used[_ATTACKER]) < 0.6


async def test_what_was_taken_is_forgotten() -> None:
    loop = _Loop()
    await loop.ask(_ATTACKER, seconds=0.5)
    await loop.ask(_OTHER, seconds=0.2)
    waiting = asyncio.ensure_future(loop.ask(_ATTACKER))
    for _ in range(5):
        await asyncio.sleep(0)
    assert loop.began.count(_ATTACKER) == 1
    loop.now += 2
    async with asyncio.timeout(30):
        await waiting
    assert loop.began.count(_ATTACKER) == 2


async def test_health_and_the_socket_of_the_folder_wait_for_nothing() -> None:
    loop = _Loop()
    flood = loop.flood(_ATTACKER, 100)
    await asyncio.sleep(0)
    before = len(loop.began)
    await loop.ask(_ATTACKER, "/healthz", seconds=0)
    await loop.ask("", seconds=0)
    assert len(loop.began) < before + 10
    await _end(*flood)


async def test_health_waits_for_nobody_and_a_flood_of_questions_about_it_keeps_nobody_waiting() -> None:
    loop = _Loop()
    flood = [asyncio.ensure_future(loop.ask(_ATTACKER, "/readyz")) for _ in range(500)]
    await asyncio.sleep(0)
    await loop.ask(_OTHER)
    await loop.ask(_OTHER, "/healthz")
    assert loop.began.count(_ATTACKER) < 20
    await _end(*flood)
    loop = _Loop()
    flood = [task for n in range(250) for task in loop.flood(f"198.51.100.{n}", 2)]
    await asyncio.sleep(0)
    await loop.ask(_OTHER, "/healthz")
    assert len(loop.began) < 20
    await _end(*flood)


async def test_an_address_waits_for_one_request_of_each_of_many() -> None:
    loop = _Loop()
    flood = [task for n in range(100) for task in loop.flood(f"198.51.100.{n}", 50, seconds=0.00001)]
    await asyncio.sleep(0)
    await loop.ask(_OTHER, seconds=0)
    assert len(loop.began) < 150
    await _end(*flood)


async def test_requests_that_were_given_up_or_failed_hold_no_turn() -> None:
    loop = _Loop()
    flood = loop.flood(_ATTACKER, 50)
    await asyncio.sleep(0)
    await _end(*flood[1:40])
    async with asyncio.timeout(30):
        await asyncio.gather(*flood[40:], flood[0])
        with pytest.raises(ValueError, match="it fails"):
            await loop.ask(_ATTACKER, "/fails")
        await loop.ask(_ATTACKER)
    assert len(loop.began) == 13


async def test_addresses_of_one_network_of_ipv6_share_its_turns() -> None:
    loop = _Loop()
    flood = [task for n in range(200) for task in loop.flood(f"2001:db8::{n:x}", 1)]
    await asyncio.sleep(0)
    await loop.ask(_OTHER)
    assert len(loop.began) < 10
    await _end(*flood)
