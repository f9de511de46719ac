"""Clients that send slowly, on real sockets to a real server process's protocol."""

import asyncio
import contextlib
import select
import socket
import sys
from collections.abc import AsyncIterator

import pytest
import uvicorn
from starlette.types import ASGIApp, Message, Receive, Send
from starlette.types import Scope as RequestScope

from api.transport.bodies import BodyLimit, limit_body
from api.transport.connections import make_protocol
from core.ids import document_id
from core.keys import Scope, make_key
from core.settings import ApiSettings
from tests.integration.api.conftest import MakeServer

_CLOSED = b""
_BUFFER_BYTES = 4096
"""What the system may keep of a connection on each side; it takes twice as much."""


@pytest.fixture
async def port(make_server: MakeServer) -> AsyncIterator[int]:
    """Of a server that closes a connection without a whole request after 1.5 seconds."""
    server = await make_server(ApiSettings())
    async with _listening(server.app, ApiSettings(header_seconds=1.5)) as port:
        yield port


@pytest.fixture
async def port_of_bodies(make_server: MakeServer) -> AsyncIterator[int]:
    """Of a server that waits for half a second for a body."""
    settings = ApiSettings(body_seconds=0.5, body_bytes_per_second=1000)
    server = await make_server(settings)
    async with _listening(server.app, settings) as port:
        yield port


@contextlib.asynccontextmanager
async def _listening(
    app: ASGIApp, settings: ApiSettings, buffer_bytes: int | None = _BUFFER_BYTES
) -> AsyncIterator[int]:
    config = uvicorn.Config(app, lifespan="off", log_config=None, http=make_protocol(settings))
    serving = uvicorn.Server(config)
    with contextlib.suppress(ValueError):
        serving.install_signal_handlers = lambda: None  # type: ignore[attr-defined] # of older releases
    with socket.create_server(("127.0.0.1", 0)) as bound:
        if buffer_bytes is not None:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, buffer_bytes)
        task = asyncio.create_task(serving.serve(sockets=[bound]))
        async with asyncio.timeout(60):
            while not serving.started:  # noqa: ASYNC110 - uvicorn has no event for it
                await asyncio.sleep(0.01)
        yield bound.getsockname()[1]
        serving.should_exit = True
        await task


async def test_an_export_that_waits_for_its_client_ends_when_a_document_is_taken_away(make_server: MakeServer) -> None:
    """And what the server still holds of it is discarded."""
    server = await make_server(ApiSettings())
    await server.corpus()
    large = {"notes": ["x" * 600] * 90}
    for number in range(6):
        await server.ingest({"key": f"{number}", "text": "A note.", "metadata": large, "access": ["group:b"]})
    key, text = make_key("test", [Scope.READ, Scope.EXPORT], principals=["group:b"])
    await server.container.record.keys.create(key)
    server.app.state.keyring._read_at = None
    await server.app.state.keyring.refresh()
    corpus = await server.container.record.corpora.get("people")
    loop = asyncio.get_running_loop()
    async with _listening(server.app, ApiSettings()) as port, asyncio.timeout(60):
        with socket.socket() as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER_BYTES)
            client.setblocking(False)
            await loop.sock_connect(client, ("127.0.0.1", port))
            head = f"Host: 127.0.0.1:{port}\r\nAuthorization: Bearer {text}\r\n\r\n"
            await loop.sock_sendall(client, f"GET /v1/corpora/people/export HTTP/1.1\r\n{head}".encode())
            begun = await loop.sock_recv(client, 12)
            assert begun == b"HTTP/1.1 200"
            await server.container.record.submissions.set_access(corpus.id, [document_id("5")], ("group:a",))
            received = await _receive_what_a_reset_left(client)
    assert received.count(b"x" * 600) < 90  # of some 6 * 90


async def _receive_what_a_reset_left(client: socket.socket) -> bytes:
    poll = select.poll()
    poll.register(client, 0)  # it tells of a reset, and not of bytes, which stay unread
    while not poll.poll(0):  # noqa: ASYNC110 - it has no event
        await asyncio.sleep(0.05)
    received = b""
    with contextlib.suppress(ConnectionResetError):
        while piece := client.recv(65_536):
            received += piece
    return received


