"""What this process deleted, and whether a read has waited for it since."""

from collections import Counter
from threading import Lock

__all__ = ["Deletions"]


class Deletions:
    """Milvus 2.3 does not say when it deleted, so that a `Session` read cannot wait for it: the next one is `Strong`.

    What one read has waited for, later ones see without waiting. Names are those of collections.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._done: Counter[str] = Counter()
        self._awaited: dict[str, int] = {}

    def add(self, name: str) -> None:
        """To be called once the server has answered."""
        with self._lock:
            self._done[name] += 1

    def pending(self, name: str) -> int | None:
        """None where nothing is to be waited for; else what to `settle` after a `Strong` read that begins now."""
        with self._lock:
            done = self._done[name]
            return done if done > self._awaited.get(name, 0) else None

    def settle(self, name: str, pending: int) -> None:
        with self._lock:
            self._awaited[name] = max(pending, self._awaited.get(name, 0))
