"""Sockets of one address, in the form in which processes of a server receive them."""

import asyncio
import errno
import pickle
import select
import socket
from contextlib import ExitStack

import pytest

from api.transport.connections import SharedAddress, can_share

pytestmark = pytest.mark.skipif(not can_share(), reason="this system gives all connections to one of the sockets")

_CONNECTIONS = 64
_FEWEST = 8


@pytest.mark.parametrize(("family", "host"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")])
def test_connections_are_divided_among_the_sockets(family: int, host: str) -> None:
    with ExitStack() as stack:
        reserved = stack.enter_context(SharedAddress.bind_to(family, (host, 0)))
        sent = pickle.dumps(reserved)
        both = [stack.enter_context(pickle.loads(sent)) for _ in range(2)]  # noqa: S301  # as it is sent to them
        for one in both:
            one.listen(_CONNECTIONS)
            one.setblocking(False)
        for _ in range(_CONNECTIONS):
            stack.enter_context(socket.create_connection(reserved.getsockname()[:2], timeout=30))
        accepted = [_accept_all(one, stack) for one in both]
    assert sum(accepted) == _CONNECTIONS
    assert min(accepted) >= _FEWEST


def test_the_address_is_in_use_for_everyone_else() -> None:
    with SharedAddress.bind_to(socket.AF_INET, ("127.0.0.1", 0)) as reserved:
        reserved.listen()
        with socket.socket() as other:
            other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            with pytest.raises(OSError) as caught:  # noqa: PT011  # its number is looked at
                other.bind(reserved.getsockname())
    assert caught.value.errno == errno.EADDRINUSE


async def test_responses_are_sent_without_a_delay() -> None:
    """With Nagle's algorithm, the second part of a response waits until the client has acknowledged the first."""
    accepted: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def look(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = writer.get_extra_info("socket")
        accepted.set_result(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
        writer.close()

    with SharedAddress.bind_to(socket.AF_INET, ("127.0.0.1", 0)) as reserved:
        sent = pickle.loads(pickle.dumps(reserved))  # noqa: S301  # as it is sent to a process
        async with await asyncio.start_server(look, sock=sent):
            with socket.create_connection(reserved.getsockname(), timeout=30):
                assert await accepted


def _accept_all(listening: socket.socket, stack: ExitStack) -> int:
    count = 0
    while select.select([listening], [], [], 0)[0]:
        connection, _ = listening.accept()
        stack.enter_context(connection)
        count += 1
    return count
