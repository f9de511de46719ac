"""Asks a server for its health ten times a second until standard input is closed, and reads its memory.

`python -m tests.benchmarks.hostile.monitor PORT PID` prints a report.
"""

import json
import sys
import threading
import time

import httpx

from tests.benchmarks.operation.processes import memory_mb

__all__: list[str] = []

_PAUSE = 0.1
_MOST_SECONDS = 30.0


def _main(port: int, pid: int) -> None:
    ended = threading.Event()

    def wait_for_end() -> None:
        sys.stdin.read()
        ended.set()

    threading.Thread(target=wait_for_end, daemon=True).start()
    waits: list[float] = []
    failures, most = 0, 0.0
    while not ended.wait(_PAUSE):
        began = time.perf_counter()
        try:
            is_told = httpx.get(f"http://127.0.0.1:{port}/healthz", timeout=_MOST_SECONDS).status_code == 200
        except httpx.HTTPError:
            is_told = False
        waits.append(time.perf_counter() - began)
        failures += not is_told
        most = max(most, memory_mb(pid))
    print(json.dumps({"waits": waits, "failures": failures, "megabytes": most}))


if __name__ == "__main__":
    _main(int(sys.argv[1]), int(sys.argv[2]))
