"""The session of the web page: a key is exchanged for a cookie, which only pages of this server can use."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from datetime import UTC, datetime, timedelta
from http.cookies import SimpleCookie
from typing import Any

import httpx
import pytest

from api.access.attempts import MOST, Attempts
from api.access.keyring import Keyring
from api.access.session_secret import FILE
from api.access.session_value import sign_session
from api.access.sessions import COOKIE
from core.keys import KeyLimits, Scope, hash_key, make_key
from core.settings import ApiSettings
from core.telemetry.log_events import FIELDS
from tests.integration.api.access.conftest import OPEN_DOCUMENT, SECRETS, Keys
from tests.integration.api.conftest import BASE, MakeServer, Server

PATH = "/v1/session"
OWN = {"sec-fetch-site": "same-origin", "sec-fetch-mode": "cors"}
PLAIN = "http://search.example:8000"


class Browser:
    """A browser with the page of a server open. It keeps cookies as browsers do, and sends them with every request."""

    def __init__(self, server: Server, base: str = PLAIN, address: str = "192.0.2.7") -> None:
        transport = httpx.ASGITransport(app=server.app, raise_app_exceptions=False, client=(address, 40_000))
        self.client = httpx.AsyncClient(transport=transport, base_url=base)
        self.origin = base
        self.cookies: dict[str, str] = {}

    async def __call__(self, method: str, path: str, **more: Any) -> httpx.Response:
        """Sends a request as a script of the page does."""
        headers = {**OWN, **({"origin": self.origin} if method != "GET" else {}), **more.pop("headers", {})}
        return await self.send(method, path, headers=headers, **more)

    async def send(self, method: str, path: str, **more: Any) -> httpx.Response:
        """Sends a request with the cookies, and no header that tells of a page."""
        line = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        headers = {**({"cookie": line} if line else {}), **more.pop("headers", {})}
        answer = await self.client.request(method, path, headers=headers, **more)
        for sent in answer.headers.get_list("set-cookie"):
            [(name, found)] = SimpleCookie(sent).items()
            self.cookies[name] = found.value
            if found["max-age"] == "0":
                del self.cookies[name]
        self.client.cookies.clear()
        return answer

    async def sign_in(self, key: str) -> httpx.Response:
        return await self("POST", PATH, json={"key": key})


MakeBrowser = Callable[..., Browser]


@pytest.fixture
async def browse() -> AsyncIterator[MakeBrowser]:
    made: list[Browser] = []

    def make(server: Server, *more: str) -> Browser:
        made.append(Browser(server, *more))
        return made[-1]

    yield make
    for one in made:
        await one.client.aclose()


def _key_of(keys: Keys) -> str:
    return str(keys.holders[-1].client.headers["authorization"]).removeprefix("Bearer ")


@pytest.fixture
async def signed_in(keys: Keys, browse: MakeBrowser) -> Browser:
    await keys.make(Scope.READ, Scope.WRITE, corpora=["people"], where={"team": "open"})
    browser = browse(keys.server)
    assert (await browser.sign_in(_key_of(keys))).status_code == 200
    return browser


async def test_a_key_is_exchanged_for_a_cookie(keys: Keys, signed_in: Browser) -> None:
    answer = await signed_in.sign_in(_key_of(keys))
    assert answer.headers["cache-control"] == "no-store"
    described = answer.json()
    end = datetime.fromisoformat(described.pop("expires_at"))
    assert timedelta(hours=11.9) < end - datetime.now(UTC) <= timedelta(hours=12)
    assert described == {"id": keys.last.id, "name": "test", "scopes": ["read", "write"], "corpora": ["people"]}
    [cookie] = answer.headers.get_list("set-cookie")
    name, _, rest = cookie.partition("=")
    assert name == COOKIE
    attributes = rest.partition("; ")[2].lower().split("; ")
    assert {"httponly", "samesite=strict", "path=/"} <= set(attributes)
    assert not {"secure"} & set(attributes)
    assert not [one for one in attributes if one.startswith("domain")]
    assert any(one.startswith("max-age=431") for one in attributes)


async def test_the_session_has_the_rights_of_its_key_and_no_others(signed_in: Browser) -> None:
    listed = await signed_in("GET", "/v1/corpora")
    assert [one["name"] for one in listed.json()["data"]] == ["people"]
    documents = await signed_in("GET", "/v1/corpora/people/documents")
    assert [one["key"] for one in documents.json()["data"]] == [OPEN_DOCUMENT["key"]]
    assert (await signed_in("GET", "/v1/corpora/clandestine")).status_code == 404
    assert (await signed_in("GET", "/v1/corpora/people/export")).status_code == 403
    assert (await signed_in("POST", "/v1/corpora", json={"name": "new"})).status_code == 403
    found = await signed_in("POST", "/v1/corpora/people/search", json={"query": "program"})
    assert found.status_code == 200
    assert not [word for word in SECRETS if word in (listed.text + documents.text + found.text).lower()]
    upload = await signed_in("POST", "/v1/corpora/people/documents", files={"file": ("a.txt", b"x")})
    assert upload.status_code != 401


async def test_the_session_is_told(keys: Keys, signed_in: Browser) -> None:
    told = (await signed_in("GET", PATH)).json()
    assert (told["id"], told["needs_key"], told["model"], told["neo4j_browser"]) == (keys.last.id, True, False, None)
    assert (told["web"], bool(told["version"])) == (False, True)
    by_key = (await keys.holders[-1]("GET", PATH)).json()
    assert by_key["expires_at"] is None, "the key has no end"
    assert {**by_key, "expires_at": told["expires_at"]} == told


async def test_a_server_without_keys_needs_no_session(server: Server) -> None:
    told = (await server.client.get(PATH, headers=OWN)).json()
    assert told["scopes"] == ["read", "write", "export", "admin"]
    assert (told["needs_key"], told["id"], told["corpora"], told["expires_at"]) == (False, None, None, None)
    _, unknown = make_key("a", [Scope.READ])
    assert (await server.client.post(PATH, json={"key": unknown}, headers=OWN)).status_code == 401
    assert (await server.client.get(PATH, headers={"sec-fetch-site": "cross-site"})).status_code == 403
    assert not list(server.container.settings.data_dir.glob(f"*{FILE}*")), "nobody has signed in"


async def test_without_a_session_a_server_with_keys_says_so(keys: Keys, browse: MakeBrowser) -> None:
    await keys.make(Scope.READ)
    refused = await browse(keys.server)("GET", PATH)
    assert refused.status_code == 401
    assert refused.headers["content-type"] == "application/problem+json"
    assert "no key was shown" in refused.json()["detail"]


async def test_keys_of_the_settings_begin_sessions(make_server: MakeServer, browse: MakeBrowser) -> None:
    server = await make_server(ApiSettings.model_validate({"keys": ["first", "sekret"]}))
    browser = browse(server)
    answer = (await browser.sign_in(" sekret\n")).json()
    assert (answer["id"], answer["name"]) == (None, "HOPWEAVE_API__KEYS")
    assert answer["scopes"] == ["read", "write", "export", "admin"]
    assert (await browser("POST", "/v1/corpora", json={"name": "a"})).status_code == 201
    without = await make_server(ApiSettings.model_validate({"keys": ["first"]}))
    other = browse(without)
    other.cookies = browser.cookies
    assert (await other("GET", "/v1/corpora")).status_code == 401, "its key is not in the settings any more"


@pytest.mark.parametrize(
    ("base", "public_url", "is_secure"),
    [
        ("https://search.example", "", True),
        (PLAIN, "https://docs.example", True),
        (PLAIN, "http://docs.example", False),
    ],
)
async def test_over_https_the_cookie_is_of_this_host_alone(
    make_server: MakeServer, browse: MakeBrowser, base: str, public_url: str, *, is_secure: bool
) -> None:
    server = await make_server(ApiSettings.model_validate({"keys": ["sekret"], "public_url": public_url}))
    browser = browse(server, base)
    [cookie] = (await browser.sign_in("sekret")).headers.get_list("set-cookie")
    assert cookie.startswith("__Host-hopweave_session=") is is_secure
    assert ("; Secure" in cookie) is is_secure
    assert (await browser("GET", PATH)).status_code == 200
    if is_secure:
        browser.cookies = {COOKIE: browser.cookies["__Host-hopweave_session"]}
        assert (await browser("GET", PATH)).status_code == 401, "another host may have set this one"
    [deleted] = (await browser("DELETE", PATH)).headers.get_list("set-cookie")
    assert ("; Secure" in deleted) is is_secure


async def test_the_session_ends(signed_in: Browser) -> None:
    answer = await signed_in("DELETE", PATH)
    assert answer.status_code == 204
    assert signed_in.cookies == {}
    assert (await signed_in("GET", PATH)).status_code == 401
    assert (await signed_in("DELETE", PATH)).status_code == 204, "also without a session"


async def test_cookies_that_are_no_session(keys: Keys, signed_in: Browser) -> None:
    value = signed_in.cookies[COOKIE]
    other, _ = make_key("other", [Scope.ADMIN])
    await keys.server.container.record.keys.create(other)
    await keys.see()
    end = datetime.now(UTC) + timedelta(hours=1)
    version, id, *rest = value.split(".")
    forged = {
        "empty": "",
        "truncated": value[:-1],
        "lengthened": value + "A",
        "of another key": ".".join([version, other.id, *rest]),
        "of no key": ".".join([version, "0" * 12, *rest]),
        "of the settings": ".".join([version, "settings", *rest]),
        "signed with another secret": sign_session(b"x" * 64, id, keys.last.hash, end),
        "signed with the id": sign_session(b"x" * 64, id, id, end),
        "the key": _key_of(keys),
        "quoted": f'"{value}"',
    }
    for what, cookie in forged.items():
        signed_in.cookies = {COOKIE: cookie}
        refused = await signed_in("GET", "/v1/corpora")
        assert refused.status_code == 401, what
        assert "set-cookie" not in refused.headers
        assert cookie not in refused.text or not cookie
    twice = {"cookie": f"{COOKIE}={value}; {COOKIE}={value}"}
    assert (await signed_in("GET", "/v1/corpora", headers=twice)).status_code == 401
    signed_in.cookies = {COOKIE: value}
    assert (await signed_in("GET", "/v1/corpora")).status_code == 200


async def test_a_session_is_over_after_its_time(make_server: MakeServer, browse: MakeBrowser) -> None:
    secret = "x" * 32
    server = await make_server(ApiSettings.model_validate({"keys": ["sekret"], "session_secret": secret}))
    browser = browse(server)
    await browser.sign_in("sekret")
    assert not (server.container.settings.data_dir / FILE).exists()
    over = sign_session(secret.encode(), "settings", hash_key("sekret"), datetime.now(UTC) - timedelta(seconds=1))
    browser.cookies[COOKIE] = over
    refused = await browser("GET", PATH)
    assert refused.status_code == 401
    assert "the session is over: sign in again" in refused.json()["detail"]


async def test_a_session_ends_with_its_key(keys: Keys, browse: MakeBrowser) -> None:
    browser = browse(keys.server)
    end = datetime.now(UTC) + timedelta(minutes=5)
    key, text = make_key("brief", [Scope.READ], expires_at=end)
    await keys.server.container.record.keys.create(key)
    await keys.see()
    told = (await browser.sign_in(text)).json()
    assert datetime.fromisoformat(told["expires_at"]) == end.replace(microsecond=0)
    assert (await browser("GET", PATH)).status_code == 200
    await keys.server.container.record.keys.revoke(key.id)
    await keys.see()
    refused = await browser("GET", PATH)
    assert refused.status_code == 401
    assert "its key is revoked" in refused.json()["detail"]
    assert (await browser.sign_in(text)).status_code == 401


async def test_an_expired_key_is_told(keys: Keys, browse: MakeBrowser) -> None:
    browser = browse(keys.server)
    key, text = make_key("over", [Scope.READ], expires_at=datetime.now(UTC) - timedelta(seconds=1))
    await keys.server.container.record.keys.create(key)
    await keys.see()
    secret = await keys.server.app.state.sessions._secret.make()
    later = datetime.now(UTC) + timedelta(hours=1)
    browser.cookies[COOKIE] = sign_session(secret, key.id, key.hash, later)
    for refused in (await browser("GET", PATH), await browser.sign_in(text)):
        assert refused.status_code == 401
        assert "the key has expired at" in refused.json()["detail"]


_PAGES: list[tuple[str, dict[str, str]]] = [
    ("a form", {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "origin": "https://evil.example"}),
    ("fetch", {"sec-fetch-site": "cross-site", "sec-fetch-mode": "cors", "origin": "https://evil.example"}),
    ("an image", {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image"}),
    ("a link", {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}),
    ("another port", {"sec-fetch-site": "same-site", "origin": "http://search.example:3000"}),
    ("another port without the header", {"origin": "http://search.example:3000"}),
    ("a sandboxed frame", {"sec-fetch-site": "same-origin", "origin": "null"}),
    ("an old browser's image", {"referer": "https://evil.example/"}),
    ("the address bar", {"sec-fetch-site": "none", "sec-fetch-mode": "navigate"}),
]


@pytest.mark.parametrize(("what", "headers"), _PAGES, ids=[what for what, _ in _PAGES])
async def test_a_page_of_another_site_gets_nothing(signed_in: Browser, what: str, headers: dict[str, str]) -> None:
    """As if the browser sent the cookie along, which `SameSite=Strict` already prevents for other sites."""
    calls: list[tuple[str, str, dict[str, Any]]] = [
        ("GET", "/v1/corpora", {}),
        ("GET", PATH, {}),
        ("POST", "/v1/corpora/people/search", {"json": {"query": "program"}}),
        ("POST", "/v1/corpora/people/documents", {"files": {"file": ("a.txt", b"x")}}),
        ("DELETE", "/v1/corpora/people", {}),
    ]
    for method, path, more in calls:
        answer = await signed_in.send(method, path, **more, headers=headers)
        assert answer.status_code == 403, (what, path)
        assert "the web page of this server" in answer.json()["detail"]
        assert not [name for name in answer.headers if name.startswith("access-control")]
    if "referer" not in headers:
        for method, more in (("POST", {"json": {"key": "a"}}), ("DELETE", {})):
            assert (await signed_in.send(method, PATH, **more, headers=headers)).status_code == 403
    assert (await signed_in("GET", PATH)).status_code == 200, "nobody has ended the session"


async def test_a_program_sends_its_key_and_no_cookie(signed_in: Browser) -> None:
    refused = await signed_in.send("GET", "/v1/corpora")
    assert refused.status_code == 401
    assert "a program sends its key as `Authorization: Bearer …`" in refused.json()["detail"]


async def test_a_listed_origin_uses_no_cookie(make_server: MakeServer, browse: MakeBrowser) -> None:
    listed = "https://app.example"
    server = await make_server(ApiSettings.model_validate({"keys": ["sekret"], "cors_origins": [listed]}))
    browser = browse(server)
    await browser.sign_in("sekret")
    headers = {"origin": listed, "sec-fetch-site": "cross-site"}
    refused = await browser.send("GET", "/v1/corpora", headers=headers)
    assert refused.status_code == 403
    assert "access-control-allow-credentials" not in refused.headers
    assert (await browser.send("POST", PATH, json={"key": "sekret"}, headers=headers)).status_code == 403
    with_key = {**headers, "authorization": "Bearer sekret"}
    assert (await browser.send("GET", "/v1/corpora", headers=with_key)).status_code == 200


async def test_an_authorization_wins_over_the_cookie(keys: Keys, signed_in: Browser) -> None:
    admin = await keys.make(Scope.ADMIN)
    shown = {"authorization": admin.client.headers["authorization"]}
    assert (await signed_in("GET", "/v1/corpora/clandestine", headers=shown)).status_code == 200
    assert (await signed_in.send("GET", "/v1/corpora/clandestine", headers=shown)).status_code == 200
    for wrong in ("Bearer none", "Bearer ", "Basic YTpi", ""):
        assert (await signed_in("GET", "/v1/corpora", headers={"authorization": wrong})).status_code == 401, wrong


async def test_the_cookie_is_for_the_calls_of_the_page(signed_in: Browser) -> None:
    """Protocols of programs take keys."""
    for method, path in (("GET", "/metrics"), ("GET", "/api/tags"), ("POST", "/mcp"), ("POST", "/dify/retrieval")):
        more: dict[str, Any] = {"json": {}} if method == "POST" else {}
        assert (await signed_in(method, path, **more)).status_code in {401, 403}, path
    assert (await signed_in("GET", "/v1/models")).status_code == 200


async def test_wrong_keys_are_limited_by_address(keys: Keys, browse: MakeBrowser) -> None:
    await keys.make(Scope.READ)
    browser, neighbour = browse(keys.server), browse(keys.server, PLAIN, "192.0.2.8")
    wrong = make_key("wrong", [Scope.READ])[1]
    for _ in range(MOST):
        refused = await browser.sign_in(wrong)
        assert refused.status_code == 401
        assert "none of this server's, or is revoked" in refused.json()["detail"]
    limited = await browser.sign_in(_key_of(keys))
    assert limited.status_code == 429
    assert 0 < int(limited.headers["retry-after"]) <= 60
    assert "wrong keys" in limited.json()["detail"]
    assert (await neighbour.sign_in(_key_of(keys))).status_code == 200
    keys.server.app.state.attempts = Attempts()
    for _ in range(MOST + 1):
        assert (await browser.sign_in(_key_of(keys))).status_code == 200, "right keys do not count"


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
    answer = await browse(keys.server)("POST", PATH, data={"key": _key_of(keys)})
    assert answer.status_code == 415


async def test_requests_of_a_session_count_as_those_of_its_key(keys: Keys, browse: MakeBrowser) -> None:
    holder = await keys.make(Scope.READ, limits=KeyLimits(requests=4))
    browser = browse(keys.server)
    await browser.sign_in(_key_of(keys))
    answers = [await one("GET", "/v1/corpora") for _ in range(4) for one in (holder, browser)]
    assert [answer.status_code for answer in answers].count(429) >= 1  # a minute may begin in between
    assert "this key has used up" in next(answer for answer in answers if answer.status_code == 429).text


async def test_no_key_and_no_cookie_is_told_or_logged(
    keys: Keys, signed_in: Browser, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    key, cookie = _key_of(keys), signed_in.cookies[COOKIE]
    signature = cookie.rpartition(".")[2]
    answers = [
        await signed_in("GET", PATH),
        await signed_in("GET", "/v1/corpora"),
        await signed_in("GET", "/nowhere"),
        await signed_in("POST", PATH, json={"key": key + "x"}),
        await signed_in(
            "POST", PATH, content=f'{{"key": "{key}'.encode(), headers={"content-type": "application/json"}
        ),
        await signed_in.send("GET", "/v1/corpora"),
        await signed_in("DELETE", PATH),
        await signed_in.sign_in(key),
    ]
    for answer in answers:
        bare = [(name, value) for name, value in answer.headers.items() if name != "set-cookie"]
        for secret in (key, keys.last.hash, cookie, signature):
            assert secret not in f"{answer.text}{bare}{answer.url}"
    assert key not in answers[-1].headers["set-cookie"]
    logged = "\n".join(
        f"{logging.Formatter().format(record)} {getattr(record, FIELDS, '')}" for record in caplog.records
    )
    assert "/v1/session" in logged
    for secret in (key, keys.last.hash, cookie, signature, signed_in.cookies[COOKIE]):
        assert secret not in logged


async def test_docs_work_with_the_session(signed_in: Browser) -> None:
    assert (await signed_in.send("GET", "/docs", headers={"sec-fetch-site": "none"})).status_code == 200
    assert (await signed_in("POST", "/v1/corpora/people/search", json={"query": "a"})).status_code == 200


async def test_an_address_that_is_no_page_is_no_way_around(server: Server) -> None:
    """Without keys, a cookie changes nothing."""
    headers = {"cookie": f"{COOKIE}=1", "sec-fetch-site": "cross-site"}
    assert (await server.client.get(f"{BASE}/v1/corpora", headers=headers)).status_code == 403
    assert (await server.client.get(f"{BASE}/v1/corpora", headers={"cookie": f"{COOKIE}=1"})).status_code == 200
