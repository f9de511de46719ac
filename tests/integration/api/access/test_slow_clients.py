"""Clients that send slowly, on real sockets to a real server process's protocol."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest
import uvicorn
from starlette.types import Message

from api.transport.bodies import BodyLimit, limit_body
from api.transport.connections import make_protocol
from core.settings import ApiSettings
from tests.integration.api.conftest import MakeServer

_CLOSED = b""


@pytest.fixture
async def port(make_server: MakeServer) -> AsyncIterator[int]:
    settings = ApiSettings(body_seconds=0.5, body_bytes_per_second=1000)
    server = await make_server(settings)
    replaced = settings.model_copy(update={"header_seconds": 1.5})
    config = uvicorn.Config(
        server.app, host="127.0.0.1", port=0, lifespan="off", log_config=None, http=make_protocol(replaced)
    )
    serving = uvicorn.Server(config)
    with contextlib.suppress(ValueError):
        serving.install_signal_handlers = lambda: None  # type: ignore[attr-defined] # of older releases
    task = asyncio.create_task(serving.serve())
    async with asyncio.timeout(60):
        while not serving.started:  # noqa: ASYNC110 - uvicorn has no event for it
            await asyncio.sleep(0.01)
    yield serving.servers[0].sockets[0].getsockname()[1]
    serving.should_exit = True
    await task


@pytest.mark.parametrize(
    "sent", [b"", b"GET /healthz HTTP/1.1\r\n", b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: "]
)
async def test_a_connection_without_a_whole_request_is_closed(port: int, sent: bytes) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    async with asyncio.timeout(30):
        writer.write(sent)
        for _ in range(100):  # a byte now and then keeps no connection open
            if sent.endswith(b": "):
                with contextlib.suppress(ConnectionError):
                    writer.write(b"a")
                    await writer.drain()
            with contextlib.suppress(TimeoutError, ConnectionError):
                assert await asyncio.wait_for(reader.read(1), 0.1) == _CLOSED
                break
        else:
            pytest.fail("the connection is open")
    writer.close()


async def test_a_second_request_has_the_same_time(port: int) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    async with asyncio.timeout(30):
        writer.write(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200")
        writer.write(b"GET /healthz HT")
        assert b"HTTP/1.1" not in await reader.read()
    writer.close()


@pytest.mark.parametrize("pause", [None, 0.05])
async def test_a_slow_body_is_refused(port: int, pause: float | None) -> None:
    """One that stops, and one of which a byte comes now and then."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    headers = f"Host: 127.0.0.1:{port}\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n"
    writer.write(f"POST /v1/corpora HTTP/1.1\r\n{headers}{{".encode())

    async def drip() -> None:
        with contextlib.suppress(ConnectionError):
            while pause:
                await asyncio.sleep(pause)
                writer.write(b" ")
                await writer.drain()

    dripping = asyncio.create_task(drip())
    async with asyncio.timeout(30):
        head = await reader.readuntil(b"\r\n\r\n")
    dripping.cancel()
    assert head.startswith(b"HTTP/1.1 408")
    assert b"onnection: close" in head
    writer.close()


async def test_work_that_takes_longer_than_a_body_may_is_not_cut_off() -> None:
    """After its end, a body is waited for no more: only the client's going is."""
    messages: list[Message] = [{"type": "http.request", "body": b"{}"}, {"type": "http.disconnect"}]

    async def receive() -> Message:
        await asyncio.sleep(0 if len(messages) == 2 else 0.1)
        return messages.pop(0)

    limited = limit_body(receive, BodyLimit(1, "X"), ApiSettings(body_seconds=0.05))
    assert [(await limited())["type"] for _ in range(2)] == ["http.request", "http.disconnect"]


async def test_many_idle_connections_leave_the_server_answering(port: int) -> None:
    """As many as the documentation says: each is closed after the time for headers."""
    idle = [await asyncio.open_connection("127.0.0.1", port) for _ in range(300)]
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    async with asyncio.timeout(60):
        writer.write(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
        assert (await reader.read()).startswith(b"HTTP/1.1 200")
        for one, _ in idle:
            with contextlib.suppress(ConnectionError):
                assert await one.read() == _CLOSED
    for _, one in [*idle, (reader, writer)]:
        one.close()
