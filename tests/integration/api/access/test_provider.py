"""Signing in to the web page at an identity provider: who is signed in, what fails, and what others could try."""

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx
import pytest
from joserfc.jwk import RSAKey
from pydantic import SecretStr

from api.access import issuer as issuer_module
from api.access.session_values import sign_identity
from api.access.sessions import COOKIE
from api.access.signing_in import ATTEMPT_COOKIE, Attempt
from app.container import Container
from core.settings import ApiSettings, OidcSettings, Settings
from core.telemetry.logs import FIELDS
from tests.integration.api.access.browsing import PATH, PLAIN, Browser, MakeBrowser
from tests.integration.api.access.conftest import GROUPED, Holder
from tests.integration.api.access.issuer import AUDIENCE, CLIENT, Issuer
from tests.integration.api.conftest import Server
from tests.twins.embedder import TwinEmbedder

_OWN = "the-key-of-the-operator"
_SECRET = "s" * 32
_DOCUMENTS = "/v1/corpora/people/documents"
_RULES = [
    {"claim": "groups", "values": ["editors"], "scopes": ["read", "write"], "corpora": ["people"]},
    {"claim": "groups", "values": ["a", "b"], "scopes": ["read"]},
]
_COMING = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}

Serve = Callable[..., Server]
"""Takes the settings of the provider, and `public_url`."""


@pytest.fixture
async def serve(tmp_path: Path, issuer: Issuer) -> AsyncIterator[Serve]:
    made: list[Server] = []

    def make(*, public_url: str = PLAIN, **more: Any) -> Server:
        named = {"issuer": issuer.url, "audience": AUDIENCE, "client_id": CLIENT, "rules": _RULES, **more}
        api = ApiSettings(keys=[SecretStr(_OWN)], public_url=public_url, session_secret=SecretStr(_SECRET))
        container = Container(Settings(data_dir=tmp_path, api=api, oidc=OidcSettings.model_validate(named)))
        container.embedder = TwinEmbedder()
        made.append(Server(container))
        made[-1].client.headers["authorization"] = f"Bearer {_OWN}"
        return made[-1]

    yield make
    for server in made:
        await server.app.state.issuer_keys.close()
        await server.close()


@pytest.fixture
def server(serve: Serve) -> Server:
    return serve()


async def _begin(browser: Browser, next: str = "") -> str:
    """Follows the link of the page, and returns the address at the provider."""
    answer = await browser.send("GET", "/sign-in/provider", params={"next": next} if next else {})
    assert answer.status_code == 303, answer.text
    return str(answer.headers["location"])


async def _agree(address: str) -> str:
    """Agrees at the provider, and returns the address to which it sends the browser back."""
    async with httpx.AsyncClient(trust_env=False) as client:
        answer = await client.get(address)
    assert answer.status_code == 302, answer.text
    return str(answer.headers["location"])


async def _return(browser: Browser, back: str) -> httpx.Response:
    """Comes back to the server, as from another site."""
    place = urlsplit(back)
    return await browser.send("GET", f"{place.path}?{place.query}", headers=_COMING)


async def _sign_in(browser: Browser, next: str = "") -> httpx.Response:
    return await _return(browser, await _agree(await _begin(browser, next)))


def _failure(answer: httpx.Response) -> str:
    """Returns why a sign-in failed, as the page is told."""
    assert answer.status_code == 303, answer.text
    place = urlsplit(answer.headers["location"])
    assert (place.scheme, place.netloc, place.path) == ("", "", "/sign-in")
    return dict(parse_qsl(place.query))["failed"]


