"""Imports over HTTP: the whole corpus or nothing, plain and compressed, and one clear message for each fault."""

import asyncio
import gzip
import json
import sys
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.container import Container
from core.settings import ApiSettings, Settings
from tests.desk import CountingEmbedder
from tests.integration.api.asgi import make_scope
from tests.integration.api.conftest import ADA, MakeServer, Server

_AT = "/v1/corpora/moved/import"
_NDJSON = {"content-type": "application/x-ndjson"}


@pytest.fixture
async def there(tmp_path: Path) -> AsyncIterator[Server]:
    """Another installation, without any corpus."""
    container = Container(Settings(data_dir=tmp_path / "there"))
    container.embedder = CountingEmbedder()
    server = Server(container)
    yield server
    await server.close()


async def _export(server: Server, corpus: str = "people", **params: str) -> bytes:
    answer = await server.client.get(f"/v1/corpora/{corpus}/export", params=params)
    assert answer.status_code == 200, answer.text
    return answer.content


async def _send(server: Server, body: bytes, size: int = 1000, **headers: str) -> httpx.Response:
    """Send a body in pieces, without its length."""

    async def pieces() -> AsyncIterator[bytes]:
        for at in range(0, len(body), size):
            yield body[at : at + size]

    return await server.client.post(_AT, content=pieces(), headers={**_NDJSON, **headers})


async def _names(server: Server) -> list[str]:
    return [corpus["name"] for corpus in (await server.client.get("/v1/corpora")).json()["data"]]


async def test_what_is_imported_is_the_same_and_nothing_is_embedded(people: Server, there: Server) -> None:
    body = await _export(people)
    answer = await _send(there, body, size=17)
    assert answer.status_code == 200, answer.text
    expected = {"corpus": "moved", "documents": 3, "unchanged": 0, "chunks": 3, "embedded": 0, "missing_originals": 0}
    assert answer.json() == {**expected, "notes": []}
    assert await _export(there, "moved", canonical="true") == await _export(people, canonical="true")
    assert isinstance(there.container.embedder, CountingEmbedder)
    assert there.container.embedder.embedded == 0
    again = (await _send(there, body)).json()
    assert (again["documents"], again["unchanged"]) == (0, 3)


@pytest.mark.parametrize("headers", [{"content-encoding": "gzip"}, {"content-type": "application/gzip"}, {}])
async def test_compressed_bodies(people: Server, there: Server, headers: Mapping[str, str]) -> None:
    body = await _export(people)
    middle = len(body) // 2
    packed = gzip.compress(body[:middle]) + gzip.compress(body[middle:])
    answer = await _send(there, packed, size=3, **headers)
    assert answer.status_code == 200, answer.text
    assert await _export(there, "moved", canonical="true") == await _export(people, canonical="true")


async def _refused(server: Server, body: bytes, status: int = 422, **headers: str) -> str:
    answer = await _send(server, body, **headers)
    assert answer.status_code == status, answer.text
    assert await _names(server) == []
    detail: str = answer.json()["detail"]
    assert "\n" not in detail
    return detail


