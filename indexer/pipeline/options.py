"""The options of a worker: leases, batches and time limits. `HOPWEAVE_WORKER__…` sets them."""

from dataclasses import dataclass

__all__ = ["WorkerOptions"]


@dataclass(frozen=True, kw_only=True)
class WorkerOptions:
    """Leases are in seconds, batches in bytes of content. `task_seconds` limits one call of `Worker.work`.

    `retry_seconds` is how long an unavailable store is tried again before the worker gives up.
    """

    lease_seconds: float
    renew_seconds: float
    batch_bytes: int
    task_seconds: float
    retry_seconds: float

    @property
    def grace(self) -> float:
        """Seconds after which a worker whose lease has expired can no longer write to a view."""
        return self.lease_seconds + self.task_seconds
