"""Networks of addresses: a machine has all addresses of a network of IPv6."""

import ipaddress

__all__ = ["network_of"]

_NETWORK_BITS = 64


def network_of(address: str) -> str:
    """Returns the network of an address of IPv6, any other address as it is, and the name of a socket as it is."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:  # the name of a socket, or none
        return address
    if found.version == 4:
        return address
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return str(mapped or ipaddress.ip_network((found, _NETWORK_BITS), strict=False))
