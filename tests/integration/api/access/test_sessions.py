"""The session of the web page: a key is exchanged for a cookie, which only pages of this server can use."""

import logging
from datetime import UTC, datetime, timedelta

import pytest

from api.access.session_values import sign_session
from api.access.sessions import COOKIE, FILE
from core.keys import Scope, hash_key, make_key
from core.settings import ApiSettings
from core.telemetry.logs import FIELDS
from tests.integration.api.access.browsing import OWN, PATH, PLAIN, Browser, MakeBrowser
from tests.integration.api.access.conftest import OPEN_DOCUMENT, SECRETS, Keys, key_of
from tests.integration.api.conftest import BASE, MakeServer, Server


async def test_a_key_is_exchanged_for_a_cookie(keys: Keys, signed_in: Browser) -> None:
    answer = await signed_in.sign_in(key_of(keys))
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
    told = (await signed_in("GET", PATH)).json()
    assert (told["id"], told["needs_key"], told["model"], told["neo4j_browser"]) == (keys.last.id, True, False, None)
    assert (told["web"], bool(told["version"])) == (False, True)
    by_key = (await keys.holders[-1]("GET", PATH)).json()
    assert by_key["expires_at"] is None, "the key has no end"
    assert {**by_key, "expires_at": told["expires_at"]} == told


async def test_the_session_has_the_rights_of_its_key_and_no_others_and_ends(signed_in: Browser) -> None:
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
    assert (await signed_in.send("GET", "/docs", headers={"sec-fetch-site": "none"})).status_code == 200
    assert (await signed_in("DELETE", PATH)).status_code == 204
    assert signed_in.cookies == {}
    assert (await signed_in("GET", PATH)).status_code == 401
    assert (await signed_in("DELETE", PATH)).status_code == 204, "also without a session"


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
    assert (refused.status_code, refused.headers["content-type"]) == (401, "application/problem+json")
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
        "the key": key_of(keys),
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
    secret = await keys.server.app.state.sessions.secret.make()
    later = datetime.now(UTC) + timedelta(hours=1)
    browser.cookies[COOKIE] = sign_session(secret, key.id, key.hash, later)
    for refused in (await browser("GET", PATH), await browser.sign_in(text)):
        assert refused.status_code == 401
        assert "the key has expired at" in refused.json()["detail"]


async def test_no_key_and_no_cookie_is_told_or_logged(
    keys: Keys, signed_in: Browser, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    key, cookie = key_of(keys), signed_in.cookies[COOKIE]
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


async def test_an_address_that_is_no_page_is_no_way_around(server: Server) -> None:
    """Without keys, a cookie changes nothing."""
    headers = {"cookie": f"{COOKIE}=1", "sec-fetch-site": "cross-site"}
    assert (await server.client.get(f"{BASE}/v1/corpora", headers=headers)).status_code == 403
    assert (await server.client.get(f"{BASE}/v1/corpora", headers={"cookie": f"{COOKIE}=1"})).status_code == 200
