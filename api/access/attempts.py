"""`Attempts`: how often an address may show a wrong key in a minute, so that nobody tries keys one after another.

A right key is accepted all the same, else whoever is behind the same proxy could keep its holder out. Only keys that
might be guessed are not.
"""

import ipaddress
import math
import time

from api.access.caller import Caller
from core.errors import RateLimited

__all__ = ["MOST", "Attempts", "network_of"]

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

    def judge(self, address: str, found: Caller | str, *, guessable: bool) -> Caller | str:
        """Returns the holder of a key that an address has shown, or what is wrong with the key, which is counted.

        `guessable` says whether the key is short. Raises `RateLimited` for a wrong or short key if the address has
        shown as many wrong keys as it may. No call waits in between, so keys that are shown at the same time count.
        """
        network, now = network_of(address), time.monotonic()
        end, count = self._wrong.get(network, (0.0, 0))
        is_exceeded = count >= MOST and end > now
        if is_exceeded and (guessable or isinstance(found, str)):
            raise RateLimited(
                f"this address has shown {MOST} wrong keys in a minute; try again in {math.ceil(end - now)} seconds",
                retry_after=end - now,
            )
        if isinstance(found, str):
            self._count(network, now)
        return found

    def _count(self, network: str, now: float) -> None:
        end, count = self._wrong.pop(network, (0.0, 0))
        self._wrong[network] = (end, count + 1) if end > now else (now + _SECONDS, 1)
        if len(self._wrong) > _ADDRESSES:
            self._wrong = {one: kept for one, kept in self._wrong.items() if kept[0] > now}
        while len(self._wrong) > _ADDRESSES:
            del self._wrong[next(iter(self._wrong))]


def network_of(address: str) -> str:
    """Returns the network of an address of IPv6, since one machine has all addresses of it; any other text as it is."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:  # the name of a socket, or none
        return address
    if found.version == 4:
        return address
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return str(mapped or ipaddress.ip_network((found, _NETWORK_BITS), strict=False))
