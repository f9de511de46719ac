"""What the figures were measured on."""

import os
import platform
import re
from pathlib import Path
from typing import Any

__all__ = ["describe"]


def describe() -> dict[str, Any]:
    """Processor, cores that this process may use, memory, versions; `load` tells whether others were at work."""
    return {
        "cpu": _found(r"^model name\s*:\s*(.+)$", "/proc/cpuinfo") or platform.processor(),
        "flags": [flag for flag in ("avx512_bf16", "amx_bf16", "avx512f", "avx2") if _has(flag)],
        "cores": len(os.sched_getaffinity(0)),
        "memory_gb": round(int(_found(r"^MemTotal:\s+(\d+) kB$", "/proc/meminfo") or 0) / 2**20, 1),
        "load": os.getloadavg()[0],
        "system": platform.platform(terse=True),
        "python": platform.python_version(),
    }


def _has(flag: str) -> bool:
    return _found(rf"^flags\s*:.*\b({flag})\b", "/proc/cpuinfo") is not None


def _found(pattern: str, path: str) -> str | None:
    try:
        found = re.search(pattern, Path(path).read_text(encoding="utf-8"), re.MULTILINE)
    except OSError:
        return None
    return found[1] if found else None
