"""Signing in with wrong keys, wrong bodies and forms, and what requests of a session count for."""

import asyncio
from typing import Any

from pydantic import SecretStr

from api.access.keys import Keyring
from api.access.limits import MOST, Attempts
from core.keys import KeyLimits, Scope, make_key
from core.settings import ApiSettings
from tests.integration.api.access.browsing import PATH, PLAIN, MakeBrowser
from tests.integration.api.access.conftest import Keys, key_of
from tests.integration.api.conftest import MakeServer


async def test_wrong_keys_are_limited_by_address(keys: Keys, browse: MakeBrowser) -> None:
    await keys.make(Scope.READ)
    browser, neighbour = browse(keys.server), browse(keys.server, PLAIN, "192.0.2.8")
    wrong = make_key("wrong", [Scope.READ])[1]
    for _ in range(MOST):
        refused = await browser.sign_in(wrong)
        assert refused.status_code == 401
        assert "none of this server's, or is revoked" in refused.json()["detail"]
    limited = await browser.sign_in(wrong)
    assert limited.status_code == 429
    assert 0 < int(limited.headers["retry-after"]) <= 60
    assert "wrong keys" in limited.json()["detail"]
    assert (await neighbour.sign_in(wrong)).status_code == 401
    assert (await browser.sign_in(key_of(keys))).status_code == 200, "nobody keeps the holder of a key out"
    keys.server.app.state.attempts = Attempts()
    for _ in range(MOST + 1):
        assert (await browser.sign_in(key_of(keys))).status_code == 200, "right keys do not count"


async def test_wrong_keys_of_requests_are_limited_by_address(keys: Keys) -> None:
    holder = await keys.make(Scope.READ)
    wrong = {"authorization": f"Bearer {make_key('wrong', [Scope.READ])[1]}"}
    answers = [await holder.client.get("/v1/corpora", headers=wrong) for _ in range(MOST + 1)]
    assert [one.status_code for one in answers] == [401] * MOST + [429]
    assert int(answers[-1].headers["retry-after"]) > 0
    assert (await holder("GET", "/v1/corpora")).status_code == 200
    holder.client.headers.pop("authorization")
    assert (await holder("GET", "/v1/corpora")).status_code == 401, "no key is no wrong key"


async def test_a_short_key_of_the_settings_cannot_be_guessed(make_server: MakeServer) -> None:
    server = await make_server(ApiSettings(keys=[SecretStr("short"), SecretStr("a key of sixteen")]))
    answers = [await server.client.get("/v1/corpora", headers=_show(key)) for key in ["short", *["wrong"] * MOST]]
    assert [one.status_code for one in answers] == [200] + [401] * MOST
    assert (await server.client.get("/v1/corpora", headers=_show("short"))).status_code == 429
    assert (await server.client.get("/v1/corpora", headers=_show("a key of sixteen"))).status_code == 200


def _show(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


async def test_wrong_keys_at_the_same_time_are_limited_too(keys: Keys, browse: MakeBrowser) -> None:
    await keys.make(Scope.READ)
    browser, wrong = browse(keys.server), make_key("wrong", [Scope.READ])[1]
    keyring = Keyring([], lambda: keys.server.container.record.keys)
    keys.server.app.state.keyring = keyring  # has not read the keys yet, so all calls wait for that
    answers = await asyncio.gather(*(browser.sign_in(wrong) for _ in range(3 * MOST)))
    assert sorted(one.status_code for one in answers) == [401] * MOST + [429] * 2 * MOST


_NO_KEYS: tuple[tuple[dict[str, Any], int], ...] = (
    ({"content": b"x" * 20_000}, 413),
    ({"content": b"{"}, 400),
    ({"json": {}}, 422),
    ({"json": {"key": ""}}, 422),
    ({"json": {"key": "k" * 5_000}}, 422),
    ({"json": {"key": "k", "more": 1}}, 422),
    ({"json": {"key": ["k"]}}, 422),
)


async def test_bodies_that_are_no_key_and_forms_sign_nobody_in(keys: Keys, browse: MakeBrowser) -> None:
    await keys.make(Scope.READ)
    browser = browse(keys.server)
    for body, status in _NO_KEYS:
        answer = await browser("POST", PATH, **body, headers={"content-type": "application/json"})
        assert answer.status_code == status, answer.text
        assert "kkkk" not in answer.text
    assert (await browser("POST", PATH, data={"key": key_of(keys)})).status_code == 415


async def test_requests_of_a_session_count_as_those_of_its_key(keys: Keys, browse: MakeBrowser) -> None:
    holder = await keys.make(Scope.READ, limits=KeyLimits(requests=4))
    browser = browse(keys.server)
    await browser.sign_in(key_of(keys))
    answers = [await one("GET", "/v1/corpora") for _ in range(4) for one in (holder, browser)]
    assert [answer.status_code for answer in answers].count(429) >= 1  # a minute may begin in between
    assert "this key has used up" in next(answer for answer in answers if answer.status_code == 429).text
