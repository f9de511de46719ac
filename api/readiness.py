"""What `/readyz` and `/metrics` need of the container: whether this process is warm, and the counts of documents."""

import time
from collections.abc import Sequence
from typing import Any

from app.container import Container
from app.services.warming import warm_up
from core.errors import HopweaveError
from core.ports.record.maintenance import DocumentCount

__all__ = ["Warmth", "read_documents"]

_COUNT_SECONDS = 10.0


class Warmth:
    """Whether everything is loaded that the first search would wait for, or loading it took too long."""

    def __init__(self, container: Container) -> None:
        self._container = container
        self._deadline = time.monotonic() + container.settings.api.warm_seconds
        self._is_done = False
        self.stage = "loading models"
        """What is being loaded, for messages."""

    @property
    def is_warm(self) -> bool:
        return self._is_done or time.monotonic() >= self._deadline

    async def warm_up(self) -> None:
        """Loads everything. An error that searches would raise again ends the loading, too."""
        try:
            await warm_up(self._container, self._report)
        finally:
            self._is_done = True

    def _report(self, stage: str) -> None:
        self.stage = stage


async def read_documents(state: Any, container: Container) -> Sequence[DocumentCount]:
    """Returns the counts of the record, which are read at most every ten seconds; none while it does not answer."""
    read_at, documents = getattr(state, "documents", (float("-inf"), ()))
    if time.monotonic() - read_at < _COUNT_SECONDS:
        counted: Sequence[DocumentCount] = documents
        return counted
    try:
        counted = await container.record.maintenance.count_documents()
    except HopweaveError:  # metrics of this process are served nevertheless; `/readyz` names the record
        return ()
    state.documents = time.monotonic(), counted
    return counted