async def test_a_person_is_signed_in_as_by_a_token(server: Server, issuer: Issuer, browse: MakeBrowser) -> None:
    await server.corpus()
    await server.ingest(*GROUPED)
    browser = browse(server)
    told = (await browser.send("GET", f"{PATH}/provider")).json()
    assert told == {"name": urlsplit(issuer.url).netloc}
    answer = await _sign_in(browser, "/c/people?question=x")
    assert (answer.status_code, answer.headers["location"]) == (303, "/c/people?question=x")
    assert (answer.headers["cache-control"], answer.headers["referrer-policy"]) == ("no-store", "no-referrer")
    session, attempt = answer.headers.get_list("set-cookie")
    assert session.startswith(f"{COOKIE}=2.")
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(session.split("; "))
    assert attempt.startswith(f'{ATTEMPT_COOKIE}=""; HttpOnly; Max-Age=0')
    assert set(browser.cookies) == {COOKIE}
    assert "ey" not in browser.cookies[COOKIE].split(".")[3][:2], "no token is in it"
    listed = await browser("GET", _DOCUMENTS)
    assert {one["key"] for one in listed.json()["data"]} == {"a", "anna", "all"}
    shown = (await browser("GET", PATH)).json()
    holder = Holder(server, issuer.sign())
    by_token = (await holder("GET", PATH)).json()
    await holder.client.aclose()
    assert (shown["id"], shown["name"], shown["scopes"]) == (by_token["id"], "anna", ["read"]), "the same person"
    assert shown["provider"] == urlsplit(issuer.url).netloc
    assert (await browser("POST", "/v1/corpora", json={"name": "new"})).status_code == 403
    assert (await browser("DELETE", PATH)).status_code == 204
    assert (await browser("GET", PATH)).status_code == 401


async def test_the_session_ends_with_the_token_or_after_the_time_of_the_settings(
    server: Server, issuer: Issuer, browse: MakeBrowser
) -> None:
    browser, end = browse(server), int(time.time()) + 300
    issuer.person = {"exp": end}
    await _sign_in(browser)
    shown = (await browser("GET", PATH)).json()
    assert 0 <= datetime.fromisoformat(shown["expires_at"]).timestamp() - end <= 30
    tokens = server.app.state.tokens
    over = datetime.now(UTC) - timedelta(seconds=1)
    browser.cookies[COOKIE] = str(sign_identity(_SECRET.encode(), tokens.client, issuer.claims(), over))
    refused = await browser("GET", PATH)
    assert (refused.status_code, refused.json()["detail"]) == (401, "the session is over: sign in again")
    issuer.person = {"exp": int(time.time()) + 30 * 86_400}
    await _sign_in(browser)
    latest = datetime.fromisoformat((await browser("GET", PATH)).json()["expires_at"])
    assert latest - datetime.now(UTC) <= timedelta(hours=12)


async def test_other_rules_count_at_once(server: Server, serve: Serve, issuer: Issuer, browse: MakeBrowser) -> None:
    browser = browse(server)
    issuer.person = {"groups": ["editors", "a"]}
    await _sign_in(browser)
    assert (await browser("GET", PATH)).json()["scopes"] == ["read", "write"]
    unread = [{"claim": "kind", "values": ["guest"], "scopes": ["read"], "corpora": ["people"]}, *_RULES]
    nobody = [{"claim": "groups", "values": ["none"], "scopes": ["read"]}]
    for changes, told in (
        ({"rules": _RULES[1:]}, ""),
        ({"rules": []}, ""),
        ({"client_id": "another"}, "none of this server's"),
        ({"rules": unread}, ""),  # the cookie does not have the claim of the first rule
        ({"rules": nobody}, "no rule"),
    ):
        other = browse(serve(**changes))
        other.cookies = browser.cookies
        answer = await other("GET", PATH)
        is_accepted = not told and changes != {"rules": unread}
        assert answer.status_code == (200 if is_accepted else 401), changes
        assert answer.json()["scopes"] == ["read"] if is_accepted else told in answer.json()["detail"], changes


