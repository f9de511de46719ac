"""Who may call, from where, and with how much."""

from collections.abc import AsyncIterator

import httpx
from pydantic import SecretStr

from core.settings import ApiSettings
from tests.integration.api.conftest import BASE, MakeServer, Server


async def test_hosts(make_server: MakeServer) -> None:
    server = await make_server(ApiSettings(hosts=["box.example"]))
    for host in ("127.0.0.1:8000", "localhost", "LOCALHOST:9", "[::1]:8000", "box.example:80"):
        assert (await server.client.get("/v1/corpora", headers={"host": host})).status_code == 200, host
    for host in ("evil.example", "127.0.0.1.evil.example", "evil.example:8000", "", "[::2]:1"):
        answer = await server.client.get("/v1/corpora", headers={"host": host})
        assert (answer.status_code, answer.headers["content-type"]) == (403, "application/problem+json"), host


async def test_foreign_pages(server: Server) -> None:
    origins = [{"origin": origin} for origin in ("https://evil.example", "null", "http://127.0.0.1:3000")]
    for headers in (*origins, {"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "same-site"}):
        created = await server.client.post("/v1/corpora", json={"name": "a"}, headers=headers)
        listed = await server.client.get("/v1/corpora", headers=headers)
        assert (created.status_code, listed.status_code) == (403, 403), headers


async def test_our_own_page(server: Server) -> None:
    headers = {"origin": BASE, "sec-fetch-site": "same-origin"}
    assert (await server.client.post("/v1/corpora", json={"name": "a"}, headers=headers)).status_code == 201


async def test_other_machines_need_a_key(server: Server) -> None:
    transport = httpx.ASGITransport(app=server.app, client=("192.0.2.7", 40_000))
    async with httpx.AsyncClient(transport=transport, base_url=BASE) as client:
        assert (await client.get("/v1/corpora")).status_code == 403


async def test_bodies_are_json(server: Server) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""):
        answer = await server.client.post("/v1/corpora", content=b'{"name": "a"}', headers={"content-type": kind})
        assert answer.status_code == 415, kind
    assert (await server.client.get("/v1/corpora")).json()["data"] == []
    headers = {"content-type": "application/json; charset=utf-8"}
    answer = await server.client.post("/v1/corpora", content=b'{"name": "a"}', headers=headers)
    assert answer.status_code == 201


async def test_keys(make_server: MakeServer) -> None:
    keys = [SecretStr("first-key"), SecretStr("zweiter-schlüssel")]
    server = await make_server(ApiSettings(keys=keys))
    wrong = ("Bearer", "Bearer ", "Bearer first-ke", "Bearer first-key2", "Basic first-key", "first-key")
    for headers in ({}, *({"authorization": shown} for shown in wrong)):
        answer = await server.client.get("/v1/corpora", headers=headers)
        assert answer.status_code == 401, headers
        was_shown = headers.get("authorization", "").startswith("Bearer ")
        assert answer.headers["www-authenticate"] == ('Bearer error="invalid_token"' if was_shown else "Bearer")
        assert answer.headers["content-type"] == "application/problem+json"
        assert "first-key" not in answer.text
    for shown in ("Bearer first-key", "bearer first-key", "Bearer zweiter-schlüssel"):
        raw = {b"authorization": shown.encode(), b"host": b"anywhere.example", b"origin": b"https://elsewhere.example"}
        assert (await server.client.get("/v1/corpora", headers=raw)).status_code == 200
    for path in ("/healthz", "/readyz"):
        assert (await server.client.get(path)).status_code == 200
    assert (await server.client.get("/v1/strategies")).status_code == 401


async def test_a_large_body_is_refused_unread(make_server: MakeServer) -> None:
    server = await make_server(ApiSettings(max_body_mb=0.001))
    read = 0

    async def pieces() -> AsyncIterator[bytes]:
        nonlocal read
        for _ in range(1000):
            read += 100
            yield b" " * 100

    headers = {"content-type": "application/json"}
    lengths = {**headers, "content-length": "100000"}
    announced = await server.client.post("/v1/corpora", content=pieces(), headers=lengths)
    assert announced.status_code == 413
    assert read == 0
    counted = await server.client.post("/v1/corpora", content=pieces(), headers=headers)
    assert counted.status_code == 413
    assert counted.headers["content-type"] == "application/problem+json"
    assert "HOPWEAVE_API__MAX_BODY_MB" in counted.json()["detail"]
    assert read <= 1200
