"""Signing in with wrong keys, wrong bodies and forms, and what requests of a session count for."""

import asyncio
from typing import Any

import pytest

from api.access.attempts import MOST, Attempts
from api.access.keyring import Keyring
from core.keys import KeyLimits, Scope, make_key
from tests.integration.api.access.browsing import PATH, PLAIN, MakeBrowser
from tests.integration.api.access.conftest import Keys, key_of


async def test_wrong_keys_are_limited_by_address(keys: Keys, browse: MakeBrowser) -> None:
    await keys.make(Scope.READ)
    browser, neighbour = browse(keys.server), browse(keys.server, PLAIN, "192.0.2.8")
    wrong = make_key("wrong", [Scope.READ])[1]
    for _ in range(MOST):
        refused = await browser.sign_in(wrong)
        assert refused.status_code == 401
        assert "none of this server's, or is revoked" in refused.json()["detail"]
    limited = await browser.sign_in(key_of(keys))
    assert limited.status_code == 429
    assert 0 < int(limited.headers["retry-after"]) <= 60
    assert "wrong keys" in limited.json()["detail"]
    assert (await neighbour.sign_in(key_of(keys))).status_code == 200
    keys.server.app.state.attempts = Attempts()
    for _ in range(MOST + 1):
        assert (await browser.sign_in(key_of(keys))).status_code == 200, "right keys do not count"


async def test_wrong_keys_at_the_same_time_are_limited_too(keys: Keys, browse: MakeBrowser) -> None:
    await keys.make(Scope.READ)
    browser, wrong = browse(keys.server), make_key("wrong", [Scope.READ])[1]
    keyring = Keyring([], lambda: keys.server.container.record.keys)
    keys.server.app.state.keyring = keyring  # has not read the keys yet, so all calls wait for that
    answers = await asyncio.gather(*(browser.sign_in(wrong) for _ in range(3 * MOST)))
    assert sorted(one.status_code for one in answers) == [401] * MOST + [429] * 2 * MOST


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"content": b"x" * 20_000}, 413),
        ({"content": b"{"}, 400),
        ({"json": {}}, 422),
        ({"json": {"key": ""}}, 422),
        ({"json": {"key": "k" * 5_000}}, 422),
        ({"json": {"key": "k", "more": 1}}, 422),
        ({"json": {"key": ["k"]}}, 422),
    ],
)
async def test_bodies_that_are_no_key(keys: Keys, browse: MakeBrowser, body: dict[str, Any], status: int) -> None:
    await keys.make(Scope.READ)
    headers = {"content-type": "application/json"}
    answer = await browse(keys.server)("POST", PATH, **body, headers=headers)
    assert answer.status_code == status, answer.text
    assert "kkkk" not in answer.text


async def test_a_form_signs_nobody_in(keys: Keys, browse: MakeBrowser) -> None:
    await keys.make(Scope.READ)
    answer = await browse(keys.server)("POST", PATH, data={"key": key_of(keys)})
    assert answer.status_code == 415


async def test_requests_of_a_session_count_as_those_of_its_key(keys: Keys, browse: MakeBrowser) -> None:
    holder = await keys.make(Scope.READ, limits=KeyLimits(requests=4))
    browser = browse(keys.server)
    await browser.sign_in(key_of(keys))
    answers = [await one("GET", "/v1/corpora") for _ in range(4) for one in (holder, browser)]
    assert [answer.status_code for answer in answers].count(429) >= 1  # a minute may begin in between
    assert "this key has used up" in next(answer for answer in answers if answer.status_code == 429).text
