"""After a run of a worker, the snapshot files of large corpora are written, so that the first search finds them."""

import asyncio
import logging
import queue
import threading

from core.errors import HopweaveError
from retrieval import SnapshotCache

__all__ = ["Preparation"]

_log = logging.getLogger("hopweave.worker")


class Preparation:
    """Prepares one corpus after the other, in a thread that ends with its process, while the worker goes on."""

    def __init__(self, snapshots: SnapshotCache) -> None:
        self._snapshots = snapshots
        self._waiting: queue.SimpleQueue[str] = queue.SimpleQueue()
        threading.Thread(target=self._prepare_all, name="preparation", daemon=True).start()

    def add(self, corpus_id: str) -> None:
        self._waiting.put(corpus_id)

    def _prepare_all(self) -> None:
        while True:
            corpus_id = self._waiting.get()
            try:
                asyncio.run(self._snapshots.prepare(corpus_id))
            except HopweaveError as error:  # a search builds the snapshot itself
                _log.info("the snapshot of corpus %s is not written ahead: %s", corpus_id, error)
