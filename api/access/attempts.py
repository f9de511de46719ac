"""`Attempts`: how often an address may show a wrong key in a minute, so that nobody tries keys one after another."""

import ipaddress
import math
import time

from core.errors import RateLimited

__all__ = ["MOST", "Attempts"]

MOST = 10
"""Wrong keys of one address in a minute, per process."""

_SECONDS = 60.0
_ADDRESSES = 10_000
_NETWORK_BITS = 64


class Attempts:
    """Counts in memory. An address of IPv6 counts with its network: one machine has all addresses of it."""

    def __init__(self) -> None:
        self._wrong: dict[str, tuple[float, int]] = {}
        """For each address the end of its minute, and the number of wrong keys; the oldest first."""

    def check(self, address: str) -> None:
        """Raises `RateLimited` if the address has shown as many wrong keys as it may."""
        end, count = self._wrong.get(_network(address), (0.0, 0))
        left = end - time.monotonic()
        if count >= MOST and left > 0:
            raise RateLimited(
                f"this address has shown {MOST} wrong keys in a minute; try again in {math.ceil(left)} seconds",
                retry_after=left,
            )

    def count(self, address: str) -> None:
        """Counts a wrong key."""
        now = time.monotonic()
        network = _network(address)
        end, count = self._wrong.pop(network, (0.0, 0))
        self._wrong[network] = (end, count + 1) if end > now else (now + _SECONDS, 1)
        if len(self._wrong) > _ADDRESSES:
            self._wrong = {one: kept for one, kept in self._wrong.items() if kept[0] > now}
        while len(self._wrong) > _ADDRESSES:
            del self._wrong[next(iter(self._wrong))]


def _network(address: str) -> str:
    try:
        found = ipaddress.ip_address(address)
    except ValueError:  # the name of a socket, or none
        return address
    if found.version == 4:
        return address
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return str(mapped or ipaddress.ip_network((found, _NETWORK_BITS), strict=False))
