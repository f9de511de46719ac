"""The memory that the kernel lets this process and its neighbours take: the limit of a container, for one."""

from pathlib import Path

__all__ = ["find_memory_limit"]

_GROUPS = Path("/sys/fs/cgroup")
_FILES = ("memory.max", "memory/memory.limit_in_bytes")  # of version 2 and 1; in a container, they are its own
_UNLIMITED = 1 << 60
"""Version 1 has a number of this size where there is no limit, and version 2 a word."""


def find_memory_limit(groups: Path = _GROUPS) -> int | None:
    """Returns the limit in bytes, or None if there is none, as on systems without control groups."""
    for name in _FILES:
        try:
            said = (groups / name).read_text("ascii").strip()
        except OSError:
            continue
        return int(said) if said.isdigit() and int(said) < _UNLIMITED else None
    return None
