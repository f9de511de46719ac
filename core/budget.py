"""What a question, or a job, may cost."""

from dataclasses import dataclass

__all__ = ["Budget"]


@dataclass(frozen=True, kw_only=True)
class Budget:
    """Limits on calls of models, tokens (prompt and completion together) and wall seconds. None: no limit."""

    calls: int | None = None
    tokens: int | None = None
    seconds: float | None = None
