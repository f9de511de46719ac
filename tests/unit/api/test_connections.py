"""When a connection whose response is not read is cut off; the loop is a fake, so no time passes."""

import asyncio
import socket
from collections.abc import Callable
from typing import Any, cast

import uvicorn
from uvicorn.server import ServerState

from api.transport.connections import make_protocol
from core.settings import ApiSettings


class _Loop:
    """Keeps what is to be called later, with its delay in seconds."""

    def __init__(self) -> None:
        self.later: list[tuple[float, Callable[..., object], tuple[Any, ...]]] = []

    def call_later(self, delay: float, work: Callable[..., object], *arguments: Any) -> "_Loop":
        self.later.append((delay, work, arguments))
        return self

    def cancel(self) -> None:
        self.later.clear()

    def pass_time(self) -> None:
        [(_, work, arguments)] = self.later
        self.later.clear()
        work(*arguments)


class _Transport:
    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self.unsent = 0
        self.is_aborted = False

    def get_extra_info(self, name: str) -> object:
        return self._connection if name == "socket" else None

    def get_write_buffer_size(self) -> int:
        return self.unsent

    def abort(self) -> None:
        self.is_aborted = True


def test_a_client_that_takes_some_of_a_large_write_keeps_its_connection() -> None:
    """Until it takes nothing for as long as it may."""
    settings = ApiSettings(write_seconds=7)
    loop = _Loop()
    config = uvicorn.Config(lambda: None, log_config=None)  # type: ignore[arg-type]
    config.load()
    make: Any = make_protocol(settings)
    protocol = cast("asyncio.Protocol", make(config=config, server_state=ServerState(), app_state={}, _loop=loop))
    with socket.socket() as connection:
        transport = _Transport(connection)
        protocol.connection_made(cast("asyncio.Transport", transport))
        loop.cancel()  # the wait for a request
        transport.unsent = 4_000_000
        protocol.pause_writing()
        for unsent in (3_900_000, 2_000_000, 1_999_999):
            assert [delay for delay, *_ in loop.later] == [7]
            transport.unsent = unsent
            loop.pass_time()
            assert not transport.is_aborted
        loop.pass_time()
    assert transport.is_aborted
    assert not loop.later
