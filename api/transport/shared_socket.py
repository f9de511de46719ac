"""One address for several processes, each of which listens on a socket of its own.

The system then divides connections among the processes. With one socket for all, asyncio accepts as many connections as
wait: the process that woke first took nearly all of them, kept them, and answered alone.
"""

import socket
import sys
from typing import Any

__all__ = ["SharedAddress", "can_share"]


def can_share() -> bool:
    """Whether this system divides connections among sockets of one address. Others give them all to one of them."""
    return sys.platform == "linux"


class SharedAddress(socket.socket):
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
