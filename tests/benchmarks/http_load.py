"""Light clients: HTTP/1.1 over raw sockets, one connection each, that are kept.

`python -m tests.benchmarks.http_load PORT PATH CLIENTS SECONDS [PAUSE]` reads bodies from stdin, one JSON a line, sends
each once, and prints a report. With PAUSE, it sends them again and again until the time is over, and a client reads a
response for so many seconds before it asks again. It runs in a process of its own and does as little as it can, for it
shares the machine with what it measures.
"""

import asyncio
import json
import resource
import sys
import time
from collections.abc import Iterator
from itertools import cycle

__all__: list[str] = []


async def _main(port: int, path: str, clients: int, seconds: float, pause: float | None) -> None:
    bodies = [_write_request(port, path, line.strip()) for line in sys.stdin.buffer if line.strip()]
    requests: Iterator[bytes] = iter(bodies) if pause is None else cycle(bodies)
    began = time.perf_counter()
    end = began + seconds
    statuses: dict[str, int] = {}
    latencies: list[float] = []

    async def ask() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while (sent := time.perf_counter()) < end and (request := next(requests, None)):
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            await reader.readexactly(_read_length(head))
            latencies.append(time.perf_counter() - sent)
            status = head[9:12].decode()
            statuses[status] = statuses.get(status, 0) + 1
            if pause:
                await asyncio.sleep(pause)
        writer.close()
        await writer.wait_closed()

    ended = await asyncio.gather(*(ask() for _ in range(clients)), return_exceptions=True)
    broken = [repr(one) for one in ended if one is not None]
    used = resource.getrusage(resource.RUSAGE_SELF)
    report = {
        "seconds": time.perf_counter() - began,
        "statuses": statuses,
        "broken": broken,
        "errors": len(broken) + sum(count for status, count in statuses.items() if status != "200"),
        "latencies": latencies,
        "cpu_seconds": used.ru_utime + used.ru_stime,
    }
    print(json.dumps(report))


def _write_request(port: int, path: str, body: bytes) -> bytes:
    """Returns the bytes of a POST of JSON."""
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


def _read_length(head: bytes) -> int:
    """Returns the length of the body that follows the head of a response."""
    for line in head.split(b"\r\n"):
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            return int(value)
    raise ValueError(f"an answer without a length cannot be measured: {head[:200]!r}")


if __name__ == "__main__":
    _pause = float(sys.argv[5]) if len(sys.argv) > 5 else None
    asyncio.run(_main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), float(sys.argv[4]), _pause))
