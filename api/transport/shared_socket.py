"""Sockets on which processes listen; and one address for several processes, each of which has a socket of its own.

The system then divides connections among the processes. With one socket for all, asyncio accepts as many connections as
wait: the process that woke first took nearly all of them, kept them, and answered alone.
"""

import socket
import sys
from typing import Any

__all__ = ["ListeningSocket", "SharedAddress", "bind_all", "can_share"]

_WAITING = 4096
"""Connections that may wait to be accepted, unless the system allows fewer. A client that finds no place among them
tries again after a second.
"""


def can_share() -> bool:
    """Whether this system divides connections among sockets of one address. Other systems give all to one."""
    return sys.platform == "linux"


class ListeningSocket(socket.socket):
    """A socket on which more connections may wait than are accepted in a round of the event loop: asyncio has one
    number for both.
    """

    def listen(self, backlog: int = _WAITING, /) -> None:
        super().listen(max(backlog, _WAITING))


def bind_all(host: str, port: int) -> list[ListeningSocket]:
    """Returns a socket for each address of a host, bound as asyncio binds its own. Raises `OSError` if it cannot be."""
    made: list[ListeningSocket] = []
    try:
        for family, kind, protocol, _, address in socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        ):
            if family == socket.AF_INET6 and not socket.has_dualstack_ipv6():
                continue
            bound = ListeningSocket(family, kind, protocol)
            made.append(bound)
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            bound.bind(address)
    except OSError:
        for one in made:
            one.close()
        raise
    return made


class SharedAddress(ListeningSocket):
    """A bound socket that reserves an address. Sent to another process, it becomes another socket of this address.

    Only processes of the same user can bind the address, too. A process that ends takes its socket with it, so no
    connection waits for it.
    """

    @classmethod
    def bind_to(cls, family: int, address: Any) -> "SharedAddress":
        """Raises `OSError` if the address is in use."""
        # asyncio turns Nagle's algorithm off for connections whose protocol is known: else responses wait 40 ms.
        made = cls(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        try:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            made.bind(address)
        except OSError:
            made.close()
            raise
        return made

    def __reduce__(self) -> Any:
        return SharedAddress.bind_to, (int(self.family), self.getsockname())
