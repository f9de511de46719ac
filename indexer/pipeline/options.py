"""The options of a worker: leases, batches and time limits. `HOPWEAVE_WORKER__…` sets them."""

from dataclasses import dataclass

from core.record_policy.claims import SMALL_BYTES

_MEGABYTE = 1_000_000


@dataclass(frozen=True, kw_only=True)
class DocumentLimits:
    """The limits of one document. A document that exceeds them fails, and the others go on.

    `content` bounds the bytes of its original, and the characters of its text. `chunks` bounds the memory beside the
    text, some kilobytes for each chunk. `seconds` is the processor time for each megabyte, and for a smaller document.
    """

    content: int = 256 * _MEGABYTE
    chunks: int = 250_000
    seconds: float = 60.0

    def seconds_of(self, size: int) -> float:
        """Returns the seconds for a document of `size` bytes."""
        return self.seconds * max(1.0, size / _MEGABYTE)


@dataclass(frozen=True, kw_only=True)
class WorkerOptions:
    """Leases are in seconds, batches in bytes of content. `task_seconds` limits one call of `Worker.work`.

    While other corpora wait, a call ends after `turn_seconds`, with the batch in which they pass. Documents of at most
    `small_bytes` are small (`core.record_policy.claims.size_class`).

    `retry_seconds` is how long an unavailable store is tried again before the worker gives up.
    """

    lease_seconds: float
    renew_seconds: float
    batch_bytes: int
    task_seconds: float
    retry_seconds: float
    turn_seconds: float = 4.0
    small_bytes: int = SMALL_BYTES
    document: DocumentLimits = DocumentLimits()

    @property
    def grace(self) -> float:
        """Seconds after which a worker whose lease has expired can no longer write to a view."""
        return self.lease_seconds + self.task_seconds
