"""Attacks of a client, by name. Each runs in a process of its own: `python -m tests.benchmarks.hostile.attacks NAME …`.

An attack goes on until its standard input is closed, and prints what it was answered, by status.
"""

import asyncio
import contextlib
import json
import socket
import sys
import threading
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

import httpx

from tests.hostile_files import HOSTILE_FILES
from tests.twins.chat_server import ChatServer, Reply

__all__ = ["ATTACKS", "CORPUS"]

CORPUS = "attacked"
"""The corpus into which an attacker may write. Honest clients search another one."""

_MOST_SECONDS = 300.0
_READ_ONLY_CONNECTIONS = 1000
_FIELDS = 5_500_000
_AT_ONCE = 8
_ADDRESS = "127.0.0.2"
"""Of attacks with many connections. Honest clients have another address."""
_JSON = {"Content-Type": "application/json"}

Client = httpx.AsyncClient
Told = Counter[str]
Attack = Callable[[Client, Told], Awaitable[None]]


async def _send_unknown_fields(client: Client, told: Told) -> None:
    """Bodies of 59 MB whose fields are all unknown."""
    body = b'{"query":"a",' + b",".join(b'"a%d":1' % n for n in range(_FIELDS)) + b"}"
    while True:
        await _post(client, told, f"/v1/corpora/{CORPUS}/search", content=body, headers=_JSON)


async def _estimate_nested_pages(client: Client, told: Told) -> None:
    """Estimates of pages that are nested deeply, some of whose clients leave."""
    files = {"file": ("a.html", b"<div>" * 200_000 + b"x", "text/html")}

    async def estimate(number: int) -> None:
        while True:
            timeout = 0.5 if number % 2 else _MOST_SECONDS
            with contextlib.suppress(httpx.ReadTimeout):
                await _post(client, told, f"/v1/corpora/{CORPUS}/estimates", files=files, timeout=timeout)
            await asyncio.sleep(0.05)

    await asyncio.gather(*map(estimate, range(_AT_ONCE)))


async def _submit_hostile_files(client: Client, told: Told) -> None:
    """Files that are made to take time and memory."""
    made = {name: make() for name, make in HOSTILE_FILES.items()}
    number = 0
    while True:
        for name, content in made.items():
            number += 1
            files = {"file": (f"{number}-{name}", content, "application/octet-stream")}
            await _post(client, told, f"/v1/corpora/{CORPUS}/documents", files=files)
        await asyncio.sleep(5)


async def _read_nothing(client: Client, told: Told) -> None:
    """A thousand connections that send many requests, and read no response."""
    host, port = client.base_url.host, client.base_url.port
    connections: list[socket.socket] = []
    while True:
        while len(connections) < _READ_ONLY_CONNECTIONS:
            connection = socket.socket()
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            connection.settimeout(5)
            try:
                connection.bind((_ADDRESS, 0))
                connection.connect((host, port))
                connection.setblocking(False)
                connection.send(b"GET /openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 50)
                told["connected"] += 1
            except OSError:
                told["refused"] += 1
            connections.append(connection)
            await asyncio.sleep(0)
        await asyncio.sleep(1)
        for connection in connections[: _READ_ONLY_CONNECTIONS // 10]:
            connection.close()
        del connections[: _READ_ONLY_CONNECTIONS // 10]


async def _send_slowly(client: Client, told: Told) -> None:
    """A thousand connections whose bodies come a byte a second."""
    host, port = client.base_url.host, client.base_url.port
    fields = b"Host: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n"
    head = b"POST /v1/search HTTP/1.1\r\n" + fields + b"\r\n{"

    async def send() -> None:
        while True:
            with contextlib.suppress(OSError):
                reader, writer = await asyncio.open_connection(host, port, local_addr=(_ADDRESS, 0))
                told["connected"] += 1
                writer.write(head)
                while not reader.at_eof():
                    writer.write(b" ")
                    await writer.drain()
                    await asyncio.sleep(1)
                writer.close()
            await asyncio.sleep(1)

    await asyncio.gather(*(send() for _ in range(_READ_ONLY_CONNECTIONS)))


async def _forge(client: Client, told: Told) -> None:
    """Forged cursors and wrong keys, as fast as they are answered."""

    async def forge() -> None:
        while True:
            headers = {"Authorization": "Bearer hw_" + "0" * 40}
            await _get(client, told, f"/v1/corpora/{CORPUS}/documents?cursor=AAAA", headers=headers)

    await asyncio.gather(*(forge() for _ in range(_AT_ONCE)))


async def _answer_with_markers(client: Client, told: Told) -> None:
    """A model whose answers are 200,000 characters of markers."""

    async def ask() -> None:
        while True:
            body = {"question": "Who wrote it?", "reasoner": "vanilla"}
            await _post(client, told, f"/v1/corpora/{CORPUS}/ask", json=body)

    await asyncio.gather(*(ask() for _ in range(2)))


ATTACKS: dict[str, Attack] = {
    "unknown fields": _send_unknown_fields,
    "estimates of nested pages": _estimate_nested_pages,
    "hostile files": _submit_hostile_files,
    "readers that do not read": _read_nothing,
    "bodies that do not come": _send_slowly,
    "forged cursors and wrong keys": _forge,
    "a model that answers with markers": _answer_with_markers,
}


async def _post(client: Client, told: Told, path: str, **more: Any) -> None:
    with contextlib.suppress(httpx.NetworkError, httpx.RemoteProtocolError):
        told[str((await client.post(path, **more)).status_code)] += 1


async def _get(client: Client, told: Told, path: str, **more: Any) -> None:
    with contextlib.suppress(httpx.NetworkError, httpx.RemoteProtocolError):
        told[str((await client.get(path, **more)).status_code)] += 1


async def _run(name: str, port: int) -> Told:
    told: Told = Counter()
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()

    def wait_for_end() -> None:
        sys.stdin.read()
        loop.call_soon_threadsafe(ended.set)

    threading.Thread(target=wait_for_end, daemon=True).start()
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=_MOST_SECONDS) as client:
        attack = asyncio.ensure_future(ATTACKS[name](client, told))
        await asyncio.wait({attack, asyncio.ensure_future(ended.wait())}, return_when=asyncio.FIRST_COMPLETED)
        if attack.done():
            attack.result()
        attack.cancel()
        await asyncio.gather(attack, return_exceptions=True)
    return told


def _main(name: str, port: int, model_port: int) -> None:
    with ChatServer(respond=lambda _: Reply(text="a [1] " * 33_000), port=model_port):
        print(json.dumps(asyncio.run(_run(name, port))))


if __name__ == "__main__":
    _main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
