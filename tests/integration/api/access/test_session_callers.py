"""Who may use the session of the web page: pages of this server, and no other page or program."""

from typing import Any

from core.keys import Scope
from core.settings import ApiSettings
from tests.integration.api.access.browsing import PATH, Browser, MakeBrowser
from tests.integration.api.access.conftest import Keys
from tests.integration.api.conftest import MakeServer

_EVIL = "https://evil.example"
_PAGES: dict[str, dict[str, str]] = {
    "a form": {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "origin": _EVIL},
    "fetch": {"sec-fetch-site": "cross-site", "sec-fetch-mode": "cors", "origin": _EVIL},
    "an image": {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors", "sec-fetch-dest": "image"},
    "a link": {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"},
    "another port": {"sec-fetch-site": "same-site", "origin": "http://search.example:3000"},
    "another port without the header": {"origin": "http://search.example:3000"},
    "a sandboxed frame": {"sec-fetch-site": "same-origin", "origin": "null"},
    "an old browser's image": {"referer": f"{_EVIL}/"},
    "the address bar": {"sec-fetch-site": "none", "sec-fetch-mode": "navigate"},
}
_CALLS: list[tuple[str, str, dict[str, Any]]] = [
    ("GET", "/v1/corpora", {}),
    ("GET", PATH, {}),
    ("POST", "/v1/corpora/people/search", {"json": {"query": "program"}}),
    ("POST", "/v1/corpora/people/documents", {"files": {"file": ("a.txt", b"x")}}),
    ("DELETE", "/v1/corpora/people", {}),
]


async def test_a_page_of_another_site_gets_nothing(signed_in: Browser) -> None:
    """As if the browser sent the cookie along, which `SameSite=Strict` already prevents for other sites."""
    for what, headers in _PAGES.items():
        for method, path, more in _CALLS:
            answer = await signed_in.send(method, path, **more, headers=headers)
            assert answer.status_code == 403, (what, path)
            assert "the web page of this server" in answer.json()["detail"]
            assert not [name for name in answer.headers if name.startswith("access-control")]
        for method, more in () if "referer" in headers else (("POST", {"json": {"key": "a"}}), ("DELETE", {})):
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
