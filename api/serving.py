"""`serve`: the server process of `hopweave serve`, with a worker beside it if all data is in one folder."""

import asyncio
import logging
import signal
import sys
from types import FrameType

import uvicorn

from api.guard import is_loopback
from app.container import Container
from app.doctor.readiness import check_at_start
from app.worker.supervision import Supervision
from core.errors import InvalidInput
from core.settings import Settings

__all__ = ["serve"]

_log = logging.getLogger("uvicorn.error")


def serve(settings: Settings, *, host: str, port: int, processes: int) -> None:
    """Serves until SIGINT or SIGTERM.

    Without servers, a worker process runs meanwhile; with servers, workers are started separately. Raises
    `InvalidInput` if other machines could call without a key, and `InvalidSettings` if a server refuses the settings.
    """
    if not is_loopback(host) and not settings.api.keys:
        raise InvalidInput(
            f"--host {host} is reachable from other machines, and no key is set: set HOPWEAVE_API__KEYS (a JSON list "
            "of secrets that callers send as bearer tokens), or listen on 127.0.0.1"
        )
    _check(settings)
    signal.signal(signal.SIGTERM, _exit)  # uvicorn stops first, and then calls this handler
    with Supervision(settings):
        uvicorn.run(
            "api.main:create_app",
            factory=True,
            host=host.strip("[]"),
            port=port,
            workers=processes,
            server_header=False,
        )


def _check(settings: Settings) -> None:
    """Builds the default searcher and reasoner once and checks the servers, so that wrong settings are reported now and
    not by the first question. A server that does not answer yet is no error.
    """

    async def check() -> None:
        container = Container(settings)
        try:
            await check_at_start(container)
            container.reasoner(container.default_reasoner)
        finally:
            await container.close()

    asyncio.run(check())


def _exit(_signal: int, _frame: FrameType | None) -> None:
    """Exits through the `with` blocks, so that the worker is stopped properly."""
    sys.exit(0)
