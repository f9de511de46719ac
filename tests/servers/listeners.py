"""Where processes can be reached from this machine's network, as the kernel tells."""

import ipaddress
import re
import sys
from collections.abc import Iterable
from pathlib import Path

_LISTENS = "0A"


def listeners(pids: Iterable[int]) -> set[tuple[str, int]]:
    """Address and port of each TCP socket that one of these listens on; not those in a network of their own."""
    theirs = {inode for pid in pids for inode in _sockets(pid)}
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path(f"/proc/self/net/{table}").read_text("utf-8").splitlines()[1:]:
            fields = line.split()
            if fields[3] == _LISTENS and int(fields[9]) in theirs:
                address, _, port = fields[1].partition(":")
                found.add((_readable(address), int(port, 16)))
    return found


def _sockets(pid: int) -> Iterable[int]:
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        try:
            target = descriptor.readlink()
        except FileNotFoundError:
            continue  # closed since
        if inode := re.fullmatch(r"socket:\[(\d+)\]", str(target)):
            yield int(inode[1])


def _readable(address: str) -> str:
    """The kernel prints words of four bytes, each in this machine's order."""
    words = [int(address[at : at + 8], 16).to_bytes(4, sys.byteorder) for at in range(0, len(address), 8)]
    ip = ipaddress.ip_address(b"".join(words))
    mapped = ip.ipv4_mapped if isinstance(ip, ipaddress.IPv6Address) else None
    return str(mapped or ip)