_PIECE = b"x" * 65_536
_PIECES = 24
_START: Message = {"type": "http.response.start", "status": 200, "headers": []}


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no bound of what they hold unsent")
async def test_the_system_takes_little_of_a_response_that_its_client_does_not_read() -> None:
    """So a response of 1.5 MB waits in the server, which can break it off. The system has its own buffers here: without
    the bound, they take all of it at once.
    """
    taken_away, is_over = asyncio.Event(), asyncio.Event()
    taken = 0

    async def watch() -> None:
        await taken_away.wait()
        raise PermissionError("a document was taken away")

    async def app(_scope: RequestScope, _receive: Receive, send: Send) -> None:
        nonlocal taken
        try:
            async with asyncio.TaskGroup() as group:
                watching = group.create_task(watch())
                await send(_START)
                for _ in range(_PIECES):  # nothing else runs here until the server has to wait
                    await send({"type": "http.response.body", "body": _PIECE, "more_body": True})
                    taken += 1
                await send({"type": "http.response.body"})
                watching.cancel()
        finally:
            is_over.set()

    async with _listening(app, ApiSettings(), buffer_bytes=None) as port, asyncio.timeout(60):
        with socket.socket() as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER_BYTES)
            client.setblocking(False)
            loop = asyncio.get_running_loop()
            await loop.sock_connect(client, ("127.0.0.1", port))
            await loop.sock_sendall(client, b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            assert await loop.sock_recv(client, 12) == b"HTTP/1.1 200"
            taken_away.set()
            await is_over.wait()
            assert taken < _PIECES
            received = await _receive_what_a_reset_left(client)
    assert len(received) < 4 * _BUFFER_BYTES


async def test_an_application_that_ends_late_breaks_off_no_later_response() -> None:
    """Its response was complete, and the client has sent the next request on the same connection."""
    has_begun, is_over = asyncio.Event(), asyncio.Event()

    async def app(scope: RequestScope, _receive: Receive, send: Send) -> None:
        await send(_START)
        if scope["path"] == "/first":
            await send({"type": "http.response.body", "body": b"first"})
            await has_begun.wait()
            is_over.set()
            return
        await send({"type": "http.response.body", "body": b"sec", "more_body": True})
        has_begun.set()
        await is_over.wait()
        await send({"type": "http.response.body", "body": b"ond"})

    async with _listening(app, ApiSettings()) as port, asyncio.timeout(60):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for path in ("first", "second"):
            writer.write(f"GET /{path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
            assert (await reader.readuntil(b"\r\n0\r\n\r\n")).startswith(b"HTTP/1.1 200")
        writer.close()


@pytest.mark.parametrize(
    "sent", [b"", b"GET /healthz HTTP/1.1\r\n", b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: "]
)
async def test_a_connection_without_a_whole_request_is_closed(port: int, sent: bytes) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    async with asyncio.timeout(120):
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


async def _ask_whether_healthy(port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Sends a request, and returns its connection after the answer.

    A machine that pauses for longer than the server waits for a request makes the server close the connection.
    """
    for _ in range(10):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            writer.write(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
            return reader, writer
        writer.close()
    raise AssertionError("the server closes each connection before it answers")


async def test_a_second_request_has_the_same_time(port: int) -> None:
    async with asyncio.timeout(120):
        reader, writer = await _ask_whether_healthy(port)
        writer.write(b"GET /healthz HT")
        assert b"HTTP/1.1" not in await reader.read()
    writer.close()


@pytest.mark.parametrize("pause", [None, 0.05])
async def test_a_slow_body_is_refused(port_of_bodies: int, pause: float | None) -> None:
    """One that stops, and one of which a byte comes now and then."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port_of_bodies)
    headers = f"Host: 127.0.0.1:{port_of_bodies}\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n"
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
        if len(messages) == 1:
            await asyncio.sleep(0.1)
        return messages.pop(0)

    limited = limit_body(receive, BodyLimit(1, "X"), ApiSettings(body_seconds=0.05))
    assert [(await limited())["type"] for _ in range(2)] == ["http.request", "http.disconnect"]


async def test_many_idle_connections_leave_the_server_answering(port: int) -> None:
    """As many as the documentation says: each is closed after the time for headers."""
    idle = [await asyncio.open_connection("127.0.0.1", port) for _ in range(300)]
    async with asyncio.timeout(120):
        reader, writer = await _ask_whether_healthy(port)
        for one, _ in idle:
            with contextlib.suppress(ConnectionError):
                assert await one.read() == _CLOSED
    for _, one in [*idle, (reader, writer)]:
        one.close()
