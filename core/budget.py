"""The limits on what a question or a job may spend."""

from dataclasses import dataclass

__all__ = ["Budget"]


@dataclass(frozen=True, kw_only=True)
class Budget:
    """Limits on model calls, tokens (prompt and completion together) and wall seconds; None is no limit."""

    calls: int | None = None
    tokens: int | None = None
    seconds: float | None = None
