"""Detects features of this machine's processor."""

from functools import cache
from pathlib import Path

__all__ = ["has_bfloat16"]

_CPUINFO = Path("/proc/cpuinfo")
_BFLOAT16 = {"avx512_bf16", "amx_bf16", "bf16"}  # the first two on x86, the last on arm


@cache
def has_bfloat16() -> bool:
    """Returns whether the processor multiplies bfloat16 matrices; emulated, they are slower than float32."""
    try:
        lines = _CPUINFO.read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:  # not Linux; float32 works everywhere
        return False
    return any(
        _BFLOAT16.intersection(value.split())
        for name, _, value in (line.partition(":") for line in lines)
        if name.strip() in {"flags", "Features"}
    )
