"""A measured value, beside the one that it should reach."""

import os
import platform
import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

__all__ = ["Check", "at_least", "at_most", "describe", "figure", "markdown", "milliseconds"]


@dataclass(frozen=True, kw_only=True)
class Check:
    """`bound` says on which side of `target` the value should lie; without a target it is told and not judged."""

    name: str
    value: float
    bound: Literal["≥", "≤"] = "≥"
    target: float | None = None

    @property
    def reached(self) -> bool:
        if self.target is None:
            return True
        return self.value >= self.target if self.bound == "≥" else self.value <= self.target


def at_least(name: str, value: float, target: float) -> Check:
    return Check(name=name, value=float(value), bound="≥", target=target)


def at_most(name: str, value: float, target: float) -> Check:
    return Check(name=name, value=float(value), bound="≤", target=target)


def figure(name: str, value: float) -> Check:
    return Check(name=name, value=float(value))


def markdown(checks: list[Check]) -> str:
    """A table; what was not reached stands out."""
    lines = ["| what | target | value | reached |", "|---|---:|---:|---|"]
    for check in checks:
        target = "" if check.target is None else f"{check.bound} {check.target:g}"
        reached = "" if check.target is None else "yes" if check.reached else "**no**"
        lines.append(f"| {check.name} | {target} | {check.value:.4g} | {reached} |")
    return "\n".join(lines)


def milliseconds(seconds: Sequence[float]) -> dict[str, float]:
    """Median and 95th percentile, in milliseconds."""
    cuts = statistics.quantiles(seconds, n=20, method="inclusive")
    return {"p50": 1e3 * statistics.median(seconds), "p95": 1e3 * cuts[18]}


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
