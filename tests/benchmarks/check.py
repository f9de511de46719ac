"""A measured value, beside the one that it should reach."""

from dataclasses import dataclass
from typing import Literal

__all__ = ["Check", "at_least", "at_most", "figure", "markdown"]


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