async def test_no_part_of_the_session_can_be_changed(server: Server, issuer: Issuer, browse: MakeBrowser) -> None:
    browser = browse(server)
    await _sign_in(browser)
    value = browser.cookies[COOKIE]
    version, end, nonce, packed, signature = value.split(".")
    client = server.app.state.tokens.client
    later = datetime.now(UTC) + timedelta(hours=1)
    forged = [
        ".".join([version, str(int(end) + 1), nonce, packed, signature]),
        ".".join([version, end, nonce, packed[:-1] + ("A" if packed[-1] != "A" else "B"), signature]),
        ".".join(["1", end, nonce, packed, signature]),
        value[:-1],
        str(sign_identity(b"t" * 32, client, issuer.claims(), later)),
        str(sign_identity(_SECRET.encode(), f"{issuer.url}\nanother", issuer.claims(), later)),
        issuer.sign(aud=CLIENT),
    ]
    for cookie in forged:
        browser.cookies[COOKIE] = cookie
        assert (await browser("GET", PATH)).status_code == 401, cookie
    browser.cookies[COOKIE] = value
    assert (await browser("GET", PATH)).status_code == 200


async def test_foreign_pages_cannot_use_the_session(server: Server, browse: MakeBrowser) -> None:
    browser = browse(server)
    await _sign_in(browser)
    sites = [{"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "same-site"}, {"origin": "http://evil.example"}]
    for headers in sites:
        assert (await browser.send("GET", "/v1/corpora", headers=headers)).status_code == 403
    assert (await browser.send("GET", "/v1/corpora")).status_code == 401


_PERSONS: tuple[tuple[dict[str, Any], str], ...] = (
    ({"nonce": "another"}, "answer"),
    ({"nonce": None}, "answer"),
    ({"aud": AUDIENCE}, "answer"),
    ({"aud": [CLIENT, "another"], "azp": "another"}, "answer"),
    ({"iss": "https://login.example"}, "answer"),
    ({"exp": 1}, "answer"),
    ({"sub": None}, "answer"),
    ({"typ": "logout+jwt"}, "answer"),
    ({"groups": ["none"]}, "rule"),
    ({"groups": None}, "rule"),
    ({"groups": ["a", *(f"{n * 7919:x}-{n**5:x}" for n in range(500))]}, "groups"),
)
_EXCHANGES = (
    ((500, b"{}"), "provider"),
    ((302, b""), "provider"),
    ((200, b"no JSON"), "provider"),
    ((200, b"{}"), "provider"),
    ((200, b'{"id_token": 7}'), "provider"),
    ((200, b'{"id_token": "' + b"x" * 1_100_000 + b'"}'), "provider"),
    ((200, b'{"id_token": "x"}'), "answer"),
    ((400, b'{"error": "invalid_grant"}'), "code"),
    ((400, b'{"error": "unauthorized_client"}'), "client"),
    ((401, b'{"error": "invalid_client"}'), "client"),
)
_DENIALS = {"access_denied": "denied", "temporarily_unavailable": "provider", "scope": "client", "<b>": "client"}


async def test_people_who_are_not_signed_in(server: Server, issuer: Issuer, browse: MakeBrowser) -> None:
    """By what a token says, by what the provider answers to an exchange, and by what it says instead."""
    browser = browse(server)
    for person, why in _PERSONS:
        issuer.person = person
        answer = await _sign_in(browser, "/c/people")
        assert _failure(answer) == why, person
        assert dict(parse_qsl(urlsplit(answer.headers["location"]).query))["next"] == "/c/people"
        assert browser.cookies == {}
    issuer.person = {}
    for exchange, why in _EXCHANGES:
        issuer.answers["/token"] = exchange
        assert _failure(await _sign_in(browser)) == why, exchange
        assert browser.cookies == {}
    del issuer.answers["/token"]
    for error, why in _DENIALS.items():
        issuer.denies = error
        answer = await _sign_in(browser)
        assert answer.headers["location"] == f"/sign-in?failed={why}", "nothing of the request is repeated"
        assert browser.cookies == {}


async def test_a_token_that_somebody_else_signed_signs_nobody_in(
    server: Server, issuer: Issuer, browse: MakeBrowser
) -> None:
    browser = browse(server)
    query = dict(parse_qsl(urlsplit(await _begin(browser)).query))
    stranger = RSAKey.generate_key(2048, {"kid": "one"})
    token = issuer.sign(key=stranger, aud=CLIENT, nonce=query["nonce"])
    issuer.answers["/token"] = (200, json.dumps({"id_token": token}).encode())
    answer = await _return(browser, f"{PLAIN}/sign-in/callback?code=x&state={query['state']}")
    assert _failure(answer) == "answer"


_WRONG_ENDPOINTS = ("http://login.example/", "javascript:x", "https://[")


async def test_a_provider_that_is_down_is_asked_again_seldom(serve: Serve, issuer: Issuer, browse: MakeBrowser) -> None:
    path = "/.well-known/openid-configuration"
    own = {"issuer": issuer.url, "token_endpoint": "https://x"}
    bodies = [{"issuer": "https://other.example"}, {"issuer": issuer.url}]
    bodies += [{**own, "authorization_endpoint": address} for address in _WRONG_ENDPOINTS]
    for answer in ((500, b""), *((200, json.dumps(body).encode()) for body in bodies)):
        issuer.answers[path] = answer
        issuer.asked.clear()
        server = serve()
        browser = browse(server)
        for _ in range(3):
            assert _failure(await browser.send("GET", "/sign-in/provider")) == "provider", answer
        assert issuer.asked[path] == 1
        assert (await browser.send("GET", "/sign-in/end")).headers["location"] == "/sign-in"
        issuer.answers.clear()
        server.app.state.provider._read_at -= 60
        assert (await _sign_in(browser)).headers["location"] == "/"


@pytest.mark.parametrize("head", [b"Content-Type: text/event-stream\r\n\r\n", b""], ids=["events", "headers"])
async def test_a_provider_that_answers_without_end(
    serve: Serve, issuer: Issuer, browse: MakeBrowser, monkeypatch: pytest.MonkeyPatch, head: bytes
) -> None:
    """Each part comes in time. One description that never ends would keep everybody out."""
    monkeypatch.setattr(issuer_module, "_BOUNDS", replace(issuer_module._BOUNDS, seconds=3.0))

    async def drip(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError), closing(writer):
            writer.write(b"HTTP/1.1 200 OK\r\n" + head)
            while True:
                writer.write(b"data: x\r\n")
                await writer.drain()
                await asyncio.sleep(0.05)

    async with await asyncio.start_server(drip, "127.0.0.1", 0) as endless:
        url = f"http://127.0.0.1:{endless.sockets[0].getsockname()[1]}"
        server = serve(jwks_url=f"{url}/keys")
        browser = browse(server)
        async with asyncio.timeout(120):
            assert _failure(await _sign_in(browser)) == "provider", "by the keys"
            issuer.description = {"token_endpoint": f"{url}/token"}
            server.app.state.provider._read_at -= 3_600
            assert _failure(await _sign_in(browser)) == "provider", "by the exchange"
            issuer.url = url
            assert _failure(await browse(serve()).send("GET", "/sign-in/provider")) == "provider"


def test_addresses_that_an_issuer_elsewhere_cannot_name() -> None:
    """Codes and the secret of the client would be sent to whatever listens on this machine."""
    settings = OidcSettings(issuer="https://login.example", audience=AUDIENCE, client_id=CLIENT)
    unsafe = ("http://127.0.0.1:6379/", "https://login.example/#x", "https://a\r\nb/", "https://\ud800/", "https:x")
    assert [issuer_module._is_safe(address, settings) for address in unsafe] == [False] * 5
    assert issuer_module._is_safe("https://login.example/token?tenant=x", settings)


async def test_codes_are_exchanged_a_few_at_once(
    server: Server, issuer: Issuer, browse: MakeBrowser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(issuer_module, "_MOST_EXCHANGES", 2)
    browsers = [browse(server) for _ in range(3)]
    returns = [(browser, await _agree(await _begin(browser))) for browser in browsers]
    issuer.is_answering.clear()
    try:
        tasks = [asyncio.create_task(_return(browser, back)) for browser, back in returns]
        [refused], waiting = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        issuer.is_answering.set()
    assert _failure(refused.result()) == "provider"
    assert [(await one).headers["location"] for one in waiting] == ["/", "/"]


async def _wait_until_settled(server: Server, tasks: Sequence[asyncio.Task[httpx.Response]], taken: int) -> None:
    """Waits until as many places are taken, and all other tasks have their answer."""
    for _ in range(1_000):
        over = sum(task.done() for task in tasks)
        if (len(server.app.state.provider._places._taken), over) == (taken, len(tasks) - taken):
            return
        await asyncio.sleep(0.01)
    raise TimeoutError


async def test_one_address_cannot_take_all_places(
    server: Server, issuer: Issuer, browse: MakeBrowser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first place of an address that has taken all is given to a person elsewhere, and then the next one."""
    monkeypatch.setattr(issuer_module, "_MOST_EXCHANGES", 3)
    attackers = [browse(server) for _ in range(3)]
    people = [browse(server, PLAIN, address) for address in ("192.0.2.8", "192.0.2.9", "192.0.2.10")]
    returns = [(browser, await _agree(await _begin(browser))) for browser in (*attackers, *people)]
    issuer.is_answering.clear()
    tasks = []
    try:
        for begun, (browser, back) in enumerate(returns, start=1):
            tasks.append(asyncio.create_task(_return(browser, back)))
            await _wait_until_settled(server, tasks, taken=min(begun, 3))
    finally:
        issuer.is_answering.set()
    answers = [await task for task in tasks]
    assert [_failure(answer) for answer in answers[:2]] == ["provider", "provider"], "the oldest of the attacker"
    assert [answer.headers["location"] for answer in answers[2:5]] == ["/", "/", "/"]
    assert _failure(answers[5]) == "provider", "each address has one place"


async def test_a_code_is_for_one_sign_in(server: Server, browse: MakeBrowser) -> None:
    browser = browse(server)
    back = await _agree(await _begin(browser))
    kept = dict(browser.cookies)
    assert (await _return(browser, back)).headers["location"] == "/"
    assert _failure(await _return(browser, back)) == "state", "the cookie is gone"
    browser.cookies = kept
    assert _failure(await _return(browser, back)) == "code", "the code is used"


async def test_nobody_is_signed_in_as_somebody_else(server: Server, browse: MakeBrowser) -> None:
    """Somebody signs in, does not come back, and sends the address to a reader, who would use a foreign account."""
    back = await _agree(await _begin(browse(server)))
    reader = browse(server)
    assert _failure(await _return(reader, back)) == "state"
    await _begin(reader)
    assert _failure(await _return(reader, back)) == "state"
    assert COOKIE not in reader.cookies
    assert ATTEMPT_COOKIE in reader.cookies, "the reader may go on"


@pytest.mark.parametrize("is_checked", [True, False])
async def test_a_code_of_somebody_else_is_refused(
    server: Server, issuer: Issuer, browse: MakeBrowser, *, is_checked: bool
) -> None:
    """A stolen code in an own sign-in: the provider compares the challenge. If it does not, the nonce is another."""
    victim, attacker = browse(server), browse(server)
    stolen = dict(parse_qsl(urlsplit(await _agree(await _begin(victim))).query))["code"]
    state = dict(parse_qsl(urlsplit(await _begin(attacker)).query))["state"]
    if not is_checked:
        del issuer.codes[stolen]["code_challenge"]
    answer = await _return(attacker, f"{PLAIN}/sign-in/callback?code={stolen}&state={state}")
    assert _failure(answer) == ("code" if is_checked else "answer")
    assert attacker.cookies == {}


async def test_returns_that_are_malformed(server: Server, issuer: Issuer, browse: MakeBrowser) -> None:
    browser = browse(server)
    state = dict(parse_qsl(urlsplit(await _begin(browser)).query))["state"]
    begun = dict(browser.cookies)
    for query, why in (
        ("", "state"),
        ("code=x", "state"),
        (f"code=x&state={state[:-1]}", "state"),
        (f"code=x&state={state}&state={state}", "state"),
        ("code=x&state=%F0%9F%98%80", "state"),
        ("code=x&state=%ED%A0%80", "state"),
        (f"state={state}", "code"),
        (f"code=&state={state}", "code"),
        (f"code={'x' * 5_000}&state={state}", "code"),
        (f"code=x&code=y&state={state}", "code"),
        (f"code=x&state={state}&iss=https%3A%2F%2Fevil.example", "answer"),
    ):
        browser.cookies = dict(begun)
        assert _failure(await _return(browser, f"{PLAIN}/sign-in/callback?{query}")) == why, query
    assert issuer.exchanges == []
    expired = Attempt(secret=_SECRET.encode(), random="A" * 43, next="/", expires_at=datetime.now(UTC))
    of_others = Attempt(secret=b"t" * 32, random="A" * 43, next="/", expires_at=datetime(2099, 1, 1, tzinfo=UTC))
    for attempt in (expired, of_others):
        browser.cookies = {ATTEMPT_COOKIE: attempt.value}
        answer = await _return(browser, f"{PLAIN}/sign-in/callback?code=x&state={attempt.state}")
        assert _failure(answer) == "state"
    twice = {**_COMING, "cookie": "; ".join(f"{ATTEMPT_COOKIE}={begun[ATTEMPT_COOKIE]}" for _ in range(2))}
    answer = await browser.send("GET", f"/sign-in/callback?code=x&state={state}", headers=twice)
    assert _failure(answer) == "state", "another host may have set one"


_ELSEWHERE = (
    *("https://evil.example/", "//evil.example/", "/\\evil.example", "/c/\\evil.example", "javascript:alert(1)"),
    *("/c/a\r\nset-cookie: a=b", "/c/a\t", "/sign-in/provider", "/sign-in?failed=rule", "/v1/corpora", "/page/x"),
    *("c/people", "/c/" + "x" * 2_000, "/c/" + "質" * 1_000),
)


async def test_nobody_is_led_to_other_addresses(server: Server, browse: MakeBrowser) -> None:
    browser = browse(server)
    for next in _ELSEWHERE:
        assert (await _sign_in(browser, next)).headers["location"] == "/", next


async def test_a_sign_in_begins_another_session(server: Server, issuer: Issuer, browse: MakeBrowser) -> None:
    """A value that somebody has put into the browser is replaced, and gives nothing afterwards."""
    attacker, reader = browse(server), browse(server)
    issuer.person = {"sub": "mallory"}
    await _sign_in(attacker)
    planted = attacker.cookies[COOKIE]
    issuer.person = {}
    reader.cookies = {COOKIE: planted}
    await _sign_in(reader)
    first = reader.cookies[COOKIE]
    assert first != planted
    assert (await attacker("GET", PATH)).json()["name"] == "mallory"
    assert (await reader("GET", PATH)).json()["name"] == "anna"
    await _sign_in(reader)
    assert reader.cookies[COOKIE] != first


@pytest.mark.parametrize(
    ("secret", "methods", "shows"),  # whether a header, the client and the secret are in the exchange
    [
        ("", None, (False, True, False)),
        ("a secret: +%", None, (True, False, False)),
        ("a secret: +%", ["client_secret_basic", "client_secret_post"], (True, False, False)),
        ("a secret: +%", ["client_secret_post"], (False, True, True)),
    ],
)
async def test_a_secret_is_shown_as_the_provider_takes_it(
    *,
    serve: Serve,
    issuer: Issuer,
    browse: MakeBrowser,
    secret: str,
    methods: list[str] | None,
    shows: tuple[bool, ...],
) -> None:
    issuer.secret, issuer.description = secret, {"token_endpoint_auth_methods_supported": methods}
    assert (await _sign_in(browse(serve(client_secret=secret)))).headers["location"] == "/"
    [(body, header)] = issuer.exchanges
    assert (bool(header), "client_id" in body, "client_secret" in body) == shows
    assert _failure(await _sign_in(browse(serve(client_secret=CLIENT)))) == "client", "a wrong secret"


async def test_over_https_the_cookies_are_of_this_host_alone(serve: Serve, browse: MakeBrowser) -> None:
    server = serve(public_url="https://search.example")
    browser = browse(server, "https://search.example")
    address = await _begin(browser)
    assert dict(parse_qsl(urlsplit(address).query))["redirect_uri"] == "https://search.example/sign-in/callback"
    assert set(browser.cookies) == {f"__Host-{ATTEMPT_COOKIE}"}
    await _return(browser, await _agree(address))
    assert set(browser.cookies) == {f"__Host-{COOKIE}"}
    assert (await browser("GET", PATH)).status_code == 200


async def test_a_host_that_is_not_ours_is_named_to_no_provider(serve: Serve, browse: MakeBrowser) -> None:
    server = serve(public_url="")
    assert _failure(await browse(server, "http://evil.example").send("GET", "/sign-in/provider")) == "address"
    assert "redirect_uri=http%3A%2F%2Flocalhost%3A1%2F" in await _begin(browse(server, "http://localhost:1"))


async def test_sign_out_leads_to_the_provider(server: Server, issuer: Issuer, browse: MakeBrowser) -> None:
    there = urlsplit((await browse(server).send("GET", "/sign-in/end")).headers["location"])
    assert there.path == "/logout"
    assert dict(parse_qsl(there.query)) == {"client_id": CLIENT, "post_logout_redirect_uri": f"{PLAIN}/sign-in"}
    issuer.description = {"end_session_endpoint": None}
    server.app.state.provider._read_at -= 3_600
    assert (await browse(server).send("GET", "/sign-in/end")).headers["location"] == "/sign-in"


async def test_what_is_secret_is_not_logged(
    server: Server, issuer: Issuer, browse: MakeBrowser, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "hopweave")
    browser = browse(server)
    back = await _agree(await _begin(browser))
    attempt = browser.cookies[ATTEMPT_COOKIE]
    await _return(browser, back)
    session = browser.cookies[COOKIE]
    issuer.denies = "access_denied"
    await _sign_in(browser)
    logged = "\n".join(f"{one.getMessage()} {getattr(one, FIELDS, '')}" for one in caplog.records)
    assert "/sign-in/callback" in logged
    assert "a sign-in failed" in logged
    query = dict(parse_qsl(urlsplit(back).query))
    for secret in (query["code"], query["state"], attempt, session, issuer.exchanges[0][0]["code_verifier"]):
        assert secret not in logged


async def test_without_a_client_nobody_signs_in_at_the_provider(
    serve: Serve, issuer: Issuer, browse: MakeBrowser
) -> None:
    server = serve(client_id="")
    browser = browse(server)
    assert (await browser.send("GET", f"{PATH}/provider")).json() == {"name": None}
    for path in ("/sign-in/provider", "/sign-in/callback?code=x&state=x", "/sign-in/end"):
        assert (await browser.send("GET", path)).status_code == 404
    holder = Holder(server, issuer.sign())
    assert (await holder("GET", PATH)).json()["provider"] is None
    await holder.client.aclose()


async def test_the_button_has_the_name_of_the_settings(serve: Serve, browse: MakeBrowser) -> None:
    server = serve(name="Example Ltd")
    assert (await browse(server).send("GET", f"{PATH}/provider")).json() == {"name": "Example Ltd"}
