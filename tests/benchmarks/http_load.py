"""A light client for one endpoint: HTTP/1.1 over raw sockets, a few connections that are kept.

`python -m tests.benchmarks.http_load PORT PATH CLIENTS SECONDS` reads bodies from stdin, one JSON a line, sends each
once, and prints a report. It runs in a process of its own and does as little as it can, for it shares the machine with
what it measures.
"""

import asyncio
import json
import sys
import time
from collections import deque

__all__ = ["read_length", "write_request"]

_LONGEST_HEAD = 65_536


async def _main(port: int, path: str, clients: int, seconds: float) -> None:
    bodies = [line.strip() for line in sys.stdin.buffer if line.strip()]
    waiting = deque(write_request(port, path, body) for body in bodies)
    statuses: dict[str, int] = {}
    began = time.perf_counter()
    async with asyncio.timeout(seconds):
        async with asyncio.TaskGroup() as group:
            for _ in range(clients):
                group.create_task(_client(port, waiting, statuses))
    hold = time.perf_counter() - began
    print(json.dumps({"requests": len(bodies), "seconds": hold, "statuses": statuses}))


def write_request(port: int, path: str, body: bytes) -> bytes:
    """Returns the bytes of a POST of JSON."""
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


async def _client(port: int, waiting: deque[bytes], statuses: dict[str, int]) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=_LONGEST_HEAD)
    while waiting:
        writer.write(waiting.popleft())
        head = await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(read_length(head))
        status = head[9:12].decode()
        statuses[status] = statuses.get(status, 0) + 1
    writer.close()
    await writer.wait_closed()


def read_length(head: bytes) -> int:
    """Returns the length of the body that follows the head of a response."""
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return int(value)
    raise ValueError(f"an answer without a length cannot be measured: {head[:200]!r}")


if __name__ == "__main__":
    asyncio.run(_main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), float(sys.argv[4])))
