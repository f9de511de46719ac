"""A process that writes the snapshot file of a corpus, or brings it up to date, and ends.

`python -P -m app.worker.snapshot_process CORPUS_ID`. It also ends when its standard input is closed.
"""

import asyncio
import os
import sys
import threading

from app.container import Container
from app.telemetry.logs import configure_logs
from core.settings import Settings, read_settings

_WAIT_SECONDS = 3600.0


def _main() -> None:
    threading.Thread(target=_end_with_parent, name="parent", daemon=True).start()
    settings = read_settings()
    configure_logs(settings.log)
    asyncio.run(_write(settings, sys.argv[1]))


async def _write(settings: Settings, corpus_id: str) -> None:
    """Closing writes the files that are due. Waits for a process that already builds the same snapshot."""
    container = Container(settings)
    try:
        await container.make_snapshots(wait_seconds=_WAIT_SECONDS).get(corpus_id)
    finally:
        await container.close()


def _end_with_parent() -> None:
    os.read(0, 1)  # not by `sys.stdin`, whose lock a process that ends cannot get; nothing is ever written
    os._exit(1)


if __name__ == "__main__":
    _main()
