"""`DeadlineProtocol`: connections on which no whole request begins in time are closed. `serve` gives it to uvicorn.

uvicorn has a time limit for idle connections after a response, and none for a new connection, or for headers of which
some have come.
"""

import asyncio
from functools import partial
from typing import Any, cast

import h11
from uvicorn.config import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

__all__ = ["DeadlineProtocol", "protocol_with_deadline"]


class DeadlineProtocol(H11Protocol):
    """Closes its connection if the headers of a request do not arrive in `header_seconds`.

    The time begins with the connection, or with the first byte after the last request.
    """

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
        *,
        header_seconds: float,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._header_seconds = header_seconds
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as in uvicorn
        super().connection_made(transport)
        self._begin()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is h11.IDLE:
            self._begin()
        else:
            self._end()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end()
        super().connection_lost(exc)

    def _begin(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(self._header_seconds, self._give_up)

    def _end(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        self._deadline = None
        if self.conn.their_state is h11.IDLE and not self.transport.is_closing():
            self.transport.close()


def protocol_with_deadline(header_seconds: float) -> type[asyncio.Protocol]:
    """Returns what uvicorn calls for each connection. It can be pickled for the processes of `--workers`."""
    return cast("type[asyncio.Protocol]", partial(DeadlineProtocol, header_seconds=header_seconds))
