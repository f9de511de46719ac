"""Browsers: other origins, the page /docs, the headers of responses."""

from core.keys import Scope, make_key
from core.settings import ApiSettings
from tests.integration.api.access.conftest import Keys
from tests.integration.api.conftest import BASE, MakeServer, Server

_ORIGIN = "https://app.example"
_PREFLIGHT = {
    "origin": _ORIGIN,
    "access-control-request-method": "POST",
    "access-control-request-headers": "authorization, content-type, idempotency-key",
    "host": "hopweave.example",
}


async def test_no_other_origin_by_default(make_server: MakeServer) -> None:
    server = await make_server(ApiSettings.model_validate({"keys": ["sekret"]}))
    assert (await server.client.options("/v1/corpora", headers=_PREFLIGHT)).status_code == 401
    answer = await server.client.get("/v1/corpora", headers={"authorization": "Bearer sekret", "origin": _ORIGIN})
    assert not [name for name in answer.headers if name.startswith("access-control")]


async def test_a_page_of_a_listed_origin_sends_its_key(make_server: MakeServer) -> None:
    server = await make_server(ApiSettings.model_validate({"keys": ["sekret"], "cors_origins": [_ORIGIN]}))
    preflight = await server.client.options("/v1/corpora", headers=_PREFLIGHT)
    assert preflight.status_code == 200
    assert preflight.headers["access-control-allow-origin"] == _ORIGIN
    assert "authorization" in preflight.headers["access-control-allow-headers"].lower()
    assert "access-control-allow-credentials" not in preflight.headers
    headers = {"authorization": "Bearer sekret", "origin": _ORIGIN, "sec-fetch-site": "cross-site"}
    answer = await server.client.post("/v1/corpora", json={"name": "a"}, headers=headers)
    assert answer.status_code == 201
    assert answer.headers["access-control-allow-origin"] == _ORIGIN
    assert "Location" in answer.headers["access-control-expose-headers"]
    refused = await server.client.get("/v1/corpora", headers={"origin": _ORIGIN})
    assert refused.status_code == 401
    assert refused.headers["access-control-allow-origin"] == _ORIGIN, "so that the page can read why"
    other = await server.client.get("/v1/corpora", headers={**headers, "origin": "https://evil.example"})
    assert "access-control-allow-origin" not in other.headers


async def test_without_a_key_only_named_origins_are_not_foreign(make_server: MakeServer) -> None:
    server = await make_server(ApiSettings(cors_origins=["http://localhost:3000", "*"]))
    page = {"origin": "http://localhost:3000", "sec-fetch-site": "cross-site"}
    assert (await server.client.get("/v1/corpora", headers=page)).status_code == 200
    assert (await server.client.get("/v1/corpora", headers={"origin": _ORIGIN})).status_code == 403
    rebound = {**page, "host": "evil.example"}
    assert (await server.client.get("/v1/corpora", headers=rebound)).status_code == 403


async def test_a_foreign_form_and_a_rebound_name_do_nothing(server: Server) -> None:
    """As browsers send them: a form with a file, a form as text, and a page whose name now leads to this machine."""
    form = {"origin": "https://evil.example", "sec-fetch-site": "cross-site"}
    await server.corpus()
    path = "/v1/corpora/people/documents"
    assert (await server.client.post(path, files={"file": ("a.txt", b"x")}, headers=form)).status_code == 403
    kind = {**form, "content-type": "text/plain"}
    assert (await server.client.post("/v1/corpora", content=b'{"name": "a"}', headers=kind)).status_code == 403
    rebound = {"origin": "http://evil.example:8000", "host": "evil.example:8000", "sec-fetch-site": "same-origin"}
    assert (await server.client.post("/v1/corpora", json={"name": "a"}, headers=rebound)).status_code == 403
    assert [one["name"] for one in (await server.client.get("/v1/corpora")).json()["data"]] == ["people"]


async def test_docs_are_served_without_a_key_and_run_no_foreign_script(keys: Keys) -> None:
    await keys.make(Scope.READ)
    client = keys.server.client
    page = await client.get("/docs")
    assert page.status_code == 200
    assert "Authorize" in page.text
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    kinds = {"page.js": "text/javascript", "page.css": "text/css", "../openapi.json": "application/json"}
    for part, kind in kinds.items():
        answer = await client.get(f"{BASE}/docs/{part}")
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith(kind)
    assert "onclick" not in page.text
    assert "Bearer" in (await client.get("/docs/page.js")).text


async def test_the_headers_of_every_response(server: Server) -> None:
    for path in ("/v1/corpora", "/v1/corpora/none", "/nowhere", "/healthz", "/docs"):
        for headers in ({}, {"host": "evil.example"}):
            answer = await server.client.get(path, headers=headers)
            assert answer.headers["x-content-type-options"] == "nosniff", path
            assert "default-src 'none'" in answer.headers["content-security-policy"]
            assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
            policy = "same-origin" if path == "/docs" and not headers else "no-referrer"
            assert answer.headers["referrer-policy"] == policy, path
            assert answer.headers["cache-control"] == "no-store"


async def test_a_key_in_the_wrong_place_is_no_key(keys: Keys) -> None:
    _, text = make_key("a", [Scope.READ])
    await keys.make(Scope.READ)
    for parameters in ({"key": text}, {"access_token": text}):
        assert (await keys.server.client.get("/v1/corpora", params=parameters)).status_code == 401
