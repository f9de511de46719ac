"""Clients that search again and again: HTTP/1.1 over raw sockets, one connection each, that are kept.

`python -m tests.benchmarks.operation.clients PORT PATH CLIENTS SECONDS [PAUSE]` reads bodies from stdin, one JSON a
line, sends them in turn until the time is over, and prints a report. It does as little as it can, for it shares the
machine with what it measures. PAUSE are the seconds for which a client reads a response before it asks again.
"""

import asyncio
import json
import resource
import sys
import time
from itertools import cycle

from tests.benchmarks.http_load import read_length, write_request

__all__: list[str] = []


async def _main(port: int, path: str, clients: int, seconds: float, pause: float) -> None:
    requests = cycle([write_request(port, path, line.strip()) for line in sys.stdin.buffer if line.strip()])
    began = time.perf_counter()
    end = began + seconds
    statuses: dict[str, int] = {}
    latencies: list[float] = []

    async def ask() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while (sent := time.perf_counter()) < end:
            writer.write(next(requests))
            head = await reader.readuntil(b"\r\n\r\n")
            await reader.readexactly(read_length(head))
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


if __name__ == "__main__":
    _pause = float(sys.argv[5]) if len(sys.argv) > 5 else 0.0
    asyncio.run(_main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), float(sys.argv[4]), _pause))
