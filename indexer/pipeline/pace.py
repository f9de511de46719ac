"""How a worker goes about it."""

from dataclasses import dataclass

__all__ = ["Pace"]


@dataclass(frozen=True, kw_only=True)
class Pace:
    """How a worker claims: leases in seconds, batches in bytes of content, and how long one call of `work` may last."""

    lease_seconds: float
    renew_seconds: float
    batch_bytes: int
    task_seconds: float
    retry_seconds: float

    @property
    def grace(self) -> float:
        """Seconds after which a worker that lost its lease cannot write to a view any more."""
        return self.lease_seconds + self.task_seconds
