"""Counts the deletions of this process, to find out which reads must wait for them."""

from collections import Counter
from threading import Lock

__all__ = ["Deletions"]


class Deletions:
    """The deletions of this process, by collection.

    Milvus 2.3 does not report the time of a deletion, so a `Session` read cannot wait for it. The next read must be
    `Strong`; later reads see the deletion without waiting.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._done: Counter[str] = Counter()
        self._awaited: dict[str, int] = {}

    def add(self, name: str) -> None:
        """Records a deletion. Call it after the server has answered."""
        with self._lock:
            self._done[name] += 1

    def pending(self, name: str) -> int | None:
        """Returns None if no deletion is to be awaited.

        Otherwise the read must be `Strong`, and the returned number goes to `mark_awaited` afterwards.
        """
        with self._lock:
            done = self._done[name]
            return done if done > self._awaited.get(name, 0) else None

    def mark_awaited(self, name: str, pending: int) -> None:
        """Records that a `Strong` read has waited for the first `pending` deletions."""
        with self._lock:
            self._awaited[name] = max(pending, self._awaited.get(name, 0))
