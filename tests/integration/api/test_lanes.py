"""Estimates, texts of pages and images have a parser process each, and a client that leaves makes room."""

import asyncio
import base64
import json
import os
import signal
import threading
import time
from collections.abc import Coroutine
from typing import Any

import httpx
import pytest

from app.container import Container
from core.execution.limits import check_work
from core.ids import content_hash
from indexer import LoadingLane
from indexer.chunking import packing
from indexer.chunking import pieces as splitting_pieces
from tests.documents import make_long_pdf, make_pdf
from tests.integration.api.asgi import make_scope
from tests.integration.api.conftest import Server

PDF = make_pdf([("p", "The first page."), ("page", ""), ("p", "The second page.")])
_ESTIMATES = "/v1/corpora/people/estimates"


async def _estimate(server: Server) -> httpx.Response:
    return await server.client.post(_ESTIMATES, files={"file": ("b.pdf", PDF, "application/pdf")})


async def _add_pdf(server: Server) -> str:
    await server.corpus()
    sent = await server.client.post("/v1/corpora/people/documents", files={"file": ("a.pdf", PDF, "application/pdf")})
    assert sent.status_code == 202, sent.text
    await server.work("people")
    id: str = sent.json()["documents"][0]["id"]
    return f"/v1/corpora/people/documents/{id}/pages/2"


def _stop_parser(lane: LoadingLane) -> None:
    """What is parsed next does not end."""
    pid = lane.parser_pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)


async def _until_waiting(container: Container, count: int) -> None:
    for _ in range(12_000):
        if container.estimate_lane.admitted == count:
            return
        await asyncio.sleep(0.01)
    raise AssertionError(f"{container.estimate_lane.admitted} calls wait, and not {count}")


async def _until_parsing(lane: LoadingLane) -> None:
    """An admitted call looks for documents that are unchanged before it takes its turn."""
    for _ in range(12_000):
        if lane._loaders._process._is_parsing:
            return
        await asyncio.sleep(0.01)
    raise AssertionError("no call has begun to parse")


async def test_pages_of_a_long_document_are_read_without_its_parser(server: Server) -> None:
    """They are kept when it is indexed, and kept again where they are missing. They go with the document."""
    await server.corpus()
    content = make_long_pdf([[f"Line {line} of sheet {n} here." for line in range(30)] for n in range(1, 41)])
    path = "/v1/corpora/people/documents"
    sent = await server.client.post(path, files={"file": ("long.pdf", content, "application/pdf")})
    await server.work("people")
    [document] = sent.json()["documents"]
    page = f"{path}/{document['id']}/pages"
    first = (await server.client.get(f"{page}/7")).json()["text"]
    assert first.startswith("Line 0 of sheet 7 here.\nLine 1 of sheet 7 here.\n")
    missing = await server.client.get(f"{page}/41")
    assert (missing.status_code, "its pages are 1 to 40" in missing.text) == (404, True)
    container = server.container
    assert container.page_lane.parser_pid is None, "nothing was parsed for these answers"
    corpus = await container.record.corpora.get("people")
    await container.files.put_derived(corpus.id, content_hash(content), b"damaged")
    assert (await server.client.get(f"{page}/7")).json()["text"] == first
    assert container.page_lane.parser_pid is not None
    kept = await container.files.get_derived(corpus.id, content_hash(content))
    assert kept not in (None, b"damaged")
    await server.client.delete(f"{path}/{document['id']}")
    await server.work("people")
    assert await container.files.get_derived(corpus.id, content_hash(content)) is None


async def test_estimates_that_do_not_end_keep_nobody_from_pages(server: Server) -> None:
    page = await _add_pdf(server)
    assert (await _estimate(server)).json()["documents"] == 1
    _stop_parser(server.container.estimate_lane)
    estimates = [asyncio.create_task(_estimate(server)) for _ in range(4)]
    await _until_waiting(server.container, 4)
    refused = await _estimate(server)
    assert refused.status_code == 429, refused.text
    assert "4 estimates are waited for already" in refused.json()["detail"]
    assert "second page" in (await server.client.get(page)).json()["text"]
    assert (await server.client.get(f"{page}/image")).status_code == 200
    assert not any(one.done() for one in estimates)
    for one in estimates:
        one.cancel()
    await asyncio.gather(*estimates, return_exceptions=True)


async def test_the_estimates_of_clients_that_left_end(server: Server) -> None:
    await server.corpus()
    assert (await _estimate(server)).json()["documents"] == 1
    _stop_parser(server.container.estimate_lane)
    left = asyncio.Event()
    body = b'{"documents": [{"key": "a.pdf", "media_type": "application/pdf", "content": "%s"}]}' % _encoded(PDF)
    calls = [asyncio.create_task(_call_and_leave(server, body, left)) for _ in range(4)]
    await _until_waiting(server.container, 4)
    await _until_parsing(server.container.estimate_lane)
    left.set()
    await asyncio.gather(*calls)
    await _until_waiting(server.container, 0)
    again = (await _estimate(server)).json()
    assert again["documents"] == 1, again["rejected"]


async def test_the_cutting_of_a_text_ends_with_its_client(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """A text is cut in the server's process, where no process can be ended."""
    await server.corpus()
    begun, cut = threading.Event(), splitting_pieces.cut_sentences

    def cut_without_end(*_: Any) -> Any:
        begun.set()
        while True:
            check_work()
            time.sleep(0.01)

    monkeypatch.setattr(packing, "cut_sentences", cut_without_end)
    left = asyncio.Event()
    body = json.dumps({"documents": [{"key": "long", "text": "Ada wrote it. " * 1000}]}).encode()
    call = asyncio.create_task(_call_and_leave(server, body, left))
    assert await asyncio.to_thread(begun.wait, 60)
    left.set()
    await call
    monkeypatch.setattr(packing, "cut_sentences", cut)
    assert (await _estimate(server)).json()["documents"] == 1, "the next one has its turn"


def _encoded(content: bytes) -> bytes:
    return base64.b64encode(content)


def _call_and_leave(server: Server, body: bytes, left: asyncio.Event) -> Coroutine[Any, Any, None]:
    messages = iter([{"type": "http.request", "body": body, "more_body": False}])

    async def receive() -> Any:
        if (message := next(messages, None)) is not None:
            return message
        await left.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        """The client has left."""

    return server.app(make_scope(_ESTIMATES, "POST", [(b"content-type", b"application/json")]), receive, send)