async def test_damaged_bodies_change_nothing(people: Server, there: Server) -> None:
    body = await _export(people)
    lines = body.splitlines(keepends=True)
    assert "the body line 3: it is not valid JSON" in await _refused(there, b"".join([*lines[:2], b"{]\n", *lines[3:]]))
    assert "was cut after line 2: of corpus 'people'" in await _refused(there, b"".join(lines[:2]))
    assert "line 2: it is not valid JSON" in await _refused(there, b"".join(lines[:2])[:-9])
    assert "is empty" in await _refused(there, b"")
    packed = gzip.compress(body)
    assert "was cut" in await _refused(there, packed[:-20])
    assert "is damaged after line" in await _refused(there, packed + b"more")
    broken = bytearray(packed)
    broken[len(packed) // 2] ^= 255
    assert "the body" in await _refused(there, bytes(broken))
    changed = json.loads(lines[1])
    changed["title"] = "Another"
    altered = b"".join([lines[0], json.dumps(changed).encode() + b"\n", *lines[2:]])
    assert "is not as it was written" in await _refused(there, altered)


async def test_other_bodies_are_told_apart(people: Server, there: Server) -> None:
    assert "a canonical export" in await _refused(there, await _export(people, canonical="true"))
    assert "no exported corpus begins" in await _refused(there, b'{"id": "p1", "text": "A document."}\n')
    backup = b'{"kind": "backup", "format": 1, "corpora": []}\n{"kind": "backup_end", "corpora": []}\n'
    assert "hopweave restore" in await _refused(there, backup)
    assert "newer release" in await _refused(there, (await _export(people)).replace(b'"format":1', b'"format":9', 1))
    assert "application/x-ndjson" in await _refused(there, b"{}", 415, **{"content-type": "application/json"})
    assert "encoding 'br'" in await _refused(there, b"{}", 415, **{"content-encoding": "br"})


async def test_limits(people: Server, make_server: MakeServer) -> None:
    body = await _export(people)
    small = await make_server(ApiSettings(max_import_mb=0.002))
    assert len(body) > 2000
    answer = await _send(small, body)
    assert answer.status_code == 413
    assert "HOPWEAVE_API__MAX_IMPORT_MB" in answer.json()["detail"]
    bomb = gzip.compress(body.splitlines(keepends=True)[0] + b" " * 100_000_000)
    answer = await _send((await make_server(ApiSettings(max_import_mb=1))), bomb, **{"content-encoding": "gzip"})
    assert answer.status_code == 413
    assert "uncompressed" in answer.json()["detail"]


async def test_many_empty_members_are_within_the_limit_of_bytes(make_server: MakeServer) -> None:
    empty = gzip.compress(b"")
    answer = await _send(await make_server(ApiSettings(max_import_mb=0.1)), empty * 6_000, size=50_000)
    assert answer.status_code == 413
    assert "larger than 0.1 MB" in answer.json()["detail"]


async def test_settings_must_agree(people: Server, there: Server) -> None:
    body = await _export(people)
    asked = await there.client.post(_AT, content=body, headers=_NDJSON, params={"chunker": "passage"})
    assert asked.status_code == 409
    assert "chunker" in asked.json()["detail"]
    await there.corpus("moved", chunker="passage")
    answer = await _send(there, body)
    assert answer.status_code == 409
    assert "the body was written with sentences" in answer.json()["detail"]
    assert (await there.client.post("/v1/corpora/No/import", content=body, headers=_NDJSON)).status_code == 422


async def test_a_client_that_leaves_while_it_sends_changes_nothing(people: Server, there: Server) -> None:
    body = await _export(people)
    half = body[: len(body) // 2]
    await _call(there, [{"type": "http.request", "body": half, "more_body": True}, {"type": "http.disconnect"}])
    assert await _names(there) == []
    assert await there.container.record.jobs.list() == []


async def test_an_import_whose_client_leaves_is_continued(people: Server, there: Server) -> None:
    await people.ingest(*({**ADA, "key": f"ada/{n}"} for n in range(30)))
    body = await _export(people)
    await _call(there, [{"type": "http.request", "body": body, "more_body": False}, {"type": "http.disconnect"}])
    jobs = await there.container.record.jobs.list()
    assert all(job.state.final for job in jobs)
    answer = await _send(there, body)
    assert answer.status_code == 200, answer.text
    assert await _export(there, "moved", canonical="true") == await _export(people, canonical="true")


async def test_memory_does_not_depend_on_the_size_of_the_body(tmp_path: Path) -> None:
    """150 originals of a megabyte are a body of 200 MB; what is held at once are some lines and one original."""
    command = (sys.executable, "-m", "tests.integration.api.importing_process", str(tmp_path), "150")
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    output, _ = await process.communicate()
    status, documents, grown = map(int, output.split())
    assert (status, documents) == (200, 150)
    assert grown < 100


async def _call(server: Server, messages: list[dict[str, Any]]) -> None:
    """Send an import to the application as these messages, and wait until it has ended."""
    headers = [(b"content-type", b"application/x-ndjson"), (b"transfer-encoding", b"x")]
    waiting = iter(messages)

    async def receive() -> dict[str, Any]:
        return next(waiting, {"type": "http.disconnect"})

    async def send(_: Any) -> None: ...

    async with asyncio.timeout(60):
        await server.app(make_scope(_AT, "POST", headers), receive, send)
