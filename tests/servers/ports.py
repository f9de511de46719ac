"""TCP ports of loopback."""

import random
import socket
from itertools import islice

# Below the range from which the kernel takes the ports of outgoing connections, so that a port that was found free is
# still free when its server comes to bind it.
RANGE = range(20_000, 32_000)


def free_ports(count: int) -> list[int]:
    """Ports that nothing on this machine listens on, in no order, so that two sessions seldom find the same."""
    found = list(islice((port for port in random.sample(RANGE, len(RANGE)) if is_free(port)), count))
    if len(found) < count:
        raise OSError(f"no {count} free ports in {RANGE}; stop servers that are no longer needed")
    return found


def is_free(port: int) -> bool:
    """True also of a port that only connections of a server that is gone still hold, as servers see it."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def accepts(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=2):
            return True
    except OSError:
        return False
