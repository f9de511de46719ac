"""Endpoints that answer with too much, too deep, too slowly or compressed: each is named, and nothing grows with it."""

import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Protocol

import pytest
from pydantic import SecretStr

from core.errors import HopweaveError, ModelFailed
from core.ports.chat import Completion, OnToken
from core.trace import Trace
from models.chat.endpoint import Endpoint
from models.chat.openai_chat import OpenAIChat
from models.embedding.openai_embedder import OpenAIEmbedder
from models.rerankers.endpoint import HttpReranker
from stores.searxng import SearxngWebSearch
from stores.tavily import TavilyWebSearch
from tests.twins.chat_requests import ask

_MEGABYTE = 1024 * 1024
_JSON = "Content-Type: application/json\r\n"
_EVENTS = "Content-Type: text/event-stream\r\n"
_KEY = SecretStr("secret-key")
_DEEP = b"[" * 200_000 + b"]" * 200_000


class _Client(Protocol):
    async def close(self) -> None: ...


@dataclass(frozen=True, kw_only=True)
class _Answer:
    """`parts` follow one another until the client hangs up. `drips` waits for a while before each."""

    status: str = "200 OK"
    headers: str = _JSON
    parts: Callable[[], Iterator[bytes]]
    drips: bool = False


def _endless(part: bytes) -> Callable[[], Iterator[bytes]]:
    def parts() -> Iterator[bytes]:
        while True:
            yield part

    return parts


def _once(content: bytes) -> Callable[[], Iterator[bytes]]:
    return lambda: iter([content])


async def _read_request(reader: asyncio.StreamReader) -> None:
    """Reads the whole request: a connection that is closed with something unread is reset, and its answer lost."""
    head = await reader.readuntil(b"\r\n\r\n")
    fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n") if b": " in line)
    await reader.readexactly(int(fields.get(b"content-length", b"0")))


