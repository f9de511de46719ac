"""Counts the writes that a read would not see, to find out which reads must wait for them."""

from collections import Counter
from threading import Lock

__all__ = ["UnseenWrites"]


class UnseenWrites:
    """Writes that a `Session` read of this process does not wait for, by collection.

    They are the deletions of this process, as Milvus 2.3 does not report their time, and writes of other processes
    that a caller asks to see. The next read must be `Strong`; later reads see them without waiting.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._done: Counter[str] = Counter()
        self._awaited: dict[str, int] = {}

    def add(self, name: str) -> None:
        """Records a write. Call it after the server has answered."""
        with self._lock:
            self._done[name] += 1

    def pending(self, name: str) -> int | None:
        """Returns None if no write is to be awaited.

        Otherwise the read must be `Strong`, and the returned number goes to `mark_awaited` afterwards.
        """
        with self._lock:
            done = self._done[name]
            return done if done > self._awaited.get(name, 0) else None

    def mark_awaited(self, name: str, pending: int) -> None:
        """Records that a `Strong` read has waited for the first `pending` writes."""
        with self._lock:
            self._awaited[name] = max(pending, self._awaited.get(name, 0))