@asynccontextmanager
async def _serve(answer: _Answer) -> AsyncIterator[str]:
    async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await _read_request(reader)
            writer.write(f"HTTP/1.1 {answer.status}\r\n{answer.headers}Connection: close\r\n\r\n".encode())
            for part in answer.parts():
                if answer.drips:
                    await asyncio.sleep(0.05)
                writer.write(part)
                await writer.drain()
        except ConnectionError:
            """The client has hung up, which is what is tested."""
        finally:
            writer.close()

    server = await asyncio.start_server(respond, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def _use(client: _Client, work: Awaitable[object]) -> None:
    """Waits for what a client does, and closes the client."""
    try:
        await work
    finally:
        await client.close()


async def _chat(url: str, seconds: float, on_token: OnToken | None = None) -> None:
    endpoint = Endpoint(base_url=url, api_key=_KEY, timeout=seconds)
    await _use(endpoint, OpenAIChat("m", endpoint).complete(ask("q"), Trace(), on_token))


async def _embed(url: str, seconds: float) -> None:
    embedder = OpenAIEmbedder(model="m", base_url=url, api_key=_KEY, timeout_seconds=seconds, retries=0)
    await _use(embedder, embedder.embed_passages(["a"]))


async def _measure_dimension(url: str, seconds: float) -> None:
    embedder = OpenAIEmbedder(model="m", base_url=url, api_key=_KEY, timeout_seconds=seconds, retries=0)
    await asyncio.to_thread(lambda: embedder.dimension)


async def _rerank(url: str, seconds: float) -> None:
    reranker = HttpReranker(url=url, api_key=_KEY, timeout=seconds)
    await _use(reranker, reranker.rank("q", ["a"]))


async def _search(engine: type[SearxngWebSearch | TavilyWebSearch], url: str, seconds: float) -> None:
    opened = engine(url=url, api_key=_KEY, timeout=seconds)
    await _use(opened, opened.search("q", 3))


_CLIENTS: dict[str, Callable[[str, float], Awaitable[None]]] = {
    "chat": _chat,
    "chat stream": partial(_chat, on_token=lambda _: None),
    "embedding": _embed,
    "dimension": _measure_dimension,
    "reranker": _rerank,
    "searxng": partial(_search, SearxngWebSearch),
    "tavily": partial(_search, TavilyWebSearch),
}
_WHOLE = [name for name in _CLIENTS if name != "chat stream"]


async def _fail(client: str, answer: _Answer, seconds: float = 60) -> str:
    async with _serve(answer) as url:
        with pytest.raises(HopweaveError) as caught:
            await _CLIENTS[client](url, seconds)
    said = str(caught.value)
    assert url in said, "it names the endpoint"
    assert _KEY.get_secret_value() not in said
    assert len(said) < 1000
    return said if isinstance(caught.value, ModelFailed) else f"temporary: {said}"


@pytest.mark.parametrize("client", _CLIENTS)
async def test_a_compressed_answer_is_not_unpacked(client: str) -> None:
    bomb = gzip.compress(b" " * 100 * _MEGABYTE)
    headers = f"{_EVENTS if client == 'chat stream' else _JSON}Content-Encoding: gzip\r\n"
    said = await _fail(client, _Answer(headers=headers, parts=_once(bomb)))
    assert "sent its answer compressed (gzip), which was not asked for" in said


@pytest.mark.parametrize("client", _WHOLE)
async def test_an_endless_answer_is_cut_off(client: str) -> None:
    said = await _fail(client, _Answer(parts=_endless(b" " * _MEGABYTE)))
    assert "sent more than" in said
    assert "MB" in said


@pytest.mark.parametrize("client", [name for name in _WHOLE if name != "chat"])
async def test_an_answer_that_comes_byte_by_byte_is_cut_off(client: str) -> None:
    """Each byte comes in time. A chat has a timer of its own."""
    said = await _fail(client, _Answer(parts=_endless(b" "), drips=True), seconds=1)
    assert "did not end its answer within 1 seconds" in said or "did not answer within 1 seconds" in said


@pytest.mark.parametrize("client", _WHOLE)
async def test_an_answer_that_is_nested_too_deeply_is_named(client: str) -> None:
    said = await _fail(client, _Answer(parts=_once(_DEEP)))
    assert "nested too deeply" in said


async def test_an_event_that_is_nested_too_deeply_is_named() -> None:
    said = await _fail("chat stream", _Answer(headers=_EVENTS, parts=_once(b"data: " + _DEEP + b"\n\n")))
    assert "nested too deeply" in said


@pytest.mark.parametrize("lines", [b"x" * _MEGABYTE, b"data:ab\r\n" * 100_000])
async def test_an_event_without_end_is_cut_off(lines: bytes) -> None:
    said = await _fail("chat stream", _Answer(headers=_EVENTS, parts=_endless(lines)))
    assert "sent an event of more than 8 MB" in said


@pytest.mark.parametrize("end", ["\n\n", "\r\n\r\n", "\r\r"])
async def test_many_events_are_no_long_one(end: str) -> None:
    """Whose ends are spread over parts, too."""
    event = f"data: {json.dumps({'choices': [], 'more': 'x' * 1_000_000})}{end}".encode()
    halves = [event[: -len(end) + 1], event[-len(end) + 1 :]]
    said = await _fail("chat stream", _Answer(headers=_EVENTS, parts=lambda: iter(halves * 20)))
    assert "answered without any choice" in said


@pytest.mark.parametrize("client", _WHOLE)
async def test_an_answer_of_too_many_values_is_not_parsed(client: str) -> None:
    said = await _fail(client, _Answer(parts=_once(b'{"x":[' + b"[]," * 2_000_001 + b"[]]}")))
    assert "sent more than 2,000,000 values" in said


@pytest.mark.parametrize("client", _CLIENTS)
@pytest.mark.parametrize("charset", ["hex", "zlib", "base64", "punycode", "unicode_escape", "nonsense"])
async def test_the_codec_that_an_error_names_is_not_used(client: str, charset: str) -> None:
    headers = f"Content-Type: text/plain; charset={charset}\r\n"
    content = "würde-".encode() + b"ab" * 100_000
    said = await _fail(client, _Answer(status="500 Fault", headers=headers, parts=_once(content)))
    assert "500" in said


@pytest.mark.parametrize("client", ["chat", "chat stream", "embedding"])
async def test_a_redirect_is_not_followed(client: str) -> None:
    async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await _read_request(reader)
        writer.write(b"HTTP/1.1 302 Found\r\nLocation: http://a:pw@127.0.0.1:1/x?key=1\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(respond, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        with pytest.raises(HopweaveError, match="answered 302") as caught:
            await _CLIENTS[client](url, 60)
    if client != "embedding":
        assert f"m at {url} answered 302, a redirect to http://127.0.0.1:1/x, which is not" in str(caught.value)
        assert "set HOPWEAVE_LLM__BASE_URL (or the role's own) to the address that answers" in str(caught.value)


@pytest.mark.parametrize("usage", [(-1, 5), (5, -1), (10**400, 5), (1.5, 5), ([], {})])
async def test_usage_that_cannot_be_is_estimated(usage: tuple[object, object]) -> None:
    choice = {"index": 0, "message": {"role": "assistant", "content": "yes"}, "finish_reason": "stop"}
    counts = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": 10}
    content = json.dumps({"id": "1", "object": "chat.completion", "choices": [choice], "usage": counts}).encode()
    async with _serve(_Answer(parts=_once(content))) as url:
        endpoint = Endpoint(base_url=url, timeout=20)
        told = await OpenAIChat("m", endpoint).complete(ask("12345678"), Trace())
        await endpoint.close()
    assert told == Completion(text="yes", model="m", prompt_tokens=2, completion_tokens=1, estimated=True)
